//! Watermarks (contract-4-changes-since): the id of a snapshot where a client has all of it, a
//! signed position where an answer ended within one.

use yearbook_catalog::SnapshotStatus;
use yearbook_domain::changes::{self, ChangeSet, Watermark};
use yearbook_domain::{CursorPosition, Dataset, Refusal, ValidationError};

use crate::error::Error;
use crate::state::AppState;

/// Characters of a snapshot's id, all of them lower-case hexadecimal.
const ID_CHARACTERS: usize = 32;

/// What `since` says.
pub(super) enum Since {
    /// Nothing: from the oldest snapshot on that changes are known from.
    Oldest,
    /// This snapshot.
    Snapshot(String),
    /// Before a row of a file of changes, named by its digest.
    Within {
        /// The file.
        sha256: String,
        /// First row not yet sent.
        row: u64,
    },
}

/// Reads `since` without asking whether it is still of use.
///
/// # Errors
/// `value_error` for what is neither an id nor a watermark of this dataset.
pub(super) fn read(
    state: &AppState,
    dataset: &Dataset,
    raw: Option<&str>,
) -> Result<Since, ValidationError> {
    let Some(raw) = raw else { return Ok(Since::Oldest) };
    if raw.len() == ID_CHARACTERS
        && raw.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    {
        return Ok(Since::Snapshot(raw.to_owned()));
    }
    match state
        .own()
        .cursors
        .open(raw)
        .filter(|position| position.filters == changes::watermark_fingerprint(&dataset.name))
    {
        Some(CursorPosition { snapshot: sha256, row, .. }) => Ok(Since::Within { sha256, row }),
        None => {
            let sentence = "since is neither a snapshot id nor a watermark of this dataset; \
                            send the value of X-Service-Watermark unchanged, or leave since out";
            Err(ValidationError::value_error("since", sentence, raw))
        }
    }
}

/// Where in `history` a client stands.
///
/// # Errors
/// 404 for a snapshot that never was, 410 when it is no longer known what followed.
pub(super) async fn locate(
    state: &AppState,
    dataset: &Dataset,
    history: &[ChangeSet],
    since: Since,
) -> Result<Watermark, Error> {
    let beginning = Watermark { set: 0, row: 0 };
    let oldest = history.first().map_or(&dataset.current.id, |set| &set.from);
    let gone = || Refusal::WatermarkGone { oldest: oldest.clone() };
    match since {
        Since::Oldest => Ok(beginning),
        Since::Snapshot(id) if history.is_empty() && id == dataset.current.id => Ok(beginning),
        Since::Snapshot(id) => match changes::watermark_after(history, &id) {
            Some(mark) => Ok(mark),
            None => Err(match state.store.snapshot_status(&dataset.name, &id).await? {
                SnapshotStatus::Unknown => Refusal::NoSuchSnapshot { id }.into(),
                SnapshotStatus::Dropped | SnapshotStatus::Retained => gone().into(),
            }),
        },
        Since::Within { sha256, row } => {
            let set = history.iter().rposition(|set| set.file.sha256 == sha256 && row <= set.rows);
            set.map(|set| Watermark { set, row }).ok_or_else(|| gone().into())
        }
    }
}

/// The watermark of `end`.
pub(super) fn watermark(
    state: &AppState,
    dataset: &Dataset,
    history: &[ChangeSet],
    end: Watermark,
) -> String {
    match history.get(end.set) {
        Some(set) if end.row > 0 => {
            let position = CursorPosition {
                snapshot: set.file.sha256.clone(),
                row: end.row,
                filters: changes::watermark_fingerprint(&dataset.name),
            };
            state.own().cursors.encode(&position)
        }
        Some(set) => set.from.clone(),
        None => history.last().map_or(&dataset.current.id, |last| &last.to).clone(),
    }
}
