//! `[signup]` of `yearbook.toml` (contract-10-modes). Each value gives its unit, its default and
//! the reason for it.

use std::fmt;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use yearbook_catalog::SignupBounds;
use yearbook_domain::MailAddress;

/// Sign-up for Free keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SignupSettings {
    /// Way in which mails leave. Default `outbox`: it needs nothing that the service does not
    /// bring.
    pub mode: SignupMode,
    /// Server that takes the mails: `smtps://user:password@mail.example.org`, or
    /// `smtp://mail.example.org:587?tls=required` for STARTTLS. Mode `smtp` needs it.
    pub smtp_url: Option<SmtpUrl>,
    /// Sender of the mails, `keys@data.example.org`. Mode `smtp` needs it.
    pub mail_from: Option<MailFrom>,
    /// Mails in 24 hours. Default 1,000: what a mail server takes from a sender that it does not
    /// know.
    pub mails_a_day: u32,
    /// Mails in 24 hours to one address. Default 3: a typing mistake and two lost mails.
    pub mails_a_day_per_address: u32,
    /// Mails in 24 hours that one IPv4 /24 or IPv6 /64 may ask for. Default 10: a classroom. Behind
    /// a proxy that `server.trusted_proxies` does not name, all clients together.
    pub mails_a_day_per_network: u32,
    /// Allows mode `show` where others than this machine reach the service. Default false: whoever
    /// types an address then gets a key for it.
    pub trust_everyone: bool,
}

/// Way from the form to the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignupMode {
    /// Mails are sent by SMTP.
    Smtp,
    /// Mails wait for the operator, who passes their links on.
    Outbox,
    /// The page displays the key at once; nobody proves an address.
    Show,
    /// There is no sign-up.
    Off,
}

/// Address of an SMTP server with the password in it, which no message shows.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SmtpUrl(String);

/// Sender of mails.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MailFrom(MailAddress);

/// Reason for which a server with these settings must not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignupSettingsError {
    /// No server to send by.
    #[error(
        "signup.mode is smtp and signup.smtp_url is missing; set it to smtps://user:password@host, or take the mode outbox"
    )]
    SmtpUrlMissing,
    /// No sender.
    #[error(
        "signup.mode is smtp and signup.mail_from is missing; set it to the sender's address, like keys@data.example.org"
    )]
    MailFromMissing,
    /// No address that links could begin with.
    #[error(
        "signup.mode is smtp and server.public_url is missing; set it to the address that people open, since mailed links begin with it"
    )]
    PublicUrlMissing,
    /// Keys for everybody who reaches the service.
    #[error(
        "signup.mode is show and others than this machine reach {0} (server.listen): anybody gets a key for any address; listen on 127.0.0.1, take the mode outbox or smtp, or set signup.trust_everyone"
    )]
    ShowsKeysToAll(SocketAddr),
}

impl Default for SignupSettings {
    fn default() -> Self {
        Self {
            mode: SignupMode::Outbox,
            smtp_url: None,
            mail_from: None,
            mails_a_day: 1_000,
            mails_a_day_per_address: 3,
            mails_a_day_per_network: 10,
            trust_everyone: false,
        }
    }
}

impl SignupSettings {
    /// Checks what a single setting does not tell. `listen` and `public_url` are the server's.
    ///
    /// # Errors
    /// [`SignupSettingsError`] with what to do.
    pub fn check(
        &self,
        listen: SocketAddr,
        public_url: Option<&str>,
    ) -> Result<(), SignupSettingsError> {
        match self.mode {
            SignupMode::Smtp if self.smtp_url.is_none() => Err(SignupSettingsError::SmtpUrlMissing),
            SignupMode::Smtp if self.mail_from.is_none() => {
                Err(SignupSettingsError::MailFromMissing)
            }
            SignupMode::Smtp if public_url.is_none() => Err(SignupSettingsError::PublicUrlMissing),
            SignupMode::Show
                if !self.trust_everyone && !listen.ip().to_canonical().is_loopback() =>
            {
                Err(SignupSettingsError::ShowsKeysToAll(listen))
            }
            _ => Ok(()),
        }
    }

    /// Mails in 24 hours.
    pub(crate) fn bounds(&self) -> SignupBounds {
        SignupBounds {
            per_address: self.mails_a_day_per_address,
            per_network: self.mails_a_day_per_network,
            in_all: self.mails_a_day,
        }
    }
}

impl SmtpUrl {
    /// The whole address, password included: for the library that connects.
    #[cfg_attr(not(feature = "smtp"), expect(dead_code, reason = "SMTP alone needs it"))]
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Host and port, without user and password.
    #[must_use]
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default()
    }

    /// Returns true where mails cross a network that may be read: neither TLS nor this machine.
    #[must_use]
    pub fn is_clear_text(&self) -> bool {
        let host = self.host();
        let name = match host.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let here = name.eq_ignore_ascii_case("localhost")
            || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        !here && self.0.starts_with("smtp://") && !self.0.contains("tls=required")
    }
}

impl TryFrom<String> for SmtpUrl {
    type Error = String;

    /// The sentence of a refusal shows nothing of the text, which may hold a password.
    fn try_from(text: String) -> Result<Self, String> {
        let known = text.starts_with("smtp://") || text.starts_with("smtps://");
        let url = Self(text);
        let sane = url.0.bytes().all(|byte| byte.is_ascii_graphic());
        // Beyond a `/` that is not escaped an address ends, and half of a password would be a host.
        let rest = url.0.split_once("://").map_or("", |(_, rest)| rest);
        let escaped = rest.rsplit_once('@').is_none_or(|(user, _)| !user.contains(['/', '?', '#']));
        if known && sane && escaped && !url.host().is_empty() {
            Ok(url)
        } else {
            Err("the address must be like smtps://user:password@mail.example.org, or smtp://mail.example.org:587?tls=required, with %2F for a / in the password".to_owned())
        }
    }
}

impl From<SmtpUrl> for String {
    fn from(url: SmtpUrl) -> Self {
        url.0
    }
}

impl fmt::Debug for SmtpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SmtpUrl({})", self.host())
    }
}

impl MailFrom {
    /// The address.
    #[must_use]
    pub fn address(&self) -> &MailAddress {
        &self.0
    }
}

impl TryFrom<String> for MailFrom {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |_| format!("{text:?} must be an e-mail address, like keys@data.example.org");
        MailAddress::parse(&text).map(Self).map_err(wrong)
    }
}

impl From<MailFrom> for String {
    fn from(from: MailFrom) -> Self {
        from.0.mailbox().to_owned()
    }
}

impl fmt::Debug for MailFrom {
    /// The sender is no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MailFrom({})", self.0.mailbox())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_server_starts_with_a_mode_that_can_work_contract_10() {
        let here: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        let everywhere: SocketAddr = "0.0.0.0:8080".parse().unwrap();
        let smtp = SignupSettings {
            mode: SignupMode::Smtp,
            smtp_url: Some("smtp://localhost".to_owned().try_into().unwrap()),
            mail_from: Some("keys@example.org".to_owned().try_into().unwrap()),
            ..SignupSettings::default()
        };
        let show = SignupSettings { mode: SignupMode::Show, ..SignupSettings::default() };
        let url = Some("https://data.example.org");
        for (settings, listen, url, expected) in [
            (SignupSettings::default(), everywhere, None, Ok(())),
            (smtp.clone(), everywhere, url, Ok(())),
            (smtp.clone(), here, None, Err(SignupSettingsError::PublicUrlMissing)),
            (
                SignupSettings { smtp_url: None, ..smtp.clone() },
                here,
                url,
                Err(SignupSettingsError::SmtpUrlMissing),
            ),
            (
                SignupSettings { mail_from: None, ..smtp },
                here,
                url,
                Err(SignupSettingsError::MailFromMissing),
            ),
            (show.clone(), here, None, Ok(())),
            (show.clone(), everywhere, url, Err(SignupSettingsError::ShowsKeysToAll(everywhere))),
            (SignupSettings { trust_everyone: true, ..show }, everywhere, None, Ok(())),
        ] {
            assert_eq!(settings.check(listen, url), expected, "{settings:?}");
        }
    }

    #[test]
    fn a_password_is_in_no_message() {
        let url: SmtpUrl =
            "smtps://ann:hunter2@mail.example.org:465".to_owned().try_into().unwrap();
        assert_eq!(format!("{url:?}"), "SmtpUrl(mail.example.org:465)");
        for bad in [
            "hunter2",
            "http://ann:hunter2@x",
            "smtp://",
            "smtp://ann:hunter2@",
            "smtp://a b:hunter2@x",
            "smtps://ann:hunter2/x@mail.example.org",
            "smtps://ann:x?hunter2@mail.example.org",
        ] {
            let message = SmtpUrl::try_from(bad.to_owned()).unwrap_err();
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn mails_in_clear_text_are_known() {
        for (url, clear) in [
            ("smtp://mail.example.org", true),
            ("smtp://mail.example.org:587?tls=opportunistic", true),
            ("smtp://mail.example.org:587?tls=required", false),
            ("smtps://mail.example.org", false),
            ("smtp://localhost:2525", false),
            ("smtp://127.0.0.1", false),
            ("smtp://[::1]:25", false),
        ] {
            let url = SmtpUrl::try_from(url.to_owned()).unwrap();
            assert_eq!(url.is_clear_text(), clear, "{url:?}");
        }
    }
}
