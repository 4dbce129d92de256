//! Step 4 of contract-1-order: what only the dataset can judge (cursor, columns, options), every
//! problem at once; then whether the snapshot is still kept.

use std::sync::Arc;

use yearbook_catalog::SnapshotStatus;
use yearbook_domain::{
    CursorPosition, Dataset, Refusal, Snapshot, ValidationError, cursor, read_plan,
};
use yearbook_sandbox::OptionValue;

use crate::error::Error;
use crate::extract::DataRequest;
use crate::state::AppState;

/// What a request means for its dataset.
pub(super) struct ResolvedRequest {
    /// The version to read: a cursor's, a pinned one, or the current one.
    pub(super) snapshot: Arc<Snapshot>,
    /// Where to begin.
    pub(super) first_row: u64,
    /// The encoder's options.
    pub(super) options: Vec<OptionValue>,
}

/// Judges `asked` for `dataset`.
///
/// # Errors
/// 422 in the order in which the parameters are declared, then 410 for a snapshot that was, 404 for
/// one that never was.
pub(super) async fn resolve(
    state: &AppState,
    asked: &DataRequest,
    dataset: &Dataset,
) -> Result<ResolvedRequest, Error> {
    let mut problems: Vec<ValidationError> = Vec::new();
    let position = cursor_position(state, asked).unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    let pinned = position
        .as_ref()
        .map(|position| position.snapshot.as_str())
        .or(asked.query.snapshot.as_deref());
    let snapshot = match pinned {
        Some(id) => retained_snapshot(state, dataset, id).await?,
        None => Some(Arc::clone(&dataset.current)),
    };
    // Where the snapshot is gone, its successor judges: a wrong name is more useful to know than a
    // lost version.
    problems.extend(
        read_plan::resolve_projection(
            snapshot.as_deref().unwrap_or(&dataset.current),
            &asked.query,
        )
        .err(),
    );
    let options = asked.options().unwrap_or_else(|found| {
        problems.extend(found);
        Vec::new()
    });
    if !problems.is_empty() {
        return Err(Refusal::InvalidParameters(problems).into());
    }
    let snapshot = match (snapshot, pinned) {
        (Some(snapshot), _) => snapshot,
        // A cursor is signed, so its snapshot was once: the database need not be asked.
        (None, Some(id)) if position.is_some() => {
            return Err(Refusal::SnapshotGone { id: id.to_owned() }.into());
        }
        (None, id) => unlisted_snapshot(state, dataset, id.unwrap_or_default()).await?,
    };
    Ok(ResolvedRequest {
        snapshot,
        first_row: position.map_or(0, |position| position.row),
        options,
    })
}

fn cursor_position(
    state: &AppState,
    asked: &DataRequest,
) -> Result<Option<CursorPosition>, ValidationError> {
    let Some(text) = &asked.query.cursor else { return Ok(None) };
    let position =
        state.own().cursors.open(text).ok_or_else(|| cursor::invalid_cursor(&asked.query))?;
    position.validate_query(&asked.name, &asked.query)?;
    Ok(Some(position))
}

/// The retained snapshot called `id`. The list in memory answers for those that are not, without a
/// query.
async fn retained_snapshot(
    state: &AppState,
    dataset: &Dataset,
    id: &str,
) -> Result<Option<Arc<Snapshot>>, Error> {
    if dataset.snapshots.iter().all(|summary| summary.id != id) {
        return Ok(None);
    }
    Ok(state.live.snapshot(dataset, id).await?)
}

/// The snapshot called `id`, which the list in memory does not have.
///
/// # Errors
/// 410 for one that was dropped, 404 for one that never was.
async fn unlisted_snapshot(
    state: &AppState,
    dataset: &Dataset,
    id: &str,
) -> Result<Arc<Snapshot>, Error> {
    let id = id.to_owned();
    match state.store.snapshot_status(&dataset.name, &id).await? {
        SnapshotStatus::Unknown => Err(Refusal::NoSuchSnapshot { id }.into()),
        SnapshotStatus::Dropped => Err(Refusal::SnapshotGone { id }.into()),
        // It was published a moment ago, and the list in memory does not show it yet.
        SnapshotStatus::Retained => match state.live.snapshot(dataset, &id).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(Refusal::SnapshotGone { id }.into()),
        },
    }
}
