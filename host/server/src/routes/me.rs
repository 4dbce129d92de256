//! `/v1/me`: what the caller's plan allows and what is left of it. Costs nothing (contract-4-me).

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::json;

use crate::error::Error;
use crate::middleware::authentication::Authenticated;
use crate::respond::RenderedDocument;
use crate::respond::document::CachePolicy;
use crate::state::AppState;

/// `GET /v1/me`.
pub(crate) async fn show(
    State(state): State<AppState>,
    keyed: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let usage = state.meter.usage(&keyed.caller).await?;
    let document = RenderedDocument::new(&json!({
        "plan": keyed.caller.plan(),
        "row_cap": keyed.caller.limits().row_cap,
        "requests": {
            "limit": usage.limit,
            "used": usage.used,
            "left": usage.left(),
            "resets_at": usage.resets_at.to_rfc3339(),
        },
    }))?;
    let mut response = document.respond(&state, request.headers(), CachePolicy::NoStore).await?;
    response.extensions_mut().insert(usage);
    Ok(response)
}
