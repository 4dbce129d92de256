//! The number of series that `first` and `last` tell apart (contract-15-series).

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::row::Rows;
use yearbook_domain::ColumnRole;
use yearbook_domain::read_plan::{MAX_SERIES, PeriodForm, series_positions};
use yearbook_scan::schema::stored_type;

use super::table_shape::TableShape;
use crate::sort::KeyEncoder;

/// Series of a table, being counted: a keyed hash of each is held. Of a million series two share
/// one of the 2^64 in one of forty million tables.
pub(super) struct SeriesNumber {
    /// `None` where previews tell series apart by the same columns.
    keys: Option<KeyEncoder>,
    /// Position of the period codes.
    period: Option<usize>,
    hasher: RandomState,
    seen: HashSet<u64, BuildHasherDefault<HashedAlready>>,
}

/// Hasher of what is a hash.
#[derive(Default)]
struct HashedAlready(u64);

impl Hasher for HashedAlready {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl SeriesNumber {
    /// `None` without a date axis.
    pub(super) fn new(shape: &TableShape) -> Result<Option<Self>, ArrowError> {
        if shape.date.is_none() {
            return Ok(None);
        }
        let columns = &shape.columns;
        let positions = series_positions(columns, &shape.primary_key);
        let column = |position: &usize| columns.get(*position);
        let types: Vec<DataType> = positions
            .iter()
            .filter_map(column)
            .map(|column| stored_type(column.column_type))
            .collect();
        let is_shared = shape.has_series() && positions == shape.key;
        let own = || KeyEncoder::of_types(types.into_iter(), positions);
        let keys = (!is_shared).then(own).transpose()?;
        Ok(Some(Self {
            keys,
            period: columns.iter().position(|column| column.role == ColumnRole::Period),
            hasher: RandomState::new(),
            seen: HashSet::default(),
        }))
    }

    /// Takes in the next rows. `shared` are the keys by which previews tell series apart.
    pub(super) fn update(
        &mut self,
        batch: &RecordBatch,
        shared: Option<&Rows>,
    ) -> Result<(), ArrowError> {
        let own = self.keys.as_ref().map(|keys| keys.encode(batch)).transpose()?;
        let keys = own.as_ref().map_or(shared, Option::as_ref);
        let codes = self.period.and_then(|position| batch.columns().get(position));
        let codes = codes.and_then(|codes| codes.as_string_opt::<i32>());
        for row in 0..batch.num_rows() {
            if self.seen.len() as u64 > MAX_SERIES {
                return Ok(());
            }
            let key = keys.map(|keys| keys.row(row));
            let code = codes.filter(|codes| codes.is_valid(row)).map(|codes| codes.value(row));
            let series = (key.as_ref().map(AsRef::<[u8]>::as_ref), code.map(PeriodForm::of));
            self.seen.insert(self.hasher.hash_one(series));
        }
        Ok(())
    }

    /// Number of series; one more than [`MAX_SERIES`] for any number above.
    pub(super) fn count(&self) -> u64 {
        self.seen.len() as u64
    }
}
