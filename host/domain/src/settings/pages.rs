//! `[pages]`: the catalogue in a browser (contract-9-off). Never touches a request.

use serde::{Deserialize, Serialize};

/// `[pages]`: words that only the operator knows, and the memory for rendered pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageSettings {
    /// False: every address of the pages is 404. Default true: a browser that opens the service
    /// should find out what it is.
    pub enabled: bool,
    /// Name of the service at the head of every page. Default `Yearbook`.
    pub title: String,
    /// A sentence on the home page about the service. Default: what every installation is.
    pub summary: String,
    /// Name of the organisation that publishes the catalogue. None: the title.
    pub publisher: Option<String>,
    /// Address for help, `mailto:statistics@example.org` or `https://…`, at the foot of every page.
    /// None: no such link.
    pub contact: Option<ContactAddress>,
    /// Memory for rendered pages, bytes. Default 32 MiB: some 1,000 pages of 30 kB, as they are and
    /// compressed. 0: every page is rendered again.
    pub cache_bytes: u64,
    /// Name of the log of what was published, which its checkpoints and its key begin with. None:
    /// the host and path of `server.public_url`, and `/log`. Whoever has checked the log knows it
    /// by this name, so one that was chosen stays.
    pub log_origin: Option<LogOrigin>,
}

/// A name of a log: any text without blanks and `+`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LogOrigin(String);

/// An address that a link may lead to: `mailto:`, `http:` or `https:`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContactAddress(String);

impl Default for PageSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            title: "Yearbook".to_owned(),
            summary:
                "Public statistics as versioned tables: each with its source, its licence and \
                      every earlier version that is kept."
                    .to_owned(),
            publisher: None,
            contact: None,
            cache_bytes: 32 << 20,
            log_origin: None,
        }
    }
}

impl PageSettings {
    /// Returns the publisher of the catalogue: the setting, else the title.
    #[must_use]
    pub fn publisher(&self) -> &str {
        self.publisher.as_deref().unwrap_or(&self.title)
    }

    /// Returns the name of the log: the setting, else the address of the log without its scheme.
    /// An installation without an address is known to this machine alone.
    #[must_use]
    pub fn log_origin(&self, public_url: Option<&str>) -> String {
        if let Some(origin) = &self.log_origin {
            return origin.0.clone();
        }
        let address = public_url.map(|url| url.split_once("://").map_or(url, |(_, rest)| rest));
        format!("{}/log", address.unwrap_or("localhost"))
    }
}

impl TryFrom<String> for LogOrigin {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_wrong = |c: char| c == '+' || c.is_whitespace() || c.is_control();
        if text.is_empty() || text.contains(is_wrong) {
            return Err(format!("{text:?} must be a name like data.example.org/log"));
        }
        Ok(Self(text))
    }
}

impl From<LogOrigin> for String {
    fn from(origin: LogOrigin) -> Self {
        origin.0
    }
}

impl ContactAddress {
    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ContactAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let leads_somewhere = ["mailto:", "https://", "http://"]
            .iter()
            .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
        if !leads_somewhere || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!(
                "{text:?} must be like mailto:statistics@example.org or https://example.org/help"
            ));
        }
        Ok(Self(text))
    }
}

impl From<ContactAddress> for String {
    fn from(address: ContactAddress) -> Self {
        address.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_an_address_that_a_link_may_lead_to() {
        for (text, expected) in [
            ("mailto:statistics@example.org", true),
            ("https://example.org/help", true),
            ("javascript:alert(1)", false),
            ("statistics@example.org", false),
            ("mailto:", false),
            ("https://example.org/a b", false),
        ] {
            assert_eq!(ContactAddress::try_from(text.to_owned()).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_log_is_named_by_its_address_or_by_the_setting_contract_21() {
        let mut settings = PageSettings::default();
        for (public_url, expected) in [
            (None, "localhost/log"),
            (Some("https://data.example.org"), "data.example.org/log"),
            (Some("http://example.org:8080/a"), "example.org:8080/a/log"),
        ] {
            assert_eq!(settings.log_origin(public_url), expected);
        }
        settings.log_origin = LogOrigin::try_from("example.org/2".to_owned()).ok();
        assert_eq!(settings.log_origin(Some("https://data.example.org")), "example.org/2");
        for text in ["", "a b", "a+b", "a\n"] {
            assert!(LogOrigin::try_from(text.to_owned()).is_err(), "{text:?}");
        }
    }
}
