//! One table: version, metadata, files of a version (contract-12-routes). Each handler is
//! one line from the names to the text; the rules stand in the modules beside.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Method};
use serde_json::json;
use yearbook_domain::query::parse_pairs;
use yearbook_http::{AuthenticatedCaller, Error};

use super::actions::{ActionLines, FileAction, FileKind};
use super::answer::{
    both, describe, instant, number, parse_instant, respond, shared_snapshot, with_version,
};
use super::capabilities::Capabilities;
use super::changes::replaced_files;
use super::history::{VersionTimes, by_number, newest};
use super::metrics::ShareOperation;
use super::query_request::{QueryRequest, refresh_token};
use super::signed_files::AddressBook;
use super::statistics::statistics_text;
use super::{document, hints, list, table_path};
use crate::ShareState;

/// `HEAD /shares/{share}/schemas/{schema}/tables/{table}`, the deprecated form of the version, and
/// the table's entry for GET.
pub(super) async fn show(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::TableVersion);
    let dataset = table_path::table(&app, request.uri())?;
    let body = match *request.method() {
        Method::HEAD => Response::new(Body::empty()),
        _ => document(&json!({"table": list::entry(&app, &dataset)}))?,
    };
    Ok(with_version(body, newest(&dataset)?.version))
}

/// `GET …/version`.
pub(super) async fn version(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::TableVersion);
    let dataset = table_path::table(&app, request.uri())?;
    let pairs = parse_pairs(request.uri().query().unwrap_or_default());
    let version = match instant(&pairs, "startingTimestamp")? {
        Some(at) => VersionTimes::around(&app, &dataset, at).await?.first_from(at)?,
        None => newest(&dataset)?.version,
    };
    let mut response = Response::new(Body::empty());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(with_version(response, version))
}

/// `GET …/metadata`.
pub(super) async fn metadata(
    State(app): State<Arc<ShareState>>,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::TableMetadata);
    let mut capabilities = Capabilities::parse(request.headers())?;
    // There is no stream of files to end.
    capabilities.end_stream_action = false;
    let dataset = table_path::table(&app, request.uri())?;
    let pairs = parse_pairs(request.uri().query().unwrap_or_default());
    let summary = match (number(&pairs, "version")?, instant(&pairs, "timestamp")?) {
        (Some(version), None) => by_number(&dataset, version)?.clone(),
        (None, Some(at)) => {
            VersionTimes::around(&app, &dataset, at).await?.retained_at(at)?.clone()
        }
        (None, None) => newest(&dataset)?.clone(),
        (Some(_), Some(_)) => return Err(both("version", "timestamp")),
    };
    let snapshot = shared_snapshot(&app, &dataset, &summary).await?;
    let mut lines = ActionLines::new(capabilities.format);
    lines.metadata(&describe(&app, &dataset, &snapshot, summary.version));
    Ok(respond(lines, &capabilities, summary.version))
}

/// `POST …/query`.
pub(super) async fn query(
    State(app): State<Arc<ShareState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::TableQuery);
    let (parts, body) = request.into_parts();
    let capabilities = Capabilities::parse(&parts.headers)?;
    let dataset = table_path::table(&app, &parts.uri)?;
    let query = QueryRequest::read(body).await?;
    let addresses = AddressBook::new(&app, &auth, &parts);
    if let Some(first) = query.starting_version {
        let last = match query.ending_version {
            Some(last) => last,
            None => newest(&dataset)?.version,
        };
        return replaced_files(&app, &dataset, &capabilities, &addresses, first..=last).await;
    }
    let summary = match (&query.version, &query.timestamp) {
        (Some(version), _) => by_number(&dataset, *version)?.clone(),
        (None, Some(text)) => {
            let at = parse_instant("timestamp", text)?;
            VersionTimes::around(&app, &dataset, at).await?.retained_at(at)?.clone()
        }
        (None, None) => newest(&dataset)?.clone(),
    };
    let snapshot = shared_snapshot(&app, &dataset, &summary).await?;
    let statistics = app.core.reader.statistics(&snapshot).await?;
    let mut lines = ActionLines::new(capabilities.format);
    lines.metadata(&describe(&app, &dataset, &snapshot, summary.version));
    let (sql, tree) = (query.sql_hints(), query.json_predicate_hints.as_deref());
    let is_sent = !query.has_predicates() || hints::may_match(&statistics, sql, tree);
    if is_sent {
        lines.file(&FileAction {
            kind: FileKind::Data,
            file: &snapshot.file,
            url: addresses.url(&snapshot.file).await?,
            version: summary.version,
            timestamp: summary.created_at,
            expires: addresses.expires,
            stats: Some(statistics_text(&statistics)),
        });
    }
    if capabilities.end_stream_action {
        let token = query.wants_refresh_token().then(|| refresh_token(summary.version));
        lines.end(is_sent.then_some(addresses.expires), token);
    }
    Ok(respond(lines, &capabilities, summary.version))
}
