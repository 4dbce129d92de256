//! Bound on a response's body: as much as was asked for, and an error beyond it. A store that
//! sends more, by mistake or by intent, costs no memory.

use http_body_util::{BodyExt, LengthLimitError, Limited};
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody};
use reqwest::Method;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, RANGE};

/// Bytes of the body of an error: an XML document of some hundred bytes.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// Bytes of a document that describes something. The largest lists a thousand objects in some 500
/// kB.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// The part of a request that bounds its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedBody {
    /// So many bytes of an object.
    Range(u64),
    /// A whole object. The caller checks the length that its head states before reading it.
    Object,
    /// A list, or the outcome of a change.
    Document,
}

/// A body that goes on after its end.
#[derive(Debug, thiserror::Error)]
#[error("the store sends more than the {limit} bytes that were asked for")]
struct TooLong {
    limit: u64,
}

impl ExpectedBody {
    /// Reads the bounds from `request`.
    pub(super) fn from_request(request: &HttpRequest) -> Self {
        match request.headers().get(RANGE).and_then(|range| range_bytes(range.to_str().ok()?)) {
            Some(bytes) => Self::Range(bytes),
            None if *request.method() == Method::GET && request.uri().query().is_none() => {
                Self::Object
            }
            None => Self::Document,
        }
    }

    /// The same answer, whose body ends with an error where it goes on for longer than it should.
    pub(super) fn limit_body(self, answer: HttpResponse) -> HttpResponse {
        let (head, body) = answer.into_parts();
        let limit = match self {
            _ if !head.status.is_success() => MAX_ERROR_BYTES,
            Self::Range(bytes) => bytes,
            Self::Object => content_length(&head.headers).unwrap_or(MAX_DOCUMENT_BYTES),
            Self::Document => MAX_DOCUMENT_BYTES,
        };
        // Not tried again: what lies once will lie twice.
        let too_long = move |error: Box<dyn std::error::Error + Send + Sync>| match error
            .downcast::<HttpError>()
        {
            Ok(failure) => *failure,
            Err(error) if error.is::<LengthLimitError>() => {
                HttpError::new(HttpErrorKind::Decode, TooLong { limit })
            }
            Err(error) => HttpError::new_boxed(HttpErrorKind::Unknown, error),
        };
        let body =
            Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX)).map_err(too_long);
        HttpResponse::from_parts(head, HttpResponseBody::new(body))
    }
}

/// The length that the answer's head states.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Bytes of `bytes=first-last`.
fn range_bytes(range: &str) -> Option<u64> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    last.checked_sub(first)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use object_store::client::HttpRequestBody;

    use super::*;

    /// Reads an answer of `status` that states and sends so many bytes.
    async fn read(
        expected: ExpectedBody,
        status: u16,
        stated: u64,
        sent: u64,
    ) -> Result<usize, HttpError> {
        let body = HttpResponseBody::from(vec![7; usize::try_from(sent).unwrap()]);
        let mut answer = HttpResponse::new(body);
        *answer.status_mut() = status.try_into().unwrap();
        answer.headers_mut().insert(CONTENT_LENGTH, stated.into());
        expected.limit_body(answer).into_body().bytes().await.map(|bytes| bytes.len())
    }

    #[test]
    fn requests_say_how_much_they_ask_for() {
        let of = |method: &str, uri: &str, range: Option<&str>| {
            let mut request = HttpRequest::new(HttpRequestBody::empty());
            *request.method_mut() = method.parse().unwrap();
            *request.uri_mut() = uri.parse().unwrap();
            request.headers_mut().extend(range.map(|range| (RANGE, range.parse().unwrap())));
            ExpectedBody::from_request(&request)
        };
        assert_eq!(of("GET", "http://s3/b/k", Some("bytes=10-19")), ExpectedBody::Range(10));
        assert_eq!(of("GET", "http://s3/b/k", None), ExpectedBody::Object);
        assert_eq!(of("GET", "http://s3/b?list-type=2", None), ExpectedBody::Document);
        assert_eq!(of("PUT", "http://s3/b/k", None), ExpectedBody::Document);
        for odd in ["bytes=-5", "bytes=5-", "bytes=9-3", "rows=1-2", ""] {
            assert_eq!(of("GET", "http://s3/b/k", Some(odd)), ExpectedBody::Object, "{odd}");
        }
    }

    #[tokio::test]
    async fn an_answer_longer_than_asked_is_an_error_and_not_read_contract_4() {
        assert_eq!(read(ExpectedBody::Range(10), 206, 10, 10).await.unwrap(), 10);
        assert_eq!(read(ExpectedBody::Object, 200, 10, 10).await.unwrap(), 10);
        for (expected, status, sent) in [
            (ExpectedBody::Range(10), 206, 11),
            (ExpectedBody::Object, 200, 11),
            (ExpectedBody::Object, 500, MAX_ERROR_BYTES + 1),
            (ExpectedBody::Document, 200, MAX_DOCUMENT_BYTES + 1),
        ] {
            let failure = read(expected, status, 10, sent).await.unwrap_err();
            assert_eq!(failure.kind(), HttpErrorKind::Decode, "{expected:?}");
            assert!(failure.to_string().contains("more than the"), "{failure}");
        }
    }
}
