//! How fast and how much a client may ask (contract-5-burst, contract-5-exact): burst limits here,
//! the month's quota in the catalogue.

mod address_block;
mod bursts;
mod rate_limit_headers;
mod refunds;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::state::AppState;

pub(crate) use address_block::{address_block, address_block_of};
pub(crate) use bursts::BurstLimiter;
pub(crate) use rate_limit_headers::write_month_quota;

/// Bounds routes that need no key by the address that asks.
pub(crate) async fn limit_by_address(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    match state.burst_limiter.take_for_address(&request) {
        Some(refused) => refused,
        None => next.run(request).await,
    }
}
