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
use axum::routing::{MethodRouter, get};
use http::header::ACCESS_CONTROL_ALLOW_HEADERS;
use http::{HeaderMap, Method, Uri};
use yearbook_http::headers::append_text;
use yearbook_http::middleware::OptionsHeaders;

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

/// Returns what answers to OPTIONS say of an adapter: its methods, and to scripts on other pages
/// the headers that it declares, beside those that every route allows.
pub fn options_headers(state: &Arc<AdaptersState>) -> OptionsHeaders {
    let app = Arc::clone(state);
    Arc::new(move |uri: &Uri, headers: &mut HeaderMap| {
        let Ok(adapter) = mount::find(&app, uri) else { return };
        mount::insert_methods(headers, &adapter, &Method::OPTIONS);
        if headers.contains_key(ACCESS_CONTROL_ALLOW_HEADERS) {
            for header in &adapter.description().headers {
                append_text(headers, ACCESS_CONTROL_ALLOW_HEADERS, header);
            }
        }
    })
}
