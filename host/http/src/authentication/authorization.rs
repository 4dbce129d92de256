//! Keys in `Authorization` (contract-15-authorization): for programs that send no header of ours
//! and know the schemes Bearer and Basic. Never looks a key up.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use yearbook_catalog::key::PREFIX;
use yearbook_domain::Refusal;

use crate::headers::{SEC_FETCH_DEST, SEC_FETCH_SITE};

/// Returns the text that stands for a key in `Authorization`.
///
/// # Errors
/// [`Refusal::KeyMissing`] without the header and for any other scheme, [`Refusal::KeyInvalid`]
/// where no text can be read.
pub(super) fn key_text(headers: &HeaderMap) -> Result<Cow<'_, str>, Refusal> {
    let value = headers.get(AUTHORIZATION).ok_or(Refusal::KeyMissing)?;
    let bytes = value.as_bytes().trim_ascii();
    let end = bytes.iter().position(|byte| *byte == b' ').unwrap_or(bytes.len());
    let (scheme, credentials) = bytes.split_at(end);
    let is_basic = scheme.eq_ignore_ascii_case(b"basic");
    if is_basic && !accepts_basic(headers) {
        return Err(Refusal::KeyMissing);
    }
    let credentials = std::str::from_utf8(credentials).map_err(|_| Refusal::KeyInvalid)?.trim();
    match scheme {
        _ if !bytes.is_ascii() => Err(Refusal::KeyInvalid),
        _ if is_basic => basic_key(credentials).map(Cow::Owned).ok_or(Refusal::KeyInvalid),
        _ if scheme.eq_ignore_ascii_case(b"bearer") => Ok(Cow::Borrowed(credentials)),
        _ => Err(Refusal::KeyMissing),
    }
}

/// Returns false where a page of another site makes a browser send what it remembers: a picture
/// there must not spend the month of whoever looks at it (contract-15-other-sites).
fn accepts_basic(headers: &HeaderMap) -> bool {
    let is = |name, expected: &str| headers.get(name).is_some_and(|value| value == expected);
    let from_elsewhere = is(SEC_FETCH_SITE, "cross-site") || is(SEC_FETCH_SITE, "same-site");
    !from_elsewhere || is(SEC_FETCH_DEST, "document")
}

/// Returns the user name, or else the password, that begins like a key (RFC 7617). The other one
/// may be anything.
fn basic_key(credentials: &str) -> Option<String> {
    let decoded = BASE64_STANDARD.decode(credentials).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, password) = (decoded.get(..colon)?, decoded.get(colon + 1..)?);
    let key = [user, password].into_iter().find(|text| text.starts_with(PREFIX.as_bytes()))?;
    String::from_utf8(key.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use http::{HeaderName, HeaderValue};

    use super::*;

    /// The key text, or true for a key that is invalid and false for one that is missing.
    fn read(headers: &[(HeaderName, &[u8])]) -> Result<String, bool> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name, HeaderValue::from_bytes(value).unwrap());
        }
        let text = key_text(&map).map(Cow::into_owned);
        text.map_err(|refusal| matches!(refusal, Refusal::KeyInvalid))
    }

    fn basic(credentials: &[u8]) -> Vec<u8> {
        format!("Basic {}", BASE64_STANDARD.encode(credentials)).into_bytes()
    }

    #[test]
    fn bearer_and_basic_are_read_and_other_schemes_are_missing_contract_15() {
        let (invalid, missing) = (Err(true), Err(false));
        let key = |text: &str| Ok(text.to_owned());
        for (value, expected) in [
            (b"Bearer yb_1".to_vec(), key("yb_1")),
            (b"bEARER   yb_1 ".to_vec(), key("yb_1")),
            (b"Bearer".to_vec(), key("")),
            (b"Bearer x".to_vec(), key("x")),
            (basic(b"yb_1:"), key("yb_1")),
            (basic(b"yb_1:secret"), key("yb_1")),
            (basic(b"anybody:yb_2"), key("yb_2")),
            (basic(b":yb_2"), key("yb_2")),
            (basic(b"yb_1:yb_2"), key("yb_1")),
            (basic(b"me:yb_2:x"), key("yb_2:x")),
            (basic(b"\xff\xfe:yb_2"), key("yb_2")),
            (basic(b"yb_1:\xff"), key("yb_1")),
            (basic(b"yb_\xff:yb_2"), invalid.clone()),
            (basic(b"somebody:something"), invalid.clone()),
            (basic(b"yb_1"), invalid.clone()),
            (basic(b""), invalid.clone()),
            (b"Basic".to_vec(), invalid.clone()),
            (b"basic !!!".to_vec(), invalid.clone()),
            ("Bearer yb_é".into(), invalid.clone()),
            (b"Bearer \xff".to_vec(), invalid.clone()),
            (b"Basic \xff".to_vec(), invalid.clone()),
            (b"Other \xff".to_vec(), invalid),
            (b"".to_vec(), missing.clone()),
            (b"yb_1".to_vec(), missing.clone()),
            (b"Digest username=\"yb_1\"".to_vec(), missing.clone()),
            (b"BearerX yb_1".to_vec(), missing),
        ] {
            let shown = String::from_utf8_lossy(&value);
            assert_eq!(read(&[(AUTHORIZATION, &value)]), expected, "{shown}");
        }
        assert_eq!(read(&[]), Err(false));
    }

    #[test]
    fn another_site_s_request_is_read_as_if_basic_were_not_there_contract_15() {
        let value = basic(b"yb_1:");
        for (site, destination, is_read) in [
            ("cross-site", "", false),
            ("cross-site", "image", false),
            ("cross-site", "iframe", false),
            ("same-site", "empty", false),
            ("cross-site", "document", true),
            ("same-site", "document", true),
            ("same-origin", "image", true),
            ("none", "document", true),
            ("", "", true),
        ] {
            let with = |value| {
                let site = (SEC_FETCH_SITE, site.as_bytes());
                read(&[site, (SEC_FETCH_DEST, destination.as_bytes()), (AUTHORIZATION, value)])
            };
            let expected = if is_read { Ok("yb_1".to_owned()) } else { Err(false) };
            assert_eq!(with(&value), expected, "{site} {destination}");
            // No browser adds a bearer token by itself.
            assert_eq!(with(b"Bearer yb_1"), Ok("yb_1".to_owned()), "{site} {destination}");
        }
    }
}
