//! The history of a dataset as far back as it is known without a gap (contract-21-revisions). Never
//! reads a stored file.

use std::collections::BTreeMap;

use yearbook_domain::changes::HistorySegment;
use yearbook_domain::{CreditLine, DatasetName, Millis, Snapshot};

use super::past_versions::{
    ReadableRow, have_same_columns, next_changes, past_by_number, readable,
};
use super::snapshots;
use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// The known history of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownHistory {
    /// Its parts, oldest first; never none.
    pub segments: Vec<HistorySegment>,
    /// Credit lines of its versions, oldest first, and whether their licences forbid to pass
    /// changed rows on.
    pub credits: Vec<(CreditLine, bool)>,
    /// Times of its versions.
    pub times: BTreeMap<u64, Millis>,
}

impl Catalog {
    /// Reads the history of a dataset up to its version `newest`, as far back as it is known
    /// without a gap; `None` where it has no version.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn known_history(
        &self,
        dataset: &DatasetName,
        newest: u64,
    ) -> Result<Option<KnownHistory>, CatalogError> {
        transaction!(self, "read the history", Read, |connection| {
            known_history(connection, dataset, newest)
        })
    }

    /// Reads the words of a version by its number; `None` where it is not known any more.
    ///
    /// # Errors
    /// As [`Catalog::version_at`].
    pub async fn version_words(
        &self,
        dataset: &DatasetName,
        version: u64,
    ) -> Result<Option<Snapshot>, CatalogError> {
        transaction!(self, "read a version", Read, |connection| async {
            let version = encode_u64(version)?;
            let versions = readable(connection, dataset).await?;
            match versions.iter().find(|row| row.version == version) {
                Some(row) => words_of(connection, dataset, row).await.map(Some),
                None => Ok(None),
            }
        })
    }
}

/// Reads the versions up to `newest` that follow each other without a gap.
async fn known_history(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    newest: u64,
) -> Result<Option<KnownHistory>, sqlx::Error> {
    let mut versions = readable(connection, dataset).await?;
    versions.retain(|version| u64::try_from(version.version).is_ok_and(|own| own <= newest));
    let gap = versions.windows(2).rposition(|pair| match pair {
        [version, next] => next.version != version.version + 1,
        _ => false,
    });
    let known = versions.split_off(gap.map_or(0, |gap| gap + 1));
    let place = RowContext { table: "past_versions", row: dataset.as_str() };
    let mut history =
        KnownHistory { segments: Vec::new(), credits: Vec::new(), times: BTreeMap::new() };
    let mut first = None;
    let mut changes = Vec::new();
    for (index, row) in known.iter().enumerate() {
        let version = place.count("version", row.version)?;
        history.times.insert(version, Millis(row.created_at));
        let first_version = *first.get_or_insert(version);
        let next = match known.get(index + 1) {
            Some(_) => next_changes(connection, dataset, row.number).await?,
            None => None,
        };
        let snapshot = words_of(connection, dataset, row).await?;
        history.credits.push(((&snapshot.credit).into(), snapshot.forbids_derivatives()));
        match next {
            Some((_, set)) if have_same_columns(&set.columns, &snapshot.columns) => {
                changes.push(set)
            }
            // Other columns begin with the next version, or what changed is not known.
            _ => {
                let changes = std::mem::take(&mut changes);
                history.segments.push(HistorySegment {
                    first: first_version,
                    last: snapshot,
                    changes,
                });
                first = None;
            }
        }
    }
    Ok((!history.segments.is_empty()).then_some(history))
}

async fn words_of(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    row: &ReadableRow,
) -> Result<Snapshot, sqlx::Error> {
    let found = match row.past {
        0 => snapshots::by_number(connection, row.number).await?,
        _ => past_by_number(connection, dataset, row.number).await?.map(|past| past.snapshot),
    };
    found.ok_or(sqlx::Error::RowNotFound)
}
