//! Charging a request (contract-5-charged): reserved before the work, given back unless the answer
//! is 2xx, or 307 to the stored file itself. HEAD costs nothing and is answered even when the quota
//! is used up; 304 never gets here. What is charged is an open response, which comes out of the
//! caller's share first.

use std::time::Duration;

use axum::response::Response;
use http::{Method, StatusCode};

use crate::error::Error;
use crate::middleware::authentication::Authenticated;
use crate::state::AppState;

/// Runs `work` on one reserved request. When the future is dropped, the reservation is given back
/// too.
pub(crate) async fn charged(
    state: &AppState,
    keyed: &Authenticated,
    method: &Method,
    work: impl Future<Output = Result<Response, Error>>,
) -> Result<Response, Error> {
    let patience = Duration::from_millis(state.sandbox.limits().queue_ms);
    charge_within(state, keyed, method, Some(patience), work).await
}

/// As [`charged`], where a response may wait for its turn for `patience`; none: as long as the
/// caller does.
pub(crate) async fn charge_within(
    state: &AppState,
    keyed: &Authenticated,
    method: &Method,
    patience: Option<Duration>,
    work: impl Future<Output = Result<Response, Error>>,
) -> Result<Response, Error> {
    if method == Method::HEAD {
        return work.await;
    }
    let open = state.own().bodies.open(&keyed.holder, patience).await?;
    let reservation = state.meter.reserve(&keyed.caller).await?;
    match work.await {
        Ok(mut response)
            if response.status().is_success()
                || response.status() == StatusCode::TEMPORARY_REDIRECT =>
        {
            response.extensions_mut().insert(reservation.commit());
            response.extensions_mut().insert(open);
            Ok(response)
        }
        other => {
            reservation.release().await;
            other
        }
    }
}
