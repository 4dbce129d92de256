//! `/v1/datasets/{name}/data`, its alias `/v1/series/{name}/data` (spec-4.2-alias), and
//! `/v1/datasets/{name}/changes` (contract-4-changes-law): one line, whose every step takes the
//! result of an earlier step, in the order of contract-1-order. The routes differ in where their
//! rows come from.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_http::reservation::Patience;
use yearbook_http::{AuthenticatedCaller, Error};

use crate::ApiState;
use crate::request::DataRequest;
use crate::response::{Opened, open};

/// `GET` of rows: of a snapshot, or of what changed.
pub(crate) async fn show(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let request = DataRequest::parse(&app, request)?;
    answer(&app, &auth, &request).await
}

/// Answers `request` in the name of the caller of `auth`.
///
/// # Errors
/// The refusals of the request, in the order of contract-1-order.
pub(super) async fn answer(
    app: &ApiState,
    auth: &AuthenticatedCaller,
    request: &DataRequest,
) -> Result<Response, Error> {
    let dataset = app.core.dataset(&request.name)?;
    let plan = request.plan(app, auth, &dataset).await?;
    let pending = match open(app, request, auth, plan).await? {
        Opened::Answered(response) => return Ok(response),
        Opened::Pending(pending) => pending,
    };
    let reservation = app.core.reserve(auth, Patience::Queue).await?;
    let rendered = pending.render(app, request, &reservation).await;
    reservation.settle(rendered).await
}
