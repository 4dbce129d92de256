//! Counts a request when it begins, when its response begins, and when that ends, with the bytes of
//! its body and whether all of them were sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use bytes::Bytes;
use http::Method;
use http::header::CONTENT_LENGTH;
use http_body::{Frame, SizeHint};

use super::RequestLabels;
use crate::Core;

/// Bytes of a body that are written to a socket in one go.
const SENT_AT_ONCE: u64 = 64 << 10;

/// Label of requests that match no route.
const UNMATCHED: &str = "unmatched";

/// A request that is counted.
pub struct CountedRequest {
    labels: RequestLabels,
    method: Method,
    underway: InFlightRequest,
}

impl CountedRequest {
    /// Counts `request` from now on.
    pub fn begin(state: &Arc<Core>, request: &mut Request) -> Self {
        let begun = Instant::now();
        let route = state.http_metrics.route_number(
            request.extensions().get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str),
        );
        let (labels, method) = (RequestLabels::default(), request.method().clone());
        request.extensions_mut().insert(labels.clone());
        let underway = InFlightRequest::begin(Arc::clone(state), route, begun);
        Self { labels, method, underway }
    }

    /// Plan and format, which a handler sets.
    pub(crate) fn labels(&self) -> &RequestLabels {
        &self.labels
    }

    /// Counts `response`, and its body where that is still to be sent.
    pub fn end(self, response: Response) -> Response {
        let Self { labels, method, mut underway } = self;
        let (http, route) = (&underway.state.http_metrics, underway.route);
        http.answered(route, &method, response.status(), &labels);
        http.route_metrics(route).first_byte.observe(underway.begun.elapsed());
        // What lies ready and fits what the operating system takes at once is as good as sent.
        match response.body().size_hint().exact() {
            Some(bytes) if bytes <= SENT_AT_ONCE => underway.complete(bytes),
            _ if response.body().is_end_stream() => underway.complete(0),
            _ => return meter_body(response, underway),
        }
        response
    }
}

/// A request that is being answered. Dropped, it is over.
struct InFlightRequest {
    state: Arc<Core>,
    route: usize,
    begun: Instant,
    bytes: u64,
    whole: bool,
}

impl InFlightRequest {
    fn begin(state: Arc<Core>, route: usize, begun: Instant) -> Self {
        state.http_metrics.in_flight.increment();
        Self { state, route, begun, bytes: 0, whole: false }
    }

    /// All of the body is sent, or as good as.
    fn complete(&mut self, bytes: u64) {
        (self.bytes, self.whole) = (bytes, true);
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        let http = &self.state.http_metrics;
        let route = http.route_metrics(self.route);
        http.in_flight.decrement();
        route.whole.observe(self.begun.elapsed());
        route.bytes.add(self.bytes);
        if !self.whole {
            route.aborted.increment();
        }
    }
}

/// A body whose bytes are counted.
struct MeteredBody {
    body: Body,
    /// The announced length: nothing polls for the end of a body of known length.
    length: Option<u64>,
    underway: InFlightRequest,
}

/// `response` with its body counted.
fn meter_body(response: Response, underway: InFlightRequest) -> Response {
    let announced = response
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    let length = announced.or(response.body().size_hint().exact());
    response.map(|body| Body::new(MeteredBody { body, length, underway }))
}

impl HttpBody for MeteredBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                self.underway.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                self.underway.whole = self.length == Some(self.underway.bytes);
            }
            Poll::Ready(Some(Err(_))) => self.underway.whole = false,
            Poll::Ready(None) => self.underway.whole = true,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
