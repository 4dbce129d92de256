//! `/v1/me`: what the caller's plan allows and what is left of it. Costs nothing (contract-4-me).

pub(crate) mod view;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_http::body_schema::Rfc3339;
use yearbook_http::document::CachePolicy;
use yearbook_http::{AuthenticatedCaller, Error, RenderedDocument};

use self::view::{AccountView, MonthView};
use crate::ApiState;

/// `GET /v1/me`.
pub(crate) async fn show(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let usage = app.core.quota.usage(&auth.caller).await?;
    let document = RenderedDocument::new(&AccountView {
        plan: auth.caller.plan(),
        row_cap: auth.caller.limits().row_cap,
        requests: MonthView {
            limit: usage.limit,
            used: usage.used,
            left: usage.left(),
            resets_at: Rfc3339(usage.resets_at),
        },
    })?;
    let mut response = document.respond(&app.core, request.headers(), CachePolicy::NoStore).await?;
    response.extensions_mut().insert(usage);
    Ok(response)
}
