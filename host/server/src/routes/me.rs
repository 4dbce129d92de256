//! `/v1/me`: what the caller's plan allows and what is left of it. Costs nothing (contract-4-me).

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;

use crate::error::Error;
use crate::request::Authenticated;
use crate::response::RenderedDocument;
use crate::response::document::CachePolicy;
use crate::state::AppState;

/// `GET /v1/me`.
pub(crate) async fn show(
    State(app): State<AppState>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let usage = app.meter.usage(&auth.caller).await?;
    let document = RenderedDocument::new(&json!({
        "plan": auth.caller.plan(),
        "row_cap": auth.caller.limits().row_cap,
        "requests": {
            "limit": usage.limit,
            "used": usage.used,
            "left": usage.left(),
            "resets_at": usage.resets_at.to_rfc3339(),
        },
    }))?;
    let mut response = document.respond(&app, request.headers(), CachePolicy::NoStore).await?;
    response.extensions_mut().insert(usage);
    Ok(response)
}
