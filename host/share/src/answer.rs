//! Parts that every answer about a table shares: its head, its metadata, its parameters and the
//! right to a version (contract-12-licence). Never reads a file.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use yearbook_domain::query::{last_value, scalar};
use yearbook_domain::{Dataset, Millis, Snapshot, SnapshotSummary};
use yearbook_http::Error;
use yearbook_http::headers::TABLE_VERSION;

use super::actions::{ActionLines, NDJSON, TableMetadata};
use super::capabilities::Capabilities;
use super::{ShareRefusal, identifier, schema};
use crate::ShareState;

/// The snapshot of a version.
///
/// # Errors
/// 403 where its licence forbids to hand it on; 400 where it was dropped a moment ago.
pub(super) async fn shared_snapshot(
    app: &ShareState,
    dataset: &Dataset,
    summary: &SnapshotSummary,
) -> Result<Arc<Snapshot>, Error> {
    let Some(snapshot) = app.core.catalog_cache.snapshot(dataset, &summary.id).await? else {
        let sentence = format!(
            "Version {} was dropped a moment ago; ask for the newest version.",
            summary.version
        );
        return Err(ShareRefusal::VersionGone(sentence).into());
    };
    if !snapshot.bulk_redistribution {
        return Err(ShareRefusal::LicenceForbidden.into());
    }
    Ok(snapshot)
}

/// Describes `snapshot`, told for `version`.
pub(super) fn describe<'a>(
    app: &ShareState,
    dataset: &'a Dataset,
    snapshot: &'a Snapshot,
    version: u64,
) -> TableMetadata<'a> {
    let share = app.settings.name.as_str();
    let oldest = dataset.snapshots.first();
    TableMetadata {
        id: identifier(&format!("{share}\n{}", dataset.name)),
        name: dataset.name.as_str(),
        description: snapshot.description.as_deref().or(snapshot.title.as_deref()),
        schema: schema::schema_string(&snapshot.columns),
        credit: &snapshot.credit,
        version,
        created_at: oldest.map_or(snapshot.created_at, |oldest| oldest.created_at),
        bytes: Some(snapshot.file.bytes),
    }
}

/// Makes the answer of `lines`.
pub(super) fn respond(lines: ActionLines, capabilities: &Capabilities, version: u64) -> Response {
    let mut response = Response::new(Body::from(lines.into_text()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    // Addresses of files are of one recipient and end.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    capabilities.write(headers);
    with_version(response, version)
}

/// Adds the header of the table's version.
pub(super) fn with_version(mut response: Response, version: u64) -> Response {
    response.headers_mut().insert(TABLE_VERSION, HeaderValue::from(version));
    response
}

/// Returns the number of parameter `name`.
///
/// # Errors
/// 400 where it is none.
pub(super) fn number(pairs: &[(String, String)], name: &str) -> Result<Option<u64>, Error> {
    let Some(text) = last_value(pairs, name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let sentence = format!("{name} is not a number from 0 on.");
        ShareRefusal::InvalidParameter(sentence).into()
    })
}

/// Returns the instant of parameter `name`.
///
/// # Errors
/// 400 where it is none.
pub(super) fn instant(pairs: &[(String, String)], name: &str) -> Result<Option<Millis>, Error> {
    last_value(pairs, name).map(|text| parse_instant(name, text)).transpose()
}

/// Returns the truth value of parameter `name`, which is false where it is left out.
///
/// # Errors
/// 400 where it is none.
pub(super) fn truth(pairs: &[(String, String)], name: &str) -> Result<bool, Error> {
    let parsed = last_value(pairs, name).map(|text| scalar::parse_boolean(name, text)).transpose();
    parsed.map(Option::unwrap_or_default).map_err(|_| {
        let sentence = format!("{name} is neither true nor false.");
        ShareRefusal::InvalidParameter(sentence).into()
    })
}

/// Parses the instant `text` of `name`.
///
/// # Errors
/// 400 where it is none.
pub(super) fn parse_instant(name: &str, text: &str) -> Result<Millis, Error> {
    Millis::parse_iso8601(text).ok_or_else(|| {
        let sentence = format!("{name} is not an instant like 2026-11-21T09:13:00Z.");
        ShareRefusal::InvalidParameter(sentence).into()
    })
}

/// 400 for two parameters that exclude each other.
pub(super) fn both(one: &str, other: &str) -> Error {
    let sentence = format!("{one} and {other} exclude each other; send one.");
    ShareRefusal::InvalidParameter(sentence).into()
}
