//! The text of a mail (contract-10-mail): plain ASCII, one link, nothing that its reader did not
//! write and nothing about who asked.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use yearbook_domain::{MailAddress, Millis};

/// Reason for which a mail is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailPurpose {
    /// The address has no account.
    NewKey,
    /// The address has one.
    Account,
}

/// A mail that can leave.
pub(crate) struct Mail {
    pub(crate) id: String,
    pub(crate) to: MailAddress,
    pub(crate) purpose: MailPurpose,
    pub(crate) link: String,
    pub(crate) created_at: Millis,
    pub(crate) expires_at: Millis,
}

impl MailPurpose {
    /// Path that the link leads to.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::NewKey => "/signup/confirm",
            Self::Account => "/account",
        }
    }
}

impl Mail {
    /// The subject.
    pub(crate) fn subject(&self) -> &'static str {
        match self.purpose {
            MailPurpose::NewKey => "Your API key for public statistics",
            MailPurpose::Account => "Your account for public statistics",
        }
    }

    /// The text, with the line ends of a file.
    pub(crate) fn text(&self) -> String {
        let until = utc_minute(self.expires_at);
        let (reason, advice, otherwise) = match self.purpose {
            MailPurpose::NewKey => (
                "An API key for public statistics was requested for this e-mail address.",
                "Open this link and press the button on the page. The page displays the key once.",
                "If you did not ask for a key, do nothing. Nothing is created without the link.",
            ),
            MailPurpose::Account => (
                "A link to the account of this e-mail address was requested.",
                "Open this link to see how many requests are left, or to replace or revoke the key.",
                "If you did not ask for it, do nothing. Your key goes on as it is.",
            ),
        };
        format!(
            "{reason}\n\n{advice}\n\n{}\n\nThe link works once, until {until} UTC.\n{otherwise}\n",
            self.link
        )
    }

    /// The whole message as SMTP carries it (RFC 5322). `from` is the sender.
    pub(crate) fn message(&self, from: &MailAddress, now: Millis) -> Vec<u8> {
        let date = timestamp(now).to_zoned_datetime(TimeZone::UTC);
        let date = date.strftime("%a, %d %b %Y %H:%M:%S +0000");
        // The same at every attempt, so that a mail that arrives twice is known as one.
        let id = format!("{}@{}", self.id.replace('_', "."), from.domain());
        let head = [
            format!("From: {}", from.mailbox()),
            format!("To: {}", self.to.mailbox()),
            format!("Subject: {}", self.subject()),
            format!("Date: {date}"),
            format!("Message-ID: <{id}>"),
            // Answering machines stay silent (RFC 3834).
            "Auto-Submitted: auto-generated".to_owned(),
            "MIME-Version: 1.0".to_owned(),
            "Content-Type: text/plain; charset=us-ascii".to_owned(),
            "Content-Transfer-Encoding: 7bit".to_owned(),
        ];
        format!("{}\r\n\r\n{}", head.join("\r\n"), self.text().replace('\n', "\r\n")).into_bytes()
    }
}

/// `2026-11-23 20:38`.
fn utc_minute(at: Millis) -> String {
    timestamp(at).to_zoned_datetime(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string()
}

fn timestamp(at: Millis) -> Timestamp {
    Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn mail(purpose: MailPurpose) -> Mail {
        Mail {
            id: "mail_abc".to_owned(),
            to: MailAddress::parse("Ann@example.org").unwrap(),
            purpose,
            link: format!("https://data.example.org{}?token=t", purpose.path()),
            created_at: Millis(1_795_219_200_000),
            expires_at: Millis(1_795_305_600_000),
        }
    }

    #[test]
    fn a_mail_is_plain_ascii_with_one_link_on_a_line_of_its_own_contract_10() {
        let from = MailAddress::parse("keys@data.example.org").unwrap();
        for purpose in [MailPurpose::NewKey, MailPurpose::Account] {
            let mail = mail(purpose);
            let message =
                String::from_utf8(mail.message(&from, Millis(1_795_219_207_000))).unwrap();
            assert!(message.is_ascii());
            assert!(!message.replace("\r\n", "").contains(['\r', '\n']), "{message}");
            assert!(message.lines().all(|line| line.len() <= 998));
            let (head, body) = message.split_once("\r\n\r\n").unwrap();
            assert_eq!(body.matches("://").count(), 1, "{body}");
            assert_eq!(body.lines().filter(|line| *line == mail.link).count(), 1, "{body}");
            assert!(body.contains("until 2026-11-22 00:00 UTC"), "{body}");
            for line in [
                "From: keys@data.example.org",
                "To: Ann@example.org",
                "Date: Sat, 21 Nov 2026 00:00:07 +0000",
                "Message-ID: <mail.abc@data.example.org>",
                "Auto-Submitted: auto-generated",
                "Content-Type: text/plain; charset=us-ascii",
            ] {
                assert!(head.lines().any(|found| found == line), "{line}: {head}");
            }
        }
        assert_ne!(mail(MailPurpose::NewKey).subject(), mail(MailPurpose::Account).subject());
    }
}
