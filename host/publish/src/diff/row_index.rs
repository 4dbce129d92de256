//! Fate of each row: an index of the newer snapshot, asked row by row of the older one.

use std::collections::HashMap;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use sha2::{Digest, Sha256};

use yearbook_storage::StorageFailure;

/// Kind of a change, in Delta's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeType {
    Insert,
    Preimage,
    Postimage,
    Delete,
}

impl ChangeType {
    /// The value of `_change_type`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Preimage => "update_preimage",
            Self::Postimage => "update_postimage",
            Self::Delete => "delete",
        }
    }
}

/// A row of a batch that changed.
pub(super) type ChangedRow = (u32, ChangeType);

/// The rows of the newer snapshot, by what they contain. Rows are told apart by 128 bits of SHA-256
/// over Arrow's row format, in which different values never have the same bytes: null is not the
/// empty string, -0.0 not 0.0.
pub(super) struct RowIndex {
    rows: RowHasher,
    rule: Rule,
    /// Rows of the newer snapshot seen by [`RowIndex::classify_new`].
    at: usize,
}

enum Rule {
    /// One row a key.
    Keyed {
        keys: RowHasher,
        /// Position of the row with this key.
        places: HashMap<u128, u32>,
        /// Content of each row.
        contents: Vec<u128>,
        states: Vec<State>,
    },
    /// Number of each row not yet accounted for.
    Whole { counts: HashMap<u128, u64> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Same,
    Updated,
}

impl RowIndex {
    /// Empty, for rows of `schema`; `key` are positions of the primary key, none of them: rows are
    /// compared whole.
    pub(super) fn new(schema: &SchemaRef, key: Vec<usize>) -> Result<Self, StorageFailure> {
        let failed = |error: ArrowError| StorageFailure::Mismatch {
            what: "a comparison of snapshots".to_owned(),
            why: error.to_string(),
        };
        let rows = RowHasher::new(schema, (0..schema.fields().len()).collect()).map_err(failed)?;
        let rule = if key.is_empty() {
            Rule::Whole { counts: HashMap::new() }
        } else {
            let keys = RowHasher::new(schema, key).map_err(failed)?;
            Rule::Keyed { keys, places: HashMap::new(), contents: Vec::new(), states: Vec::new() }
        };
        Ok(Self { rows, rule, at: 0 })
    }

    /// Takes in the next rows of the newer snapshot.
    pub(super) fn insert(mut self, batch: &RecordBatch) -> Result<Self, ArrowError> {
        let rows = self.rows.hash_rows(batch)?;
        match &mut self.rule {
            Rule::Keyed { keys, places, contents, states } => {
                for key in keys.hash_rows(batch)? {
                    let place = u32::try_from(places.len()).map_err(|_| overflow())?;
                    places.insert(key, place);
                }
                contents.extend(rows);
                states.resize(contents.len(), State::New);
            }
            Rule::Whole { counts } => {
                rows.into_iter().for_each(|row| *counts.entry(row).or_default() += 1)
            }
        }
        Ok(self)
    }

    /// Changes of the next rows of the older snapshot.
    pub(super) fn classify_old(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<Vec<ChangedRow>, ArrowError> {
        let rows = self.rows.hash_rows(batch)?;
        let mut found = Vec::new();
        match &mut self.rule {
            Rule::Keyed { keys, places, contents, states } => {
                for (row, (key, content)) in
                    (0_u32..).zip(keys.hash_rows(batch)?.into_iter().zip(rows))
                {
                    let place = places.get(&key).map(|place| *place as usize);
                    match place
                        .and_then(|place| Some((contents.get(place)?, states.get_mut(place)?)))
                    {
                        None => found.push((row, ChangeType::Delete)),
                        Some((now, state)) if *now == content => *state = State::Same,
                        Some((_, state)) => {
                            *state = State::Updated;
                            found.push((row, ChangeType::Preimage));
                        }
                    }
                }
            }
            Rule::Whole { counts } => {
                found.extend(
                    (0_u32..)
                        .zip(rows)
                        .filter(|(_, row)| !take_one(counts, row))
                        .map(|(row, _)| (row, ChangeType::Delete)),
                );
            }
        }
        Ok(found)
    }

    /// Changes of the next rows of the newer snapshot, once all of the older one have been seen.
    pub(super) fn classify_new(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<Vec<ChangedRow>, ArrowError> {
        let first = self.at;
        self.at += batch.num_rows();
        match &mut self.rule {
            Rule::Keyed { states, .. } => {
                let kinds =
                    states.get(first..self.at).unwrap_or_default().iter().map(
                        |state| match state {
                            State::New => Some(ChangeType::Insert),
                            State::Same => None,
                            State::Updated => Some(ChangeType::Postimage),
                        },
                    );
                Ok((0_u32..).zip(kinds).filter_map(|(row, kind)| Some((row, kind?))).collect())
            }
            Rule::Whole { counts } => {
                let rows = self.rows.hash_rows(batch)?;
                Ok((0_u32..)
                    .zip(rows)
                    .filter(|(_, row)| take_one(counts, row))
                    .map(|(row, _)| (row, ChangeType::Insert))
                    .collect())
            }
        }
    }
}

/// Takes one of `row`, if one is left; returns whether there was one.
fn take_one(counts: &mut HashMap<u128, u64>, row: &u128) -> bool {
    match counts.get_mut(row) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

/// Fingerprints of some columns of rows.
struct RowHasher {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl RowHasher {
    fn new(schema: &SchemaRef, columns: Vec<usize>) -> Result<Self, ArrowError> {
        let types: Vec<DataType> = columns
            .iter()
            .filter_map(|column| schema.fields().get(*column))
            .map(|f| f.data_type().clone())
            .collect();
        Ok(Self {
            converter: RowConverter::new(types.into_iter().map(SortField::new).collect())?,
            columns,
        })
    }

    fn hash_rows(&self, batch: &RecordBatch) -> Result<Vec<u128>, ArrowError> {
        let arrays: Vec<ArrayRef> = self
            .columns
            .iter()
            .filter_map(|column| batch.columns().get(*column).cloned())
            .collect();
        let rows = self.converter.convert_columns(&arrays)?;
        let print = |row: arrow::row::Row<'_>| {
            let digest = Sha256::digest(row.as_ref());
            digest
                .iter()
                .take(size_of::<u128>())
                .fold(0_u128, |print, byte| print << 8 | u128::from(*byte))
        };
        Ok(rows.iter().map(print).collect())
    }
}

fn overflow() -> ArrowError {
    ArrowError::ComputeError("a snapshot has more rows than a u32 counts".to_owned())
}
