//! Addresses that no route has: 404, or 308 where a slash at the end is all that is wrong
//! (contract-3-slash).

use axum::body::Body;
use axum::response::Response;
use http::header::LOCATION;
use http::{HeaderValue, Method, Uri};
use percent_encoding::percent_decode_str;
use yearbook_http::{Error, status};

/// The answer to a request for none of the routes. `page_folders`: first segments of pages, which
/// lose their slash too.
pub(crate) fn not_found(
    method: &Method,
    uri: &Uri,
    page_folders: &[&str],
) -> Result<Response, Error> {
    let reads = *method == Method::GET || *method == Method::HEAD;
    let location = without_slash(uri, page_folders)
        .filter(|_| reads)
        .and_then(|location| HeaderValue::try_from(location).ok());
    let Some(location) = location else { return Err(Error::NoSuchRoute) };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status::PERMANENT_REDIRECT;
    response.headers_mut().insert(LOCATION, location);
    Ok(response)
}

/// The same address without its slash, relative to itself: it keeps scheme, host and whatever a
/// proxy put before the path, so that a key goes nowhere else.
fn without_slash(uri: &Uri, page_folders: &[&str]) -> Option<String> {
    let path = uri.path();
    let of_page = |path: &&str| {
        let first = path.split('/').nth(1).unwrap_or_default();
        !path.starts_with("//") && page_folders.contains(&first)
    };
    let below = path.strip_prefix("/v1/").or_else(|| Some(path).filter(of_page))?;
    let last = below.strip_suffix('/')?.rsplit('/').next()?;
    // A second slash is no mere slip, and dots would lead elsewhere.
    if matches!(&*percent_decode_str(last).decode_utf8_lossy(), "" | "." | "..") {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("../{last}{query}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const FOLDERS: [&str; 2] = ["datasets", "formats"];

    #[test]
    fn one_slash_at_the_end_is_taken_away_and_nothing_leads_elsewhere_contract_3() {
        for (text, expected) in [
            ("/v1/datasets/", Some("../datasets")),
            (
                "/v1/datasets/cpi/data/?start=2020-01-01&limit=5",
                Some("../data?start=2020-01-01&limit=5"),
            ),
            ("/v1/datasets/cpi/data/?", Some("../data?")),
            ("/v1/datasets/a%2Fb/", Some("../a%2Fb")),
            ("/v1/x:y/", Some("../x:y")),
            // The path keeps both of its slashes, and its host.
            ("/v1//evil.example/", Some("../evil.example")),
            ("/v1/https://evil.example/", Some("../evil.example")),
            ("/v1/datasets//", None),
            ("/v1/datasets/../", None),
            ("/v1/datasets/%2e%2E/", None),
            ("/v1/datasets/./", None),
            ("/v1/datasets", None),
            ("/v1//", None),
            ("/v1/", None),
            ("/docs/", None),
            ("/", None),
            ("//evil.example/", None),
            ("//evil.example/v1/datasets/", None),
        ] {
            for folders in [&FOLDERS[..], &[]] {
                let location = without_slash(&text.parse().unwrap(), folders);
                assert_eq!(location.as_deref(), expected, "{text}");
            }
        }
    }

    #[test]
    fn pages_lose_their_slash_too_contract_9() {
        for (text, expected) in [
            ("/datasets/", Some("../datasets")),
            ("/datasets/?q=rent", Some("../datasets?q=rent")),
            ("/datasets/cpi/", Some("../cpi")),
            ("/datasets/cpi/versions/", Some("../versions")),
            ("/datasets//", None),
            ("//datasets/", None),
            ("/datasets/../", None),
            ("/elsewhere/", None),
        ] {
            let uri: Uri = text.parse().unwrap();
            assert_eq!(without_slash(&uri, &FOLDERS).as_deref(), expected, "{text}");
            assert_eq!(without_slash(&uri, &[]), None, "{text}");
        }
    }
}
