//! HTTP to strangers: sources that are refreshed, registries of plugins, and servers that an
//! operator names. Owns the rules of addresses, redirects, deadlines of connections and the bounds
//! of bodies. Never knows what an answer means, never tries again, never serves.

mod address_rules;
mod client;
mod error;
mod network_zone;
mod resolver;
mod response;

pub use address_rules::{AddressRules, ForbiddenAddress, ip_literal, is_loopback_host};
pub use client::{OutboundClient, OutboundRequest, OutboundSettings, Schemes};
pub use error::{ClientSetupError, OutboundError};
pub use network_zone::NetworkZone;
pub use reqwest::Url;
pub use resolver::look_up;
pub use response::{BoundedBody, OutboundResponse};

/// An address for messages: without a user and a password, and without what follows `?` and `#`,
/// which may hold a key (contract-8-shown).
#[must_use]
pub fn redact(url: &Url) -> String {
    let mut redacted = url.clone();
    // Both fail only for addresses without a host, which have neither.
    let _ = redacted.set_username("");
    let _ = redacted.set_password(None);
    redacted.set_query(None);
    redacted.set_fragment(None);
    redacted.to_string()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret_contract_8() {
        for (address, expected) in [
            ("https://a.org/x.csv", "https://a.org/x.csv"),
            ("https://ann:secret@a.org:8443/x.csv", "https://a.org:8443/x.csv"),
            ("https://secret@a.org/x", "https://a.org/x"),
            ("https://:secret@a.org/x", "https://a.org/x"),
            ("https://a.org/x?key=secret&token=secret", "https://a.org/x"),
            ("https://a.org/x#access_token=secret", "https://a.org/x"),
            ("https://ann:secret@[2606:4700::1]/x?secret#secret", "https://[2606:4700::1]/x"),
        ] {
            assert_eq!(redact(&Url::parse(address).unwrap()), expected, "{address}");
        }
    }
}
