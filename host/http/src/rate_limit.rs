//! Rate limits (contract-5-burst, contract-5-exact): burst limits per key and address, and the
//! headers of all limits, and the pace of refusals. The month's quota itself is the catalog's.

mod bursts;
mod headers;
mod refusal_pace;
mod token_buckets;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::Core;

pub use bursts::BurstLimiter;
pub use headers::{remove_headers, write_month_quota};
pub use refusal_pace::{RefusalPace, WAITING_REFUSALS};

/// Bounds routes that need no key by the address that asks.
pub async fn limit_by_address(
    State(state): State<Arc<Core>>,
    request: Request,
    next: Next,
) -> Response {
    match state.burst_limiter.take_for_address(&request) {
        Some(refused) => refused,
        None => next.run(request).await,
    }
}
