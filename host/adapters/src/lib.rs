//! Adapters (contract-17): other people's APIs at `/api/{name}`, each spoken by a plugin that asks
//! for facts about the catalogue and answers with a document of its own or with rows. Knows no API
//! by name, and makes no row: what an adapter selects goes through the line of `/data`.

mod document;
mod document_cache;
mod facts;
mod failure;
mod mount;
mod refusal;
mod request;
mod rounds;
mod rows;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::Method;
use http::header::ACCESS_CONTROL_ALLOW_HEADERS;
use yearbook_http::headers::append_text;

pub use state::AdaptersState;

/// Every route of adapters.
pub fn routes(state: &Arc<AdaptersState>) -> Router {
    let mount = || -> MethodRouter<Arc<AdaptersState>> {
        get(mount::answer).post(mount::answer).fallback(mount::answer)
    };
    Router::new()
        .route("/api/{name}", mount())
        .route("/api/{name}/", mount())
        .route("/api/{name}/{*path}", mount())
        .with_state(Arc::clone(state))
}

/// Lays around all routes what answers to OPTIONS say of an adapter: its methods, and to scripts on
/// other pages the headers that it declares, beside those that every route allows.
pub fn allow_headers(routes: Router, state: &Arc<AdaptersState>) -> Router {
    routes.layer(from_fn_with_state(Arc::clone(state), allow_declared))
}

async fn allow_declared(
    State(app): State<Arc<AdaptersState>>,
    request: Request,
    next: Next,
) -> Response {
    let asks = request.method() == Method::OPTIONS;
    let adapter = asks.then(|| mount::find(&app, request.uri()).ok()).flatten();
    let mut response = next.run(request).await;
    if let Some(adapter) = adapter {
        let headers = response.headers_mut();
        mount::insert_methods(headers, &adapter, &Method::OPTIONS);
        if headers.contains_key(ACCESS_CONTROL_ALLOW_HEADERS) {
            for header in &adapter.description().headers {
                append_text(headers, ACCESS_CONTROL_ALLOW_HEADERS, header);
            }
        }
    }
    response
}
