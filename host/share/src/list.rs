//! Lists of the share: shares, schemas, tables (contract-12-lists). Never reads the database: the
//! catalog is in memory.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};
use yearbook_domain::Dataset;
use yearbook_http::Error;

use super::metrics::ShareOperation;
use super::page::PageRequest;
use super::table_path::{check_share, schema_tables};
use super::{document, identifier, index};
use crate::ShareState;

/// `GET /shares`.
pub(super) async fn shares(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::ListShares);
    let page = PageRequest::parse(request.uri().query(), "shares")?;
    let all = [app.settings.name.as_str()];
    document(&page.cut("shares", &all, |name| (*name).to_owned(), |_| share_entry(&app)))
}

/// `GET /shares/{share}`.
pub(super) async fn share(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::GetShare);
    check_share(&app, request.uri())?;
    document(&json!({"share": share_entry(&app)}))
}

/// `GET /shares/{share}/schemas`.
pub(super) async fn schemas(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::ListSchemas);
    check_share(&app, request.uri())?;
    let page = PageRequest::parse(request.uri().query(), "schemas")?;
    let tables = app.index.tables(&app.core.catalog_cache);
    let names = index::schemas(&tables);
    let share = app.settings.name.as_str();
    document(&page.cut(
        "schemas",
        &names,
        |name| (*name).to_owned(),
        |name| json!({"name": name, "share": share}),
    ))
}

/// `GET /shares/{share}/schemas/{schema}/tables`.
pub(super) async fn tables(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::ListTables);
    let tables = schema_tables(&app, request.uri())?;
    let page = PageRequest::parse(request.uri().query(), "tables")?;
    document(&page.cut("tables", &tables, |table| sort_key(table), |table| entry(&app, table)))
}

/// `GET /shares/{share}/all-tables`.
pub(super) async fn all_tables(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::ListAllTables);
    check_share(&app, request.uri())?;
    let page = PageRequest::parse(request.uri().query(), "all-tables")?;
    let tables = app.index.tables(&app.core.catalog_cache);
    document(&page.cut("all-tables", &tables, |table| sort_key(table), |table| entry(&app, table)))
}

/// A table in a list.
pub(super) fn entry(app: &ShareState, table: &Dataset) -> Value {
    let share = app.settings.name.as_str();
    json!({
        "name": table.name,
        "schema": table.namespace,
        "share": share,
        "shareId": identifier(share),
        "id": identifier(&format!("{share}\n{}", table.name)),
    })
}

fn share_entry(app: &ShareState) -> Value {
    let name = app.settings.name.as_str();
    json!({"name": name, "id": identifier(name)})
}

/// Schema and name; the byte between sorts before every byte of a name.
fn sort_key(table: &Dataset) -> String {
    format!("{}\u{1}{}", table.namespace, table.name)
}
