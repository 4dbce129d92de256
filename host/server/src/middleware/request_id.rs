//! The id of a request: in every answer, in every line of the log (contract 2).

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use tracing::Instrument;

use crate::headers::REQUEST_ID;

/// Longest id taken over from a client or proxy, bytes.
const MAX_BYTES: usize = 64;

/// The id, in the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// Takes over the id that a proxy gave, or makes one; opens the span that everything is logged under.
pub(crate) async fn mark(mut request: Request, next: Next) -> Response {
    let id = request.headers().get(&REQUEST_ID).and_then(acceptable).unwrap_or_else(fresh);
    let span = tracing::info_span!("request", %id, method = %request.method(), path = request.uri().path());
    request.extensions_mut().insert(RequestId(id.clone()));
    let begun = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    if let Ok(value) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    // To the first byte; how long a body flows is the client's affair.
    let took_ms = begun.elapsed().as_secs_f64() * 1000.0;
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), took_ms, "answered"));
    response
}

/// An id that can stand in a log without confusing it.
fn acceptable(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    let sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (!text.is_empty() && text.len() <= MAX_BYTES && text.bytes().all(sane)).then(|| text.to_owned())
}

/// 96 random bits in hexadecimal.
fn fresh() -> String {
    let mut bytes = [0; 12];
    if getrandom::fill(&mut bytes).is_err() {
        // An id only has to tell requests apart; the clock does that nearly as well.
        bytes[..8].copy_from_slice(&yearbook_domain::Millis::now().0.to_le_bytes());
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_ids_are_taken_over() {
        let taken = |bytes: &[u8]| HeaderValue::from_bytes(bytes).ok().as_ref().and_then(acceptable);
        assert_eq!(taken(b"0af7651916cd43dd-8448_eb.1").as_deref(), Some("0af7651916cd43dd-8448_eb.1"));
        for bad in [&b""[..], b"a b", b"a\"b", "é".as_bytes(), &[b'a'; 65]] {
            assert_eq!(taken(bad), None, "{bad:?}");
        }
        assert_ne!(fresh(), fresh());
    }
}
