//! Columns in which rows were revised: what each column had before the updates and has after them
//! is hashed, in the order of the file of changes, so that nothing is held.

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use sha2::{Digest as _, Sha256};
use yearbook_domain::Column;
use yearbook_scan::schema::unchecked_schema;
use yearbook_sort::KeyEncoder;

use super::row_fates::ChangeType;

/// Finder of the columns in which rows were revised.
pub(super) struct ColumnRevisions {
    names: Vec<String>,
    /// Positions of the primary key.
    key: Vec<usize>,
    encoders: Vec<KeyEncoder>,
    /// Hashes of each column before and after the updates.
    hashes: [Vec<Sha256>; 2],
}

impl ColumnRevisions {
    /// For rows with these columns, whose primary key stands at the positions `key`.
    pub(super) fn new(columns: &[Column], key: &[usize]) -> Result<Self, ArrowError> {
        let schema = unchecked_schema(columns);
        let encoder = |column| KeyEncoder::new(&schema, &[column]);
        Ok(Self {
            names: columns.iter().map(|column| column.name.clone()).collect(),
            key: key.to_vec(),
            encoders: (0..columns.len()).map(encoder).collect::<Result<_, _>>()?,
            hashes: [vec![Sha256::new(); columns.len()], vec![Sha256::new(); columns.len()]],
        })
    }

    /// Takes rows before or after their update.
    pub(super) fn update(
        &mut self,
        kind: ChangeType,
        updates: &RecordBatch,
    ) -> Result<(), ArrowError> {
        let [before, after] = &mut self.hashes;
        let hashes = if kind == ChangeType::Preimage { before } else { after };
        for (encoder, hash) in self.encoders.iter().zip(hashes) {
            let rows = encoder.encode(updates)?;
            rows.iter().flatten().for_each(|value| hash.update(value));
        }
        Ok(())
    }

    /// The names of the columns, as JSON. Where the rows have changed places, which their key
    /// tells, no two of them are the same row: then it is all columns.
    pub(super) fn finish(self) -> String {
        let [before, after] = self.hashes.map(|hashes| {
            hashes.into_iter().map(|hash| hash.finalize().to_vec()).collect::<Vec<_>>()
        });
        let is_revised = |column: &usize| before[*column] != after[*column];
        let have_moved = self.key.iter().any(is_revised);
        let revised = (0..self.names.len()).filter(|column| have_moved || is_revised(column));
        let names: Vec<&str> = revised.map(|column| self.names[column].as_str()).collect();
        serde_json::json!(names).to_string()
    }
}
