//! One table: version, metadata, files of a version, changes (contract-12-routes). Each handler is
//! one line from the names to the text; the rules stand in the modules beside.

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method};
use serde_json::json;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::query::{last_value, parse_pairs};
use yearbook_domain::{Dataset, Millis, Snapshot, SnapshotSummary};

use super::actions::{ActionLines, FileAction, FileKind, NDJSON, TableMetadata};
use super::capabilities::{Capabilities, TABLE_VERSION};
use super::history::{TableHistory, by_number, newest};
use super::metrics::ShareOperation;
use super::query_request::{QueryRequest, refresh_token};
use super::signed_files::AddressBook;
use super::statistics::statistics_text;
use super::{ShareRefusal, document, hints, identifier, list, schema, table_path};
use crate::error::Error;
use crate::request::Authenticated;
use crate::state::AppState;

/// Versions that one answer about changes covers at most: what bounds its text.
const MAX_VERSIONS: u64 = 1_000;

/// `HEAD /shares/{share}/schemas/{schema}/tables/{table}`, the deprecated form of the version, and
/// the table's entry for GET.
pub(super) async fn show(State(app): State<AppState>, request: Request) -> Result<Response, Error> {
    app.share.metrics.count(ShareOperation::TableVersion);
    let dataset = table_path::table(&app, request.uri())?;
    let body = match *request.method() {
        Method::HEAD => Response::new(Body::empty()),
        _ => document(&json!({"table": list::entry(&app, &dataset)}))?,
    };
    Ok(with_version(body, newest(&dataset)?.version))
}

/// `GET …/version`.
pub(super) async fn version(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Error> {
    app.share.metrics.count(ShareOperation::TableVersion);
    let dataset = table_path::table(&app, request.uri())?;
    let pairs = parse_pairs(request.uri().query().unwrap_or_default());
    let version = match instant(&pairs, "startingTimestamp")? {
        Some(at) => TableHistory::load(&app, &dataset).await?.first_from(at)?,
        None => newest(&dataset)?.version,
    };
    let mut response = Response::new(Body::empty());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(with_version(response, version))
}

/// `GET …/metadata`.
pub(super) async fn metadata(
    State(app): State<AppState>,
    request: Request,
) -> Result<Response, Error> {
    app.share.metrics.count(ShareOperation::TableMetadata);
    let mut capabilities = Capabilities::parse(request.headers())?;
    // There is no stream of files to end.
    capabilities.end_stream_action = false;
    let dataset = table_path::table(&app, request.uri())?;
    let pairs = parse_pairs(request.uri().query().unwrap_or_default());
    let summary = match (number(&pairs, "version")?, instant(&pairs, "timestamp")?) {
        (Some(version), None) => by_number(&dataset, version)?.clone(),
        (None, Some(at)) => TableHistory::load(&app, &dataset).await?.at(at)?.clone(),
        (None, None) => newest(&dataset)?.clone(),
        (Some(_), Some(_)) => return Err(both("version", "timestamp")),
    };
    let snapshot = shared_snapshot(&app, &dataset, &summary).await?;
    let mut lines = ActionLines::new(capabilities.format);
    lines.metadata(&described(&app, &dataset, &snapshot, summary.version));
    Ok(answer(lines, &capabilities, summary.version))
}

/// `POST …/query`.
pub(super) async fn query(
    State(app): State<AppState>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    app.share.metrics.count(ShareOperation::TableQuery);
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
            TableHistory::load(&app, &dataset).await?.at(at)?.clone()
        }
        (None, None) => newest(&dataset)?.clone(),
    };
    let snapshot = shared_snapshot(&app, &dataset, &summary).await?;
    let statistics = app.reader.statistics(&snapshot).await?;
    let mut lines = ActionLines::new(capabilities.format);
    lines.metadata(&described(&app, &dataset, &snapshot, summary.version));
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
    Ok(answer(lines, &capabilities, summary.version))
}

/// Files as they came and went in `versions`: each version replaces the one file of the version
/// before.
async fn replaced_files(
    app: &AppState,
    dataset: &Arc<Dataset>,
    capabilities: &Capabilities,
    addresses: &AddressBook<'_>,
    versions: RangeInclusive<u64>,
) -> Result<Response, Error> {
    let (first, last) = (*versions.start(), *versions.end());
    check_range(first, last)?;
    let end = by_number(dataset, last)?.clone();
    let newest_snapshot = shared_snapshot(app, dataset, &end).await?;
    let mut lines = ActionLines::new(capabilities.format);
    lines.metadata(&TableMetadata {
        bytes: None,
        ..described(app, dataset, &newest_snapshot, first)
    });
    let mut before = match first.checked_sub(1) {
        Some(before) => Some(retained(app, dataset, before).await?.1),
        None => None,
    };
    for version in versions {
        let (summary, snapshot) = retained(app, dataset, version).await?;
        let removed = before.replace(Arc::clone(&snapshot));
        let files = [(FileKind::Remove, removed), (FileKind::Add, Some(snapshot))];
        for (kind, snapshot) in files {
            let Some(snapshot) = snapshot else { continue };
            lines.file(&FileAction {
                kind,
                file: &snapshot.file,
                url: addresses.url(&snapshot.file).await?,
                version,
                timestamp: summary.created_at,
                expires: addresses.expires,
                stats: None,
            });
        }
    }
    if capabilities.end_stream_action {
        lines.end(Some(addresses.expires), None);
    }
    Ok(answer(lines, capabilities, first))
}

async fn retained(
    app: &AppState,
    dataset: &Dataset,
    version: u64,
) -> Result<(SnapshotSummary, Arc<Snapshot>), Error> {
    let summary = by_number(dataset, version)?.clone();
    let snapshot = shared_snapshot(app, dataset, &summary).await?;
    Ok((summary, snapshot))
}

/// `GET …/changes`.
pub(super) async fn changes(
    State(app): State<AppState>,
    auth: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    app.share.metrics.count(ShareOperation::TableChanges);
    let (parts, _) = request.into_parts();
    let capabilities = Capabilities::parse(&parts.headers)?;
    let dataset = table_path::table(&app, &parts.uri)?;
    let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
    let history = TableHistory::load(&app, &dataset).await?;
    let versions = change_range(&dataset, &history, &pairs)?;
    let sets = history.changes(&versions)?;
    let first = match *versions.start() {
        0 => Some(retained(&app, &dataset, 0).await?),
        _ => None,
    };
    check_licences(&app, &dataset, sets).await?;
    let columns = sets.last().map(|set| &set.columns);
    let columns = columns.or(first.as_ref().map(|(_, snapshot)| &snapshot.columns));
    let mut lines = ActionLines::new(capabilities.format);
    let current = &dataset.current;
    lines.metadata(&TableMetadata {
        schema: schema::schema_string(columns.unwrap_or(&current.columns)),
        bytes: None,
        ..described(&app, &dataset, current, *versions.start())
    });
    let addresses = AddressBook::new(&app, &auth, &parts);
    let mut is_empty = true;
    if let Some((summary, snapshot)) = first.filter(|(_, snapshot)| snapshot.rows > 0) {
        is_empty = false;
        let stats = app.reader.statistics(&snapshot).await?;
        lines.file(&FileAction {
            kind: FileKind::Add,
            file: &snapshot.file,
            url: addresses.url(&snapshot.file).await?,
            version: 0,
            timestamp: summary.created_at,
            expires: addresses.expires,
            stats: Some(statistics_text(&stats)),
        });
    }
    // A file without rows would say nothing, and has no types for some clients.
    for set in sets.iter().filter(|set| set.rows > 0) {
        is_empty = false;
        lines.file(&FileAction {
            kind: FileKind::Change,
            file: &set.file,
            url: addresses.url(&set.file).await?,
            version: set.version,
            timestamp: set.committed_at,
            expires: addresses.expires,
            stats: None,
        });
    }
    if capabilities.end_stream_action {
        lines.end((!is_empty).then_some(addresses.expires), None);
    }
    Ok(answer(lines, &capabilities, *versions.start()))
}

/// The versions that a client asks changes of, both ends included.
fn change_range(
    dataset: &Dataset,
    history: &TableHistory<'_>,
    pairs: &[(String, String)],
) -> Result<RangeInclusive<u64>, Error> {
    let first = match (number(pairs, "startingVersion")?, instant(pairs, "startingTimestamp")?) {
        (Some(version), None) => version,
        (None, Some(at)) => history.first_from(at)?,
        (Some(_), Some(_)) => return Err(both("startingVersion", "startingTimestamp")),
        (None, None) => {
            let sentence = "startingVersion is missing; send it, or startingTimestamp.";
            return Err(ShareRefusal::InvalidParameter(sentence.to_owned()).into());
        }
    };
    let last = match (number(pairs, "endingVersion")?, instant(pairs, "endingTimestamp")?) {
        (Some(version), None) => version,
        (None, Some(at)) => {
            // Later than the newest version means up to it: nothing came since.
            if at > newest(dataset)?.created_at {
                let time = newest(dataset)?.created_at.to_rfc3339();
                let sentence = format!("The newest version is of {time}; ask for no later time.");
                return Err(ShareRefusal::InvalidParameter(sentence).into());
            }
            history.last_until(at)?
        }
        (Some(_), Some(_)) => return Err(both("endingVersion", "endingTimestamp")),
        (None, None) => newest(dataset)?.version,
    };
    check_range(first, last)?;
    Ok(first..=last)
}

fn check_range(first: u64, last: u64) -> Result<(), Error> {
    if last.saturating_sub(first) < MAX_VERSIONS && first <= last {
        return Ok(());
    }
    let sentence = format!(
        "The versions {first} to {last} are no range of 1 to {MAX_VERSIONS} versions; ask for others, or for fewer at a time."
    );
    Err(ShareRefusal::InvalidParameter(sentence).into())
}

/// Checks that no version whose rows are in `sets` is under a licence that forbids it.
///
/// # Errors
/// 403 where one is.
async fn check_licences(
    app: &AppState,
    dataset: &Dataset,
    sets: &[ChangeSet],
) -> Result<(), Error> {
    let from = sets.first().map(|set| &set.from);
    for id in from.into_iter().chain(sets.iter().map(|set| &set.to)) {
        // Of a snapshot that an older version dropped nothing is known but what is current.
        let cited = app.live.cited_snapshot(&dataset.name, id).await?;
        if cited.is_some_and(|cited| !cited.snapshot.bulk_redistribution) {
            return Err(ShareRefusal::LicenceForbidden.into());
        }
    }
    Ok(())
}

/// The snapshot of a version.
///
/// # Errors
/// 403 where its licence forbids to hand it on; 400 where it was dropped a moment ago.
async fn shared_snapshot(
    app: &AppState,
    dataset: &Dataset,
    summary: &SnapshotSummary,
) -> Result<Arc<Snapshot>, Error> {
    let Some(snapshot) = app.live.snapshot(dataset, &summary.id).await? else {
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

fn described<'a>(
    app: &AppState,
    dataset: &'a Dataset,
    snapshot: &'a Snapshot,
    version: u64,
) -> TableMetadata<'a> {
    let share = app.settings.share.name.as_str();
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

fn answer(lines: ActionLines, capabilities: &Capabilities, version: u64) -> Response {
    let mut response = Response::new(Body::from(lines.into_text()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    // Addresses of files are of one recipient and end.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    capabilities.write(headers);
    with_version(response, version)
}

fn with_version(mut response: Response, version: u64) -> Response {
    response.headers_mut().insert(TABLE_VERSION, HeaderValue::from(version));
    response
}

fn number(pairs: &[(String, String)], name: &str) -> Result<Option<u64>, Error> {
    let Some(text) = last_value(pairs, name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        let sentence = format!("{name} is not a number from 0 on.");
        ShareRefusal::InvalidParameter(sentence).into()
    })
}

fn instant(pairs: &[(String, String)], name: &str) -> Result<Option<Millis>, Error> {
    let text = last_value(pairs, name).filter(|text| !text.is_empty());
    text.map(|text| parse_instant(name, text)).transpose()
}

fn parse_instant(name: &str, text: &str) -> Result<Millis, Error> {
    Millis::parse_iso8601(text).ok_or_else(|| {
        let sentence = format!("{name} is not an instant like 2026-11-21T09:13:00Z.");
        ShareRefusal::InvalidParameter(sentence).into()
    })
}

fn both(one: &str, other: &str) -> Error {
    let sentence = format!("{one} and {other} exclude each other; send one.");
    ShareRefusal::InvalidParameter(sentence).into()
}
