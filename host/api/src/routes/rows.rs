//! `/v1/datasets/{name}/data`, its alias `/v1/series/{name}/data` (spec-4.2-alias), and
//! `/v1/datasets/{name}/changes` (contract-4-changes-law): one line, whose every step takes the
//! result of an earlier step, in the order of contract-1-order. The two routes differ in their
//! plans alone.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;

use crate::ApiState;
use crate::request::DataRequest;
use crate::response;
use yearbook_http::Authenticated;
use yearbook_http::Error;
use yearbook_http::reservation::Patience;

/// `GET /v1/datasets/{name}/data` and `GET /v1/series/{name}/data`.
pub(crate) async fn data(
    State(app): State<Arc<ApiState>>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let request = DataRequest::parse(&app, request)?;
    let dataset = app.core.dataset(&request.name)?;
    let mut plan = request.plan(&app, &auth, &dataset).await?;
    if let Some(response) = response::without_body(&app, &request, &auth, &mut plan).await? {
        return Ok(response);
    }
    let reservation = app.core.reserve(&auth, Patience::Queue).await?;
    let body = app.bodies.get(&app, &request, plan, &reservation).await;
    let (body, charge) = reservation.settle(body).await?;
    Ok(response::rows(&app, &request, body, charge))
}

/// `GET /v1/datasets/{name}/changes`.
pub(crate) async fn changes(
    State(app): State<Arc<ApiState>>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let request = DataRequest::parse_changes(&app, request)?;
    let dataset = app.core.dataset(&request.name)?;
    let mut plan = request.plan_changes(&app, &auth, &dataset).await?;
    if let Some(response) = response::without_body(&app, &request, &auth, &mut plan).await? {
        return Ok(response);
    }
    let reservation = app.core.reserve(&auth, Patience::Queue).await?;
    let body = app.bodies.get(&app, &request, plan, &reservation).await;
    let (body, charge) = reservation.settle(body).await?;
    Ok(response::rows(&app, &request, body, charge))
}
