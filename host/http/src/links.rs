//! Absolute links (contract-3-pages, spec-4.2-alias): the next page, and the canonical address of
//! an alias.

use http::Uri;
use http::request::Parts;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use yearbook_domain::query::parameter_names;

use crate::request_origin::request_origin;
use crate::settings::ServerSettings;

/// Characters that are escaped in a query: all but RFC 3986's unreserved ones.
pub(crate) const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Characters that are escaped in a query that is repeated as it was sent: those that could end the
/// address in a header.
const UNSAFE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');

/// The value of a `Link` header to the page that `cursor` begins: the same path and parameters
/// otherwise, as they were sent, so that the address is no longer than that of this page but for
/// its cursor.
pub fn next(settings: &ServerSettings, parts: &Parts, cursor: &str) -> String {
    let query = parts.uri.query().unwrap_or_default();
    let (base_url, path, end) = (base_url(settings, parts), parts.uri.path(), ">; rel=\"next\"");
    let bytes = base_url.len() + path.len() + query.len() + cursor.len() + end.len();
    let mut link = String::with_capacity(bytes + "<?&cursor=".len());
    link.extend(["<", &base_url, path, "?"]);
    for part in query.split('&').filter(|part| !part.is_empty() && !is_cursor(part)) {
        link.extend(utf8_percent_encode(part, UNSAFE));
        link.push('&');
    }
    link.extend(["cursor=", cursor, end]);
    link
}

/// Returns the bytes of an address that count against `server.uri_bytes`: all but those of
/// `cursor`, so that an address with room for no cursor has a next page.
pub(crate) fn counted_bytes(uri: &Uri) -> usize {
    let address = uri.path_and_query().map_or(0, |text| text.as_str().len());
    let query = uri.query().unwrap_or_default();
    let cursors: usize =
        query.split('&').filter(|part| is_cursor(part)).map(|part| part.len() + 1).sum();
    address - cursors.min(MAX_CURSOR_BYTES)
}

/// Bytes of `cursor` that do not count: more than any cursor has.
const MAX_CURSOR_BYTES: usize = 1 << 10;

/// Returns true for a part of a query that is the parameter `cursor`.
fn is_cursor(part: &str) -> bool {
    parameter_names(part).any(|name| name == "cursor")
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

/// Returns `pairs` as a query.
pub fn encode_query<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
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
        assert_eq!(
            next(&plain(), &parts, "new_-1"),
            "<http://data.example.org:8080/v1/series/cpi/data?dimensions=M%C4%81ori+food&limit=5&cursor=new_-1>; rel=\"next\""
        );
        let public_url = Some(PublicUrl::try_from("https://example.org/base/".to_owned()).unwrap());
        let public = ServerSettings { public_url, ..plain() };
        assert!(
            next(&public, &parts, "c").starts_with("<https://example.org/base/v1/series/cpi/data?")
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
        let link = next(&plain(), &parts, "c");
        assert_eq!(link, "</v1/datasets/cpi/data?a=%3E%22%0D%0Ax&b=%3C&cursor=c>; rel=\"next\"");
    }

    #[test]
    fn only_the_cursor_of_a_next_address_is_new_contract_15() {
        // (query as sent, query of the next page)
        for (sent, expected) in [
            ("", "cursor=c"),
            ("&&", "cursor=c"),
            ("cursor=old&a=1", "a=1&cursor=c"),
            ("a=1,2:(3)~*'!&%63ursor=old&cursors=5&b", "a=1,2:(3)~*'!&cursors=5&b&cursor=c"),
        ] {
            let parts = parts(&format!("/data?{sent}"), "h");
            let link = format!("<http://h/data?{expected}>; rel=\"next\"");
            assert_eq!(next(&plain(), &parts, "c"), link, "{sent}");
        }
    }

    #[test]
    fn a_cursor_does_not_count_contract_15() {
        let counted = |query: &str| counted_bytes(&format!("/data?{query}").parse().unwrap());
        assert_eq!(counted("a=1"), "/data?a=1".len());
        assert_eq!(counted("a=1&cursor=abc"), "/data?a=1".len());
        assert_eq!(counted("a=1&%63ursor=abc&b=2"), "/data?a=1&b=2".len());
        let long = format!("a=1&cursor={}", "x".repeat(5_000));
        assert_eq!(counted(&long), "/data?".len() + long.len() - MAX_CURSOR_BYTES);
    }
}
