//! `/v1/me`: what the caller's plan allows and what is left of it. Costs nothing (contract-4-me).

use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_domain::Plan;

use crate::error::Error;
use crate::openapi::body_schema::{Rfc3339, json_body};
use crate::request::Authenticated;
use crate::response::RenderedDocument;
use crate::response::document::CachePolicy;
use crate::state::AppState;

json_body! {
    pub(crate) struct AccountView named "Me": "The caller's plan and what is left of it." {
        plan: Plan,
        row_cap: Option<u64>,
        requests: MonthView,
    }

    struct MonthView: "Requests of this month (UTC)." {
        limit: Option<u64>,
        used: u64,
        left: Option<u64>,
        resets_at: Rfc3339,
    }
}

/// `GET /v1/me`.
pub(crate) async fn show(
    State(app): State<AppState>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let usage = app.quota.usage(&auth.caller).await?;
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
    let mut response = document.respond(&app, request.headers(), CachePolicy::NoStore).await?;
    response.extensions_mut().insert(usage);
    Ok(response)
}
