//! Conditions of a GET or HEAD (RFC 9110, 13): whether the client has what we would send.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue};
use yearbook_domain::Millis;

use super::Tag;

/// Whether to answer 304. `If-Modified-Since` counts only where there is no `If-None-Match`, and only for what has a date.
pub(crate) fn not_modified(headers: &HeaderMap, tag: &Tag, modified: Option<Millis>) -> bool {
    let mut tags = headers.get_all(IF_NONE_MATCH).iter().peekable();
    if tags.peek().is_some() {
        return tags.any(|value| value.to_str().is_ok_and(|list| tag.is_in(list)));
    }
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok()).and_then(|text| httpdate::parse_http_date(text).ok());
    match (since, modified) {
        (Some(since), Some(modified)) => instant(modified) <= since,
        _ => false,
    }
}

/// `Last-Modified` of an instant.
pub(crate) fn http_date(instant_of: Millis) -> Option<HeaderValue> {
    HeaderValue::try_from(httpdate::fmt_http_date(instant(instant_of))).ok()
}

/// Whole seconds, as HTTP has no finer ones.
fn instant(millis: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(millis.0.div_euclid(1000).max(0).unsigned_abs())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn conditions_follow_rfc_9110() {
        let tag = Tag::of_bytes(b"x");
        let own = tag.header(None);
        let modified = Millis(1_795_219_200_999); // 2026-11-21T00:00:00.999Z
        let (before, same, after) = ("Fri, 20 Nov 2026 23:59:59 GMT", "Sat, 21 Nov 2026 00:00:00 GMT", "Sat, 21 Nov 2026 00:00:01 GMT");
        let own = own.to_str().unwrap();
        let cases: [(Option<&str>, Option<&str>, bool); 10] = [
            (None, None, false),
            (Some(own), None, true),
            (Some("\"other\""), None, false),
            (Some("*"), None, true),
            (None, Some(before), false),
            (None, Some(same), true),
            (None, Some(after), true),
            (None, Some("yesterday"), false),
            (Some("\"other\""), Some(after), false),
            (Some(own), Some(before), true),
        ];
        for (tags, since, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.extend(tags.map(|text| (IF_NONE_MATCH, text.parse().unwrap())));
            headers.extend(since.map(|text| (IF_MODIFIED_SINCE, text.parse().unwrap())));
            assert_eq!(not_modified(&headers, &tag, Some(modified)), expected, "{tags:?} {since:?}");
        }
        assert_eq!(http_date(modified).unwrap(), same);
        let since = HeaderMap::from_iter([(IF_MODIFIED_SINCE, same.parse().unwrap())]);
        assert!(!not_modified(&since, &tag, None), "what has no date is never unmodified since one");
    }

    #[test]
    fn several_lines_of_tags_count_as_one() {
        let tag = Tag::of_bytes(b"x");
        let mut headers = HeaderMap::from_iter([(IF_NONE_MATCH, "\"a\"".parse().unwrap())]);
        headers.append(IF_NONE_MATCH, tag.header(None));
        assert!(not_modified(&headers, &tag, None));
    }
}
