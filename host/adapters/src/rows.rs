//! Rows that an adapter selects, and bytes around them (contract-17-rows).

use std::sync::Arc;

use axum::response::Response;
use yearbook_http::Error;
use yearbook_sandbox::catalogue::Fact;
use yearbook_sandbox::{AdapterCalls, adapter};

use crate::AdaptersState;
use crate::request::Exchange;

/// Sends the rows that the adapter selects, charged as rows are.
///
/// # Errors
/// Those of `/data`.
pub(crate) async fn send(
    _app: &AdaptersState,
    exchange: Exchange,
    _calls: &mut AdapterCalls,
    _facts: &Arc<Vec<Fact>>,
    _rows: adapter::Rows,
) -> Result<Response, Error> {
    exchange.settle(Err(Error::internal("send rows", &"rows are not built"))).await
}
