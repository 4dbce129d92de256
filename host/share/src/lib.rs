//! The warehouse share (contract-12): Delta Sharing in URL mode and Iceberg REST, read-only. A
//! share is this installation, a schema a namespace, a table a dataset, a version a snapshot. Files
//! are the stored ones. Never copies data, and never decides who holds a key.

mod actions;
mod answer;
mod capabilities;
mod changes;
mod file_address;
mod files;
mod hints;
mod history;
mod iceberg;
mod index;
mod list;
mod metrics;
mod page;
mod query_request;
mod recipient;
mod refusal;
mod schema;
mod signed_files;
mod state;
mod statistics;
mod table;
mod table_path;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use http::HeaderValue;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use serde::Serialize;
use yearbook_domain::uuid::uuid_of_name;
use yearbook_http::middleware::ErrorLook;
use yearbook_http::{Error, media_types};

pub(crate) use refusal::ShareRefusal;
pub use state::ShareState;

/// Shape of the errors of the share.
pub const ERROR_LOOK: ErrorLook =
    ErrorLook { covers: refusal::is_share_path, render: refusal::render };

/// Every route of the share. Files stand apart: their signature is their key.
pub fn routes(state: &Arc<ShareState>) -> Router {
    let recipient = |route| recipient::guard(&state.core, route);
    // Not nested: a nested router takes the prefix off the path that handlers read names from.
    let table = |route: &str| {
        format!("/share/delta/shares/{{share}}/schemas/{{schema}}/tables/{{table}}{route}")
    };
    Router::new()
        .route("/share/delta/shares", recipient(get(list::shares)))
        .route("/share/delta/shares/{share}", recipient(get(list::share)))
        .route("/share/delta/shares/{share}/all-tables", recipient(get(list::all_tables)))
        .route("/share/delta/shares/{share}/schemas", recipient(get(list::schemas)))
        .route("/share/delta/shares/{share}/schemas/{schema}/tables", recipient(get(list::tables)))
        .route(&table(""), recipient(get(table::show)))
        .route(&table("/version"), recipient(get(table::version)))
        .route(&table("/metadata"), recipient(get(table::metadata)))
        .route(&table("/query"), recipient(post_only(table::query)))
        .route(&table("/changes"), recipient(get(changes::show)))
        .route("/share/files/{digest}", get(files::download))
        .merge(iceberg::routes(state))
        .with_state(Arc::clone(state))
}

/// A route that takes POST alone. The router's own refusal of a method would not say so.
fn post_only<H, T>(handler: H) -> MethodRouter<Arc<ShareState>>
where
    H: Handler<T, Arc<ShareState>>,
    T: 'static,
{
    post(handler).fallback(|| async {
        ([(ALLOW, "POST, OPTIONS")], Error::MethodNotAllowed).into_response()
    })
}

/// A small JSON document, which changes with the next publication.
///
/// # Errors
/// 500 where `value` is no JSON, which is a bug.
fn document(value: &impl Serialize) -> Result<Response, Error> {
    let bytes = serde_json::to_vec(value)
        .map_err(|failure| Error::internal("render a list of the share", &failure))?;
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_types::JSON));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}

/// Returns the id of what the share calls `name`: the same on every host for ever.
fn identifier(name: &str) -> String {
    uuid_of_name(&format!("yearbook share\n{name}"))
}
