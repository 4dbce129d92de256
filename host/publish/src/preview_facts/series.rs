//! Series distinguished and counted, and the choice of those that are drawn
//! (contract-9-long-preview).

use std::collections::HashMap;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::row::Rows;
use yearbook_domain::preview_facts::MAX_DRAWN_SERIES;

use super::figures::NumberColumn;
use super::table_shape::TableShape;
use crate::sort::KeyEncoder;

/// Bytes that the series of one table may take while they are counted: more than a million series
/// of usual names. Of further ones only the number is lost.
pub(super) const MAX_TRACKED_BYTES: usize = 128 << 20;

/// Bytes of a series besides its key and its counts.
const ENTRY_BYTES: usize = 96;

/// The values of a key as texts; `None` if null.
pub(super) fn key_texts(keys: &KeyEncoder, key: &[u8]) -> Result<Vec<Option<String>>, ArrowError> {
    let text = |column: &ArrayRef| {
        let texts = cast(column, &DataType::Utf8)?;
        Ok(texts.as_string::<i32>().iter().next().flatten().map(str::to_owned))
    };
    keys.decode(key)?.iter().map(text).collect()
}

/// Rows of one key, and the finite values among them, a number a value column.
#[derive(Clone, Debug)]
struct SeriesCount {
    rows: u64,
    points: Box<[u64]>,
}

/// Series of a table, being counted.
pub(super) struct SeriesCounter {
    keys: KeyEncoder,
    counts: HashMap<Box<[u8]>, SeriesCount>,
    tracked_bytes: usize,
    is_full: bool,
}

/// A series that is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChosenSeries {
    pub(super) key: Box<[u8]>,
    /// Index of the value column among the value columns.
    pub(super) value: usize,
    pub(super) rows: u64,
    pub(super) points: u64,
}

impl SeriesCounter {
    pub(super) fn new(shape: &TableShape) -> Result<Self, ArrowError> {
        Ok(Self {
            keys: KeyEncoder::of_types(shape.key_types(), shape.key.clone())?,
            counts: HashMap::new(),
            tracked_bytes: 0,
            is_full: false,
        })
    }

    /// Takes in the next rows, whose value columns are `values`. Returns their keys; `None` where
    /// a key has no columns.
    pub(super) fn update(
        &mut self,
        batch: &RecordBatch,
        values: &[NumberColumn<'_>],
    ) -> Result<Option<Rows>, ArrowError> {
        let rows = self.keys.encode(batch)?;
        for row in 0..batch.num_rows() {
            let key = rows.as_ref().map(|rows| rows.row(row));
            let Some(count) =
                self.entry(key.as_ref().map_or(&[], |key| key.as_ref()), values.len())
            else {
                continue;
            };
            count.rows += 1;
            for (points, value) in count.points.iter_mut().zip(values) {
                *points += u64::from(value.cell(row).figure().is_some());
            }
        }
        Ok(rows)
    }

    /// The count of a key; `None` for a new one where no more are tracked.
    fn entry(&mut self, key: &[u8], values: usize) -> Option<&mut SeriesCount> {
        if !self.counts.contains_key(key) {
            self.tracked_bytes += key.len() + values * size_of::<u64>() + ENTRY_BYTES;
            self.is_full |= self.tracked_bytes > MAX_TRACKED_BYTES;
            if self.is_full {
                return None;
            }
            let count = SeriesCount { rows: 0, points: vec![0; values].into() };
            self.counts.insert(key.into(), count);
        }
        self.counts.get_mut(key)
    }

    /// Number of keys, and false where there were more than are tracked.
    pub(super) fn count(&self) -> (u64, bool) {
        (self.counts.len() as u64, !self.is_full)
    }

    /// The series with the most points, ties by the bytes of their keys, then by column.
    pub(super) fn choose(self) -> Vec<ChosenSeries> {
        let mut chosen: Vec<ChosenSeries> = Vec::with_capacity(2 * MAX_DRAWN_SERIES);
        for (key, SeriesCount { rows, points }) in self.counts {
            for (value, points) in
                points.iter().copied().enumerate().filter(|(_, points)| *points > 0)
            {
                chosen.push(ChosenSeries { key: key.clone(), value, rows, points });
                if chosen.len() == 2 * MAX_DRAWN_SERIES {
                    keep_first(&mut chosen);
                }
            }
        }
        keep_first(&mut chosen);
        chosen
    }
}

fn keep_first(chosen: &mut Vec<ChosenSeries>) {
    chosen.sort_unstable_by(|left, right| {
        let by_points = right.points.cmp(&left.points);
        by_points.then_with(|| (&left.key, left.value).cmp(&(&right.key, right.value)))
    });
    chosen.truncate(MAX_DRAWN_SERIES);
}
