//! Check of the address that links in answers, and generated projects, begin with: tools send the
//! key wherever these
//! lead (contract-6-clear-text).

use yearbook_server::ServerSettings;

use super::{Finding, Status};

/// Checks `server.public_url`, or what stands in its place.
pub(super) fn check_public_url(server: &ServerSettings) -> Finding {
    let clear = "tools would send keys in clear text";
    if let Some(url) = &server.public_url {
        let text = url.as_str();
        return if url.exposes_keys() {
            (
                Status::Warn,
                format!(
                    "links begin with {text}: {clear}; end TLS before the service and set server.public_url to the https address"
                ),
            )
        } else {
            (Status::Ok, format!("links begin with {text}"))
        };
    }
    if !server.trusted_proxies.is_empty() {
        return (
            Status::Ok,
            "links begin with the scheme and host that trusted proxies say".to_owned(),
        );
    }
    if server.listen.ip().to_canonical().is_loopback() {
        let advice = "where a proxy here ends TLS, set server.public_url, or server.trusted_proxies and have it say X-Forwarded-Proto";
        return (
            Status::Ok,
            format!("links begin with http:// and the host that clients name; {advice}"),
        );
    }
    let advice = "set server.public_url to the https address, or name the proxies that end TLS in server.trusted_proxies";
    (
        Status::Warn,
        format!(
            "links begin with http://, and {} (server.listen) is reached from other machines: {clear}; {advice}",
            server.listen
        ),
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn links_that_would_send_keys_in_clear_text_are_warned_of_contract_6() {
        let check = |listen: &str,
                     public_url: Option<&str>,
                     proxies: &[&str],
                     status: Status,
                     words: &str| {
            let server = ServerSettings {
                listen: listen.parse().unwrap(),
                public_url: public_url.map(|url| url.to_owned().try_into().unwrap()),
                trusted_proxies: proxies
                    .iter()
                    .map(|text| (*text).to_owned())
                    .collect::<Vec<_>>()
                    .try_into()
                    .unwrap(),
                ..ServerSettings::default()
            };
            let found = check_public_url(&server);
            assert!(
                found.0 == status && found.1.contains(words),
                "{listen} {public_url:?} {proxies:?}: {found:?}"
            );
        };
        let (here, everywhere) = ("127.0.0.1:8080", "0.0.0.0:8080");
        check(here, None, &[], Status::Ok, "server.public_url");
        check("[::1]:8080", None, &[], Status::Ok, "the host that clients name");
        check(everywhere, None, &[], Status::Warn, "server.trusted_proxies");
        check("10.0.0.1:80", None, &[], Status::Warn, "10.0.0.1:80 (server.listen)");
        check(everywhere, None, &["10.0.0.0/8"], Status::Ok, "trusted proxies");
        check(
            everywhere,
            Some("https://data.example.org"),
            &[],
            Status::Ok,
            "https://data.example.org",
        );
        check(everywhere, Some("http://localhost:8080"), &[], Status::Ok, "localhost");
        check(here, Some("http://data.example.org"), &["10.0.0.0/8"], Status::Warn, "clear text");
    }
}
