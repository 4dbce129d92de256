//! Changes of a table: rows by kind, or files as they came and went (contract-12-changes). Never
//! decides which version a number or a time means (`history`).

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::query::{last_value, parse_pairs};
use yearbook_domain::{Column, Dataset, Snapshot, SnapshotSummary};
use yearbook_http::{AuthenticatedCaller, Error};

use super::actions::{ActionLines, FileAction, FileKind, TableMetadata};
use super::answer::{both, describe, instant, number, respond, shared_snapshot, truth};
use super::capabilities::Capabilities;
use super::history::{VersionTimes, by_number, newest, read_changes};
use super::metrics::ShareOperation;
use super::signed_files::AddressBook;
use super::statistics::statistics_text;
use super::{ShareRefusal, schema, table_path};
use crate::ShareState;

/// Versions that one answer about changes covers at most: what bounds its text.
const MAX_VERSIONS: u64 = 1_000;

/// `GET …/changes`.
pub(super) async fn show(
    State(app): State<Arc<ShareState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    app.metrics.count(ShareOperation::TableChanges);
    let (parts, _) = request.into_parts();
    let capabilities = Capabilities::parse(&parts.headers)?;
    let dataset = table_path::table(&app, &parts.uri)?;
    let pairs = parse_pairs(parts.uri.query().unwrap_or_default());
    // Python's client writes `True` for every table, and its kernel refuses a table that has gained
    // a column since; with the newest metadata it reads them all.
    let historical = truth(&pairs, "includeHistoricalMetadata")?
        && last_value(&pairs, "includeHistoricalMetadata") == Some("true");
    let versions = change_range(&app, &dataset, &pairs).await?;
    let sets = read_changes(&app, &dataset, &versions).await?;
    let first = match *versions.start() {
        0 => Some(retained(&app, &dataset, 0).await?),
        _ => None,
    };
    check_licences(&app, &dataset, &sets).await?;
    let mut lines = ActionLines::new(capabilities.format);
    let metadata = |columns: &[Column], version: u64| TableMetadata {
        schema: schema::schema_string(columns),
        bytes: None,
        ..describe(&app, &dataset, &dataset.current, version)
    };
    // Columns of the versions asked for, oldest first.
    let begun = first.as_ref().map(|(_, snapshot)| snapshot.columns.as_slice());
    let shapes: Vec<&[Column]> =
        begun.into_iter().chain(sets.iter().map(|set| set.columns.as_slice())).collect();
    let mut shape = match (historical, shapes.as_slice()) {
        (_, []) => dataset.current.columns.as_slice(),
        (true, [oldest, ..]) => oldest,
        (false, [.., newest]) => {
            check_types(&shapes, newest)?;
            newest
        }
    };
    lines.metadata(&metadata(shape, *versions.start()));
    let addresses = AddressBook::new(&app, &auth, &parts);
    let mut is_empty = true;
    if let Some((summary, snapshot)) = first.as_ref().filter(|(_, snapshot)| snapshot.rows > 0) {
        is_empty = false;
        let stats = app.core.reader.statistics(snapshot).await?;
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
    for set in &sets {
        if historical && set.columns != shape {
            shape = &set.columns;
            lines.metadata(&metadata(shape, set.version));
        }
        if set.rows == 0 {
            continue;
        }
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
    Ok(respond(lines, &capabilities, *versions.start()))
}

/// Checks that every column has the type that it has in the `newest` version: clients read all
/// files by one schema. A column that is missing reads as null.
///
/// # Errors
/// 400 where a type changed.
fn check_types(shapes: &[&[Column]], newest: &[Column]) -> Result<(), Error> {
    for column in newest {
        let changed = shapes
            .iter()
            .copied()
            .flatten()
            .any(|other| other.name == column.name && other.column_type != column.column_type);
        if changed {
            let sentence = format!(
                "Column {} has another type in some of these versions; ask for fewer of them at a time.",
                column.name
            );
            return Err(ShareRefusal::InvalidParameter(sentence).into());
        }
    }
    Ok(())
}

/// The versions that a client asks changes of, both ends included.
async fn change_range(
    app: &ShareState,
    dataset: &Dataset,
    pairs: &[(String, String)],
) -> Result<RangeInclusive<u64>, Error> {
    let first = match (number(pairs, "startingVersion")?, instant(pairs, "startingTimestamp")?) {
        (Some(version), None) => version,
        (None, Some(at)) => VersionTimes::around(app, dataset, at).await?.first_from(at)?,
        (Some(_), Some(_)) => return Err(both("startingVersion", "startingTimestamp")),
        (None, None) => {
            let sentence = "startingVersion is missing; send it, or startingTimestamp.";
            return Err(ShareRefusal::InvalidParameter(sentence.to_owned()).into());
        }
    };
    let last = match (number(pairs, "endingVersion")?, instant(pairs, "endingTimestamp")?) {
        (Some(version), None) => version,
        (None, Some(at)) => VersionTimes::around(app, dataset, at).await?.newest_at(at)?,
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
    app: &ShareState,
    dataset: &Dataset,
    sets: &[ChangeSet],
) -> Result<(), Error> {
    let (Some(first), Some(last)) = (sets.first(), sets.last()) else { return Ok(()) };
    let versions = first.version..=last.version;
    app.core.catalog_cache.settled().await?;
    if app.core.catalog.changes_forbid_bulk(&dataset.name, versions).await? {
        return Err(ShareRefusal::LicenceForbidden.into());
    }
    Ok(())
}

/// Files as they came and went in `versions`: each version replaces the one file of the version
/// before. Metadata stands before the files of each version that has other columns.
pub(super) async fn replaced_files(
    app: &ShareState,
    dataset: &Arc<Dataset>,
    capabilities: &Capabilities,
    addresses: &AddressBook<'_>,
    versions: RangeInclusive<u64>,
) -> Result<Response, Error> {
    let (first, last) = (*versions.start(), *versions.end());
    check_range(first, last)?;
    by_number(dataset, last)?;
    let mut lines = ActionLines::new(capabilities.format);
    let mut before = match first.checked_sub(1) {
        Some(before) => {
            let (_, snapshot) = retained(app, dataset, before).await?;
            let url = addresses.url(&snapshot.file).await?;
            Some((snapshot, url))
        }
        None => None,
    };
    for version in versions {
        let (summary, snapshot) = retained(app, dataset, version).await?;
        // A file is added and, a version later, removed: one address serves both.
        let url = addresses.url(&snapshot.file).await?;
        let removed = before.replace((Arc::clone(&snapshot), url.clone()));
        let has_shape = |(older, _): &(Arc<Snapshot>, String)| older.columns == snapshot.columns;
        if version == first || !removed.as_ref().is_some_and(has_shape) {
            lines.metadata(&TableMetadata {
                bytes: None,
                ..describe(app, dataset, &snapshot, version)
            });
        }
        let files = [(FileKind::Remove, removed), (FileKind::Add, Some((snapshot, url)))];
        for (kind, file) in files {
            let Some((snapshot, url)) = file else { continue };
            lines.file(&FileAction {
                kind,
                file: &snapshot.file,
                url,
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
    Ok(respond(lines, capabilities, first))
}

async fn retained(
    app: &ShareState,
    dataset: &Dataset,
    version: u64,
) -> Result<(SnapshotSummary, Arc<Snapshot>), Error> {
    let summary = by_number(dataset, version)?.clone();
    let snapshot = shared_snapshot(app, dataset, &summary).await?;
    Ok((summary, snapshot))
}
