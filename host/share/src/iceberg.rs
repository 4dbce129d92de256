//! Iceberg REST at `/share/iceberg`, read-only (contract-12-iceberg): the tables of the share as
//! publishing described them in the bucket. Never writes, and never reads a row.

mod metadata_files;
mod table_document;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::Uri;
use serde_json::{Value, json};
use yearbook_domain::Dataset;
use yearbook_domain::query::{last_value, parse_pairs};
use yearbook_http::{Error, status};

use super::metrics::ShareOperation;
use super::table_path::segment;
use super::{ShareRefusal, document, index, post_only, recipient};
use crate::ShareState;

pub(super) use metadata_files::MetadataFiles;

/// Routes that clients may use; without this list they assume more.
const ENDPOINTS: [&str; 7] = [
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
];

/// Every route; none where the settings say so.
pub(super) fn routes(state: &ShareState) -> Router<Arc<ShareState>> {
    if !state.settings.iceberg {
        return Router::new();
    }
    let recipient = |route| recipient::guard(&state.core, route);
    let namespace = |route: &str| format!("/share/iceberg/v1/namespaces/{{namespace}}{route}");
    Router::new()
        .route("/share/iceberg/v1/config", recipient(get(config)))
        .route("/share/iceberg/v1/namespaces", recipient(get(namespaces)))
        .route(&namespace(""), recipient(get(show_namespace)))
        .route(&namespace("/tables"), recipient(get(tables)))
        .route(&namespace("/tables/{table}"), recipient(get(load_table)))
        .route(&namespace("/tables/{table}/metrics"), recipient(post_only(report)))
}

/// `GET /v1/config`.
async fn config(State(app): State<Arc<ShareState>>) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::IcebergConfig);
    document(&json!({"defaults": {}, "overrides": {}, "endpoints": ENDPOINTS}))
}

/// `GET /v1/namespaces`. A parent has no children.
async fn namespaces(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::IcebergNamespaces);
    let pairs = parse_pairs(request.uri().query().unwrap_or_default());
    let parent = last_value(&pairs, "parent");
    if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
        namespace_tables(&app, parent)?;
        return document(&json!({"namespaces": []}));
    }
    let tables = app.index.tables(&app.core.catalog_cache);
    let names: Vec<[&str; 1]> = index::schemas(&tables).into_iter().map(|name| [name]).collect();
    document(&json!({"namespaces": names}))
}

/// `GET /v1/namespaces/{namespace}`.
async fn show_namespace(State(app): State<Arc<ShareState>>, uri: Uri) -> Result<Response, Error> {
    let namespace = segment(&uri, 2);
    app.metrics.count(ShareOperation::IcebergNamespaces);
    namespace_tables(&app, &namespace)?;
    document(&json!({"namespace": [namespace], "properties": {}}))
}

/// `GET /v1/namespaces/{namespace}/tables`.
async fn tables(State(app): State<Arc<ShareState>>, uri: Uri) -> Result<Response, Error> {
    let namespace = segment(&uri, 2);
    app.metrics.count(ShareOperation::IcebergTables);
    let tables = namespace_tables(&app, &namespace)?;
    let identifiers: Vec<Value> = tables
        .iter()
        .map(|table| json!({"namespace": [table.namespace], "name": table.name}))
        .collect();
    document(&json!({"identifiers": identifiers}))
}

/// `GET /v1/namespaces/{namespace}/tables/{table}`.
async fn load_table(State(app): State<Arc<ShareState>>, uri: Uri) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::IcebergTable);
    let dataset = find_table(&app, &uri)?;
    document(&table_document::load(&app, &dataset).await?)
}

/// `POST …/metrics`: what a reader says of its scan is not kept.
async fn report(State(app): State<Arc<ShareState>>, uri: Uri) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::IcebergReport);
    find_table(&app, &uri)?;
    Ok(status::NO_CONTENT.into_response())
}

/// Tables of a namespace, sorted by name.
///
/// # Errors
/// 404 where nothing of it is shared.
fn namespace_tables(app: &ShareState, namespace: &str) -> Result<Vec<Arc<Dataset>>, Error> {
    let found = app.index.tables_of(&app.core.catalog_cache, namespace);
    if found.is_empty() {
        return Err(unknown("namespace", namespace.to_owned()));
    }
    Ok(found)
}

/// The dataset of a table.
///
/// # Errors
/// 404 where there is none, or it is not shared.
fn find_table(app: &ShareState, uri: &Uri) -> Result<Arc<Dataset>, Error> {
    let (namespace, table) = (segment(uri, 2), segment(uri, 4));
    let dataset = index::find_table(&app.core.catalog_cache, &namespace, &table);
    dataset.ok_or_else(|| unknown("table", format!("{namespace}.{table}")))
}

fn unknown(kind: &'static str, name: String) -> Error {
    ShareRefusal::UnknownName { kind, name }.into()
}
