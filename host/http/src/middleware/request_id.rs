//! The id of a request: in every answer, in every line of the log (contract-2-request-id), and in
//! its trace.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::Request;
use axum::response::Response;
use http::HeaderValue;
use tracing::Span;
use tracing::field::Empty;

use super::logged_path::loggable_path;
use super::traces;
use crate::Core;
use crate::client_address::{self, ClientAddress};
use crate::headers::REQUEST_ID;
use crate::metrics::RequestLabels;

/// Longest id taken over from a client or proxy, bytes.
const MAX_BYTES: usize = 64;

/// The lower 48 bits.
const LOW_48: u64 = (1 << 48) - 1;

/// The id, in the request's extensions.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// Id and client of a request, from its head to that of its response.
pub struct RequestMark {
    id: String,
    client: ClientAddress,
    begun: Instant,
}

impl RequestMark {
    /// Takes over the id that a proxy gave, or makes one; opens the span that everything is logged
    /// under.
    pub fn begin(state: &Core, request: &mut Request) -> (Self, Span) {
        let id = request.headers().get(&REQUEST_ID).and_then(valid_id).unwrap_or_else(generate);
        let client = client_address::mark(request, &state.settings.server);
        let (method, path) = (request.method(), loggable_path(request));
        let span = tracing::info_span!(
            "request", %id, %method, path, otel.name = Empty, otel.kind = Empty
        );
        traces::begin(&span, request, client);
        request.extensions_mut().insert(RequestId(id.clone()));
        (Self { id, client, begun: Instant::now() }, span)
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns `response` with the id. Call it within the span.
    pub(crate) fn end(
        self,
        state: &Core,
        labels: &RequestLabels,
        mut response: Response,
    ) -> Response {
        if let Ok(value) = HeaderValue::try_from(self.id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        // To the first byte; how long a body flows is the client's affair.
        let took_ms = self.begun.elapsed().as_secs_f64() * 1000.0;
        let (status, client) = (response.status(), self.client.address);
        tracing::debug!(status = status.as_u16(), took_ms, %client, "answered");
        traces::answered(status, labels, &state.http_metrics);
        response
    }
}

/// An id that can stand in a log without confusing it.
fn valid_id(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    let sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (!text.is_empty() && text.len() <= MAX_BYTES && text.bytes().all(sane)).then(|| text.to_owned())
}

/// 48 random bits of this process, and 48 that count on from a random one: no other request of any
/// host has both, and no call to the operating system is made for it.
fn generate() -> String {
    static PROCESS: OnceLock<(u64, AtomicU64)> = OnceLock::new();
    let (process, count) = PROCESS.get_or_init(|| (random(), AtomicU64::new(random())));
    let count = count.fetch_add(1, Ordering::Relaxed);
    format!("{:012x}{:012x}", process & LOW_48, count & LOW_48)
}

fn random() -> u64 {
    // Without randomness the clock tells processes apart nearly as well.
    getrandom::u64().unwrap_or_else(|_| yearbook_catalog::clock::now().0.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_ids_are_taken_over() {
        let taken = |bytes: &[u8]| HeaderValue::from_bytes(bytes).ok().as_ref().and_then(valid_id);
        assert_eq!(
            taken(b"0af7651916cd43dd-8448_eb.1").as_deref(),
            Some("0af7651916cd43dd-8448_eb.1")
        );
        for bad in [&b""[..], b"a b", b"a\"b", "é".as_bytes(), &[b'a'; 65]] {
            assert_eq!(taken(bad), None, "{bad:?}");
        }
        let (one, two) = (generate(), generate());
        assert!(one != two && one.len() == 24 && two.len() == 24, "{one} {two}");
    }
}
