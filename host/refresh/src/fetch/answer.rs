//! Check of an answer by its header: may it be believed, may its end be distinguished from a cut,
//! and which validators are worth keeping. Reads no body.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, ETAG, HeaderMap, HeaderName, LAST_MODIFIED, RETRY_AFTER,
    TRANSFER_ENCODING,
};
use yearbook_domain::{Digest, FailureCause};
use yearbook_outbound::{Url, redact};

use crate::download::BodyCoding;
use crate::failure::{CheckFailure, RetryAdvice};

/// Longest validator that is kept, bytes.
const MAX_VALIDATOR_BYTES: usize = 1_024;

/// Digest of the bytes as they are sent (RFC 9530).
const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// Validators of an answer that is kept, sent as conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestConditions {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

impl RequestConditions {
    pub(super) fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// Returns true for 304 and false for 200.
///
/// # Errors
/// For every other status, and for a 304 that nobody asked for.
pub(super) fn is_not_modified(
    status: u16,
    headers: &HeaderMap,
    asked: bool,
    url: &Url,
) -> Result<bool, CheckFailure> {
    let place = redact(url);
    match status {
        200 => Ok(false),
        304 if asked => Ok(true),
        304 => Err(CheckFailure::new(
            FailureCause::Answer,
            format!("{place} says that nothing changed (304) without having been asked that"),
        )),
        408 | 429 | 500..=599 => {
            let wait = retry_after(headers, SystemTime::now()).unwrap_or_default();
            let failure =
                CheckFailure::new(FailureCause::Status, format!("{place} answers {status}"));
            Err(CheckFailure { retry: RetryAdvice::After(wait), ..failure })
        }
        _ => Err(CheckFailure::new(
            FailureCause::Status,
            format!("{place} answers {status}; correct resources[0].path if the source has moved"),
        )),
    }
}

/// Wait that the source asks for, in seconds or until a date (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    httpdate::parse_http_date(text).ok()?.duration_since(now).ok()
}

/// Validators that can be sent back: short, and of characters that a header may hold.
pub(super) fn validators(headers: &HeaderMap) -> RequestConditions {
    let keep = |name: HeaderName| {
        let text = headers.get(name)?.to_str().ok()?.trim();
        (!text.is_empty() && text.len() <= MAX_VALIDATOR_BYTES).then(|| text.to_owned())
    };
    let is_tag = |tag: &String| {
        let opaque = tag.strip_prefix("W/").unwrap_or(tag);
        opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"')
    };
    let is_date = |date: &String| httpdate::parse_http_date(date).is_ok();
    RequestConditions {
        etag: keep(ETAG).filter(is_tag),
        last_modified: keep(LAST_MODIFIED).filter(is_date),
    }
}

/// Coding and digest of a body, as its header states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyFraming {
    /// Coding.
    pub(super) coding: BodyCoding,
    /// SHA-256 of the bytes as sent.
    digest: Option<[u8; 32]>,
}

impl BodyFraming {
    /// Reads it off the head of an answer of `url`.
    ///
    /// # Errors
    /// Fails where nothing says where the body ends, since a cut one would look whole; and for a
    /// coding that was not asked for.
    pub(super) fn read(headers: &HeaderMap, url: &Url) -> Result<Self, CheckFailure> {
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let has_length =
            text(&CONTENT_LENGTH).is_some_and(|length| length.trim().parse::<u64>().is_ok());
        let chunked = text(&TRANSFER_ENCODING)
            .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
        let refuse = |reason: String| CheckFailure::new(FailureCause::Answer, reason);
        if !has_length && !chunked {
            return Err(refuse(format!(
                "{} does not say where its answer ends (no Content-Length, no chunks), so a cut one could not be told from a whole one; put the file beside the descriptor",
                redact(url)
            )));
        }
        let coding = match text(&CONTENT_ENCODING).map(|coding| coding.trim().to_ascii_lowercase())
        {
            None => BodyCoding::Identity,
            Some(coding) if coding.is_empty() || coding == "identity" => BodyCoding::Identity,
            Some(coding) if coding == "gzip" || coding == "x-gzip" => BodyCoding::Gzip,
            Some(other) => {
                return Err(refuse(format!(
                    "{} answers in the coding {other:?}, though only gzip was asked for",
                    redact(url)
                )));
            }
        };
        let digest = text(&REPR_DIGEST).and_then(sha256_of);
        Ok(Self { coding, digest })
    }

    /// Compares the bytes that came with the digest that was announced for them, which finds a body
    /// that was cut before it was framed.
    ///
    /// # Errors
    /// Fails where they differ.
    pub(super) fn check_digest(&self, content: &Digest) -> Result<(), CheckFailure> {
        match self.digest {
            // Of a coded body it is the coded bytes that count, which were not hashed.
            Some(digest) if self.coding == BodyCoding::Identity && digest != content.to_bytes() => {
                Err(CheckFailure::temporary(
                    FailureCause::Answer,
                    "the bytes are not those of the answer's Repr-Digest",
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The SHA-256 of a header like `sha-256=:…:`.
fn sha256_of(header: &str) -> Option<[u8; 32]> {
    let entry = header.split(',').find_map(|entry| entry.trim().strip_prefix("sha-256="))?;
    let encoded = entry.strip_prefix(':')?.strip_suffix(':')?;
    STANDARD.decode(encoded).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn only_connection_errors_408_429_and_5xx_are_retried_contract_8() {
        let url = Url::parse("https://example.org/a.csv?key=secret").unwrap();
        for (status, retried) in [
            (201, false),
            (204, false),
            (206, false),
            (300, false),
            (400, false),
            (401, false),
            (403, false),
            (404, false),
            (408, true),
            (410, false),
            (429, true),
            (500, true),
            (502, true),
            (503, true),
            (599, true),
        ] {
            let failure = is_not_modified(status, &HeaderMap::new(), false, &url).unwrap_err();
            assert_eq!(failure.retry != RetryAdvice::Never, retried, "{status}");
            assert!(failure.reason.contains("https://example.org/a.csv answers"), "{failure:?}");
            assert!(!failure.reason.contains("secret"), "{failure:?}");
        }
        assert_eq!(is_not_modified(200, &HeaderMap::new(), true, &url), Ok(false));
        assert_eq!(is_not_modified(304, &HeaderMap::new(), true, &url), Ok(true));
        let unasked = is_not_modified(304, &HeaderMap::new(), false, &url).unwrap_err();
        assert_eq!((unasked.cause, unasked.retry), (FailureCause::Answer, RetryAdvice::Never));
    }

    #[test]
    fn the_wait_that_a_source_asks_for_is_read_in_both_forms() {
        let now = httpdate::parse_http_date("Mon, 23 Nov 2026 00:00:00 GMT").unwrap();
        for (text, expected) in [
            ("7", Some(7)),
            ("Mon, 23 Nov 2026 00:01:00 GMT", Some(60)),
            ("Mon, 23 Nov 2020 00:01:00 GMT", None),
            ("-1", None),
            ("soon", None),
        ] {
            let wait = retry_after(&headers(&[(RETRY_AFTER, text)]), now);
            assert_eq!(wait, expected.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn validators_that_cannot_be_sent_back_are_not_kept() {
        let kept = |etag: &str, date: &str| {
            let found = validators(&headers(&[(ETAG, etag), (LAST_MODIFIED, date)]));
            (found.etag.is_some(), found.last_modified.is_some())
        };
        let date = "Mon, 23 Nov 2026 00:00:00 GMT";
        assert_eq!(kept("\"a\"", date), (true, true));
        assert_eq!(kept("W/\"a\"", "yesterday"), (true, false));
        assert_eq!(kept("unquoted", date), (false, true));
        assert_eq!(kept(&format!("\"{}\"", "x".repeat(2_000)), date), (false, true));
    }
}
