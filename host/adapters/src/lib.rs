//! Adapters (contract-17): other people's APIs at `/api/{name}`, each spoken by a plugin that asks
//! for facts about the catalogue and answers with a document of its own or with rows. Knows no API
//! by name, and makes no row: what an adapter selects goes through the line of `/data`.

mod document;
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

pub use state::AdaptersState;

/// Every route of adapters.
pub fn routes(state: &Arc<AdaptersState>) -> Router {
    let mount = || -> MethodRouter<Arc<AdaptersState>> {
        get(mount::answer).post(mount::answer).fallback(mount::refuse_method)
    };
    Router::new()
        .route("/api/{name}", mount())
        .route("/api/{name}/", mount())
        .route("/api/{name}/{*path}", mount())
        .with_state(Arc::clone(state))
}
