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
}

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
        }
    }
}

impl PageSettings {
    /// Returns the publisher of the catalogue: the setting, else the title.
    #[must_use]
    pub fn publisher(&self) -> &str {
        self.publisher.as_deref().unwrap_or(&self.title)
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
}
