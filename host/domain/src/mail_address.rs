//! E-mail addresses of sign-up: which are taken, and the one spelling that an account is known by
//! (contract-10-account). Never stores an address, and never shows one in `Debug` output.

use std::fmt;

/// Longest address, bytes (RFC 5321, 4.5.3.1.3 without the angle brackets).
const MAX_BYTES: usize = 254;

/// Longest part before the `@`, bytes (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL_BYTES: usize = 64;

/// An address that a mail can be sent to. Its domain is ASCII and in lower case.
#[derive(Clone, PartialEq, Eq)]
pub struct MailAddress {
    mailbox: String,
}

/// Reason for which a text is no address of sign-up. Holds nothing of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailAddressError {
    /// Nothing was written.
    Empty,
    /// More than 254 bytes, or more than 64 before the `@`.
    TooLong,
    /// No `@`, or several.
    NotOneAt,
    /// The part before the `@` has characters that mail servers do not take, or dots in wrong
    /// places.
    BadLocalPart,
    /// The part before the `@` has letters outside of ASCII, which few mail servers take.
    LocalPartNotAscii,
    /// The part after the `@` is no name of a domain.
    BadDomain,
}

impl MailAddress {
    /// Parses what a person typed. White space around it is removed, and the domain becomes ASCII
    /// (RFC 5891): `Ann@Bücher.example` is `Ann@xn--bcher-kva.example`.
    ///
    /// # Errors
    /// [`MailAddressError`]. Line breaks, quotes, comments, and literal addresses in brackets are
    /// among what is refused.
    pub fn parse(text: &str) -> Result<Self, MailAddressError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(MailAddressError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(MailAddressError::TooLong);
        }
        let (local, domain) = text.split_once('@').ok_or(MailAddressError::NotOneAt)?;
        if domain.contains('@') {
            return Err(MailAddressError::NotOneAt);
        }
        check_local_part(local)?;
        let mailbox = format!("{local}@{}", ascii_domain(domain)?);
        if mailbox.len() > MAX_BYTES {
            Err(MailAddressError::TooLong)
        } else {
            Ok(Self { mailbox })
        }
    }

    /// The address to send to. The part before the `@` is as it was typed, since its case may
    /// matter to the server that receives it.
    #[must_use]
    pub fn mailbox(&self) -> &str {
        &self.mailbox
    }

    /// The spelling that identifies an account: all in lower case.
    #[must_use]
    pub fn normalized(&self) -> String {
        self.mailbox.to_ascii_lowercase()
    }

    /// The domain, in ASCII.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.mailbox.rsplit_once('@').map_or("", |(_, domain)| domain)
    }
}

impl fmt::Debug for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MailAddress(redacted)")
    }
}

/// Checks for a dot-atom (RFC 5322, 3.2.3).
fn check_local_part(local: &str) -> Result<(), MailAddressError> {
    if !local.is_ascii() {
        return Err(MailAddressError::LocalPartNotAscii);
    }
    if local.len() > MAX_LOCAL_BYTES {
        return Err(MailAddressError::TooLong);
    }
    let atom = |atom: &str| {
        !atom.is_empty()
            && atom
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    if local.split('.').all(atom) { Ok(()) } else { Err(MailAddressError::BadLocalPart) }
}

/// The domain in ASCII and in lower case: two labels at least, the last no number, so that no IP
/// address passes for a name.
fn ascii_domain(domain: &str) -> Result<String, MailAddressError> {
    let ascii = idna::domain_to_ascii_strict(domain).map_err(|_| MailAddressError::BadDomain)?;
    let mut labels = ascii.rsplit('.');
    let last = labels.next().unwrap_or_default();
    let named = last.bytes().any(|byte| byte.is_ascii_alphabetic());
    if named && labels.next().is_some_and(|label| !label.is_empty()) {
        Ok(ascii)
    } else {
        Err(MailAddressError::BadDomain)
    }
}

impl fmt::Display for MailAddressError {
    /// One sentence with what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "Enter your e-mail address.",
            Self::TooLong => "The address is longer than e-mail addresses can be; check it.",
            Self::NotOneAt => "An e-mail address has one @, like ann@example.org; check it.",
            Self::BadLocalPart => {
                "The part before the @ has characters or dots that do not belong there; check it."
            }
            Self::LocalPartNotAscii => {
                "The part before the @ has letters that many mail servers refuse; use an address with plain letters there."
            }
            Self::BadDomain => {
                "The part after the @ is no name of a domain, like example.org; check it."
            }
        })
    }
}

impl std::error::Error for MailAddressError {}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_address_are_one_account_contract_10() {
        for (text, mailbox, normalized) in [
            ("ann@example.org", "ann@example.org", "ann@example.org"),
            (" \tAnn.Lee@Example.ORG\n", "Ann.Lee@example.org", "ann.lee@example.org"),
            ("ann+data@stats.govt.nz", "ann+data@stats.govt.nz", "ann+data@stats.govt.nz"),
            ("Ann@BÜCHER.example", "Ann@xn--bcher-kva.example", "ann@xn--bcher-kva.example"),
            ("ann@xn--bcher-kva.example", "ann@xn--bcher-kva.example", "ann@xn--bcher-kva.example"),
            ("ann@例え.テスト", "ann@xn--r8jz45g.xn--zckzah", "ann@xn--r8jz45g.xn--zckzah"),
            ("o'neil_{x}@a-b.co", "o'neil_{x}@a-b.co", "o'neil_{x}@a-b.co"),
        ] {
            let address = MailAddress::parse(text).unwrap();
            assert_eq!(
                (address.mailbox(), address.normalized().as_str()),
                (mailbox, normalized),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_a_reason_contract_10() {
        use MailAddressError::{
            BadDomain, BadLocalPart, Empty, LocalPartNotAscii, NotOneAt, TooLong,
        };
        let long_local = format!("{}@example.org", "a".repeat(65));
        let long = format!("ann@{}.org", "a.".repeat(130));
        for (text, reason) in [
            ("", Empty),
            (" \r\n", Empty),
            ("ann", NotOneAt),
            ("ann@bob@example.org", NotOneAt),
            ("@example.org", BadLocalPart),
            ("a..b@example.org", BadLocalPart),
            (".a@example.org", BadLocalPart),
            ("a.@example.org", BadLocalPart),
            ("a b@example.org", BadLocalPart),
            ("ann\r\nBcc: all@example.org", BadLocalPart),
            ("ann\u{0}@example.org", BadLocalPart),
            ("\"ann\"@example.org", BadLocalPart),
            ("<ann@example.org>", BadLocalPart),
            ("Ann <ann@example.org>", BadLocalPart),
            ("ann(comment)@example.org", BadLocalPart),
            ("ann,bob@example.org", BadLocalPart),
            ("äpfel@example.org", LocalPartNotAscii),
            ("ann@", BadDomain),
            ("ann@localhost", BadDomain),
            ("ann@.org", BadDomain),
            ("ann@example..org", BadDomain),
            ("ann@example.org\r\nBcc: x", BadDomain),
            ("ann@example.org>", BadDomain),
            ("ann@[127.0.0.1]", BadDomain),
            ("ann@127.0.0.1", BadDomain),
            ("ann@-a.org", BadDomain),
            ("ann@a_b.org", BadDomain),
            ("ann@exa mple.org", BadDomain),
            (&long_local, TooLong),
            (&long, TooLong),
        ] {
            assert_eq!(MailAddress::parse(text), Err(reason), "{text:?}");
        }
        assert!(!BadDomain.to_string().is_empty());
    }

    #[test]
    fn debug_output_never_shows_an_address_contract_10() {
        let address = MailAddress::parse("ann@example.org").unwrap();
        assert_eq!(format!("{address:?}"), "MailAddress(redacted)");
        assert_eq!(address.domain(), "example.org");
    }

    proptest! {
        /// Whatever is typed, what is accepted is one line of printable ASCII with one `@`, and
        /// parses to itself.
        #[test]
        fn what_is_accepted_fits_into_a_header(text in "\\PC{0,40}@\\PC{0,40}") {
            if let Ok(address) = MailAddress::parse(&text) {
                let mailbox = address.mailbox();
                prop_assert!(mailbox.bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(mailbox.matches('@').count(), 1);
                prop_assert!(!mailbox.contains(['<', '>', '"', ',', ';', ':', '(', ')', '[', ']', '\\']));
                prop_assert_eq!(MailAddress::parse(mailbox), Ok(address.clone()));
            }
        }
    }
}
