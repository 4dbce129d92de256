//! Series counted, and the choice of the lines that are drawn (contract-9-long-preview).

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, StringArray};
use arrow::error::ArrowError;
use yearbook_domain::CalendarUnit;
use yearbook_domain::preview_facts::{MAX_DRAWN_SERIES, day_number};

use super::figures::{NumberColumn, date_at};
use super::series_keys::SeriesKeyEncoder;
use super::series_number::SeriesNumber;
use super::table_shape::TableShape;

/// Bytes that the series of one table may take while their points are counted: more than a million
/// series of usual names. Further ones are not drawn.
pub(super) const MAX_TRACKED_BYTES: usize = 128 << 20;

/// Bytes of a series besides its key and its counts.
const ENTRY_BYTES: usize = 96;

/// Rows of one key, and the finite values among them, a number a value column.
#[derive(Clone, Debug)]
struct SeriesCount {
    rows: u64,
    points: Box<[u64]>,
}

/// Series of a table, being counted.
pub(super) struct SeriesCounter {
    keys: SeriesKeyEncoder,
    number: SeriesNumber,
    counts: HashMap<Arc<[u8]>, SeriesCount>,
    tracked_bytes: usize,
    is_full: bool,
    /// Key of the row that is counted.
    key: Vec<u8>,
    /// Date of the row before, and its day.
    date: (String, Option<i32>),
}

/// A series that is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChosenSeries {
    pub(super) key: Arc<[u8]>,
    /// Index of the value column among the value columns.
    pub(super) value: usize,
    pub(super) rows: u64,
    pub(super) points: u64,
}

impl SeriesCounter {
    pub(super) fn new(shape: &TableShape) -> Result<Self, ArrowError> {
        Ok(Self {
            keys: SeriesKeyEncoder::new(shape, shape.key.clone(), shape.period)?,
            number: SeriesNumber::default(),
            counts: HashMap::new(),
            tracked_bytes: 0,
            is_full: false,
            key: Vec::new(),
            date: (String::new(), None),
        })
    }

    /// Takes in the next rows, whose value columns are `values`, with their dates.
    pub(super) fn update(
        &mut self,
        batch: &RecordBatch,
        values: &[NumberColumn<'_>],
        dates: Option<&StringArray>,
    ) -> Result<(), ArrowError> {
        let keys = self.keys.encode(batch)?;
        let mut key = std::mem::take(&mut self.key);
        for row in 0..batch.num_rows() {
            keys.write(row, &mut key);
            let day = date_at(dates, row).and_then(|date| self.day(date));
            self.number.update(&key, day);
            let Some(count) = self.entry(&key, values.len()) else { continue };
            count.rows += 1;
            for (points, value) in count.points.iter_mut().zip(values) {
                *points += u64::from(value.cell(row).figure().is_some());
            }
        }
        self.key = key;
        Ok(())
    }

    /// The count of a key; `None` where there is nothing to draw, and for a new one where no more
    /// are tracked.
    fn entry(&mut self, key: &[u8], values: usize) -> Option<&mut SeriesCount> {
        if values == 0 {
            return None;
        }
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

    /// Day of a date, which is that of the row before in most rows.
    fn day(&mut self, date: &str) -> Option<i32> {
        if self.date.0 != date {
            date.clone_into(&mut self.date.0);
            self.date.1 = day_number(date);
        }
        self.date.1
    }

    /// Unit of the smallest distance of two dates in a series.
    pub(super) fn axis(&self) -> Option<CalendarUnit> {
        self.number.axis()
    }

    /// Number of series.
    pub(super) fn number(&self) -> u64 {
        self.number.count()
    }

    /// The lines to draw of value columns whose units have the numbers `units`: of each unit the
    /// line with the most points, then all others; ties by the bytes of their keys, then by column.
    pub(super) fn choose(self, units: &[usize]) -> Vec<ChosenSeries> {
        let mut by_unit: Vec<Vec<ChosenSeries>> = vec![Vec::new(); units.len()];
        for (key, SeriesCount { rows, points }) in self.counts {
            for (value, points) in
                points.iter().copied().enumerate().filter(|(_, points)| *points > 0)
            {
                let unit = units.get(value).and_then(|unit| by_unit.get_mut(*unit));
                let Some(chosen) = unit else { continue };
                chosen.push(ChosenSeries { key: Arc::clone(&key), value, rows, points });
                if chosen.len() == 2 * MAX_DRAWN_SERIES {
                    keep_first(chosen);
                }
            }
        }
        by_unit.iter_mut().for_each(keep_first);
        let mut others: Vec<ChosenSeries> = Vec::new();
        let mut chosen: Vec<ChosenSeries> = Vec::new();
        for unit in by_unit {
            let mut unit = unit.into_iter();
            chosen.extend(unit.next());
            others.extend(unit);
        }
        keep_first(&mut others);
        chosen.extend(others);
        chosen.truncate(MAX_DRAWN_SERIES);
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
