//! Absolute links (contract-3-pages, spec-4.2-alias): the next page, and the canonical address of
//! an alias.

use http::request::Parts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::request_origin::request_origin;
use crate::settings::ServerSettings;

/// Characters that are escaped in a query: all but RFC 3986's unreserved ones.
pub(crate) const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The value of a `Link` header to the page that `cursor` begins: the same path and parameters
/// otherwise.
pub fn next(
    settings: &ServerSettings,
    parts: &Parts,
    pairs: &[(String, String)],
    cursor: &str,
) -> String {
    let others = pairs
        .iter()
        .filter(|(name, _)| name != "cursor")
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let query = encode_query(others.chain([("cursor", cursor)]));
    format!("<{}{}?{query}>; rel=\"next\"", base_url(settings, parts), parts.uri.path())
}

/// The value of a `Link` header to the same response under `path`.
pub fn canonical_link(
    settings: &ServerSettings,
    parts: &Parts,
    path: &str,
    pairs: &[(String, String)],
) -> String {
    let query = encode_query(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let separator = if query.is_empty() { "" } else { "?" };
    format!("<{}{path}{separator}{query}>; rel=\"canonical\"", base_url(settings, parts))
}

fn encode_query<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let escape = |text| utf8_percent_encode(text, ESCAPED);
    let parts: Vec<String> =
        pairs.map(|(name, value)| format!("{}={}", escape(name), escape(value))).collect();
    parts.join("&")
}

/// `server.public_url`; without it, what the client called us. Empty where that is no host, which
/// makes the link relative.
pub fn base_url(settings: &ServerSettings, parts: &Parts) -> String {
    match &settings.public_url {
        Some(url) => url.as_str().to_owned(),
        None => request_origin(parts, settings).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use http::header::HOST;
    use yearbook_domain::query::parse_pairs;

    use super::*;
    use crate::settings::PublicUrl;

    fn plain() -> ServerSettings {
        ServerSettings::default()
    }

    fn parts(uri: &str, host: &str) -> Parts {
        http::Request::builder().uri(uri).header(HOST, host).body(()).unwrap().into_parts().0
    }

    #[test]
    fn the_next_link_keeps_every_parameter_contract_3() {
        let parts = parts(
            "/v1/series/cpi/data?dimensions=M%C4%81ori+food&limit=5&cursor=old",
            "data.example.org:8080",
        );
        let pairs = parse_pairs(parts.uri.query().unwrap());
        assert_eq!(
            next(&plain(), &parts, &pairs, "new_-1"),
            "<http://data.example.org:8080/v1/series/cpi/data?dimensions=M%C4%81ori%20food&limit=5&cursor=new_-1>; rel=\"next\""
        );
        let public_url = Some(PublicUrl::try_from("https://example.org/base/".to_owned()).unwrap());
        let public = ServerSettings { public_url, ..plain() };
        assert!(
            next(&public, &parts, &pairs, "c")
                .starts_with("<https://example.org/base/v1/series/cpi/data?")
        );
    }

    #[test]
    fn the_alias_names_its_canonical_address_contract_3() {
        let path = "/v1/datasets/cpi/data";
        let with = parts("/v1/series/cpi/data?start=2020-01-01", "h");
        assert_eq!(
            canonical_link(&plain(), &with, path, &parse_pairs(with.uri.query().unwrap())),
            "<http://h/v1/datasets/cpi/data?start=2020-01-01>; rel=\"canonical\""
        );
        assert_eq!(
            canonical_link(&plain(), &parts("/v1/series/cpi/data", "h"), path, &[]),
            "<http://h/v1/datasets/cpi/data>; rel=\"canonical\""
        );
    }

    #[test]
    fn nothing_that_a_client_sends_breaks_out_of_the_header() {
        let parts = parts("/v1/datasets/cpi/data?a=%3E%22%0D%0Ax&b=%3C", "evil>; rel=x");
        let link = next(&plain(), &parts, &parse_pairs("a=%3E%22%0D%0Ax&b=%3C"), "c");
        assert_eq!(link, "</v1/datasets/cpi/data?a=%3E%22%0D%0Ax&b=%3C&cursor=c>; rel=\"next\"");
    }
}
