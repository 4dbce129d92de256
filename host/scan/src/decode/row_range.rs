//! Read tasks: how much of a file is fetched and decoded at a time.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::UInt32Array;
use arrow::buffer::BooleanBuffer;

use super::footer::ParquetFile;

/// Neighbouring rows of one row group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowRange {
    /// The row group.
    pub(crate) group: usize,
    /// Rows, counted within the row group.
    pub(crate) rows: Range<usize>,
    /// One bit for each of `rows`, set for those to read; `None` for all.
    pub(crate) wanted: Option<BooleanBuffer>,
}

impl RowRange {
    /// Returns the wanted rows, counted within the row group.
    pub(crate) fn wanted_places(&self) -> UInt32Array {
        let place = |row: usize| u32::try_from(self.rows.start + row).unwrap_or(u32::MAX);
        match &self.wanted {
            Some(wanted) => wanted.set_indices().map(place).collect(),
            None => (0..self.rows.len()).map(place).collect(),
        }
    }
}

/// Size of a read task. Two at most are in memory for one response: the one being decoded and
/// the one being fetched. Batches end where steps end, so a change here is one of
/// [`crate::BATCHING_VERSION`] too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadTaskLimits {
    /// Compressed bytes, about: a row group that holds more in the columns read is cut into even
    /// spans.
    pub(crate) bytes: u64,
    /// Rows at most: bounds the selection of a step (one bit a row).
    pub(crate) rows: usize,
    /// Bytes of a read task, once decoded and by the averages of its row group, that is decoded at
    /// once and made of kept pages: a hundred boundaries of 40 kB.
    pub(crate) kept_bytes: u64,
    /// The same for a whole scan of long text. Half of what is kept, so that two such tables do not
    /// drive out each other.
    pub(crate) kept_scan_bytes: u64,
}

impl ReadTaskLimits {
    /// The same for a small scan, which takes the pages of a few rows: no row group that publishing
    /// writes has more than twice the default, and so each is one task.
    pub(crate) fn for_small_scan(self) -> Self {
        Self { bytes: self.bytes.saturating_mul(4), ..self }
    }
}

impl Default for ReadTaskLimits {
    fn default() -> Self {
        Self { bytes: 8 << 20, rows: 256 << 10, kept_bytes: 4 << 20, kept_scan_bytes: 32 << 20 }
    }
}

/// Pieces of `rows` in order, none empty. Where ranges begin and end is decided by file and
/// columns, and only trimmed by `rows`.
pub(crate) fn task_ranges(
    limits: ReadTaskLimits,
    parquet: Arc<ParquetFile>,
    leaves: Vec<usize>,
    rows: Range<u64>,
) -> impl Iterator<Item = RowRange> + Send + 'static {
    (0..parquet.metadata.num_row_groups()).flat_map(move |group| {
        let start = parquet.start(group);
        let all = parquet.rows_of(group);
        let local =
            |row: u64| usize::try_from(row.clamp(start, start + all as u64) - start).unwrap_or(all);
        let wanted = local(rows.start)..local(rows.end);
        let span = rows_per_task(limits, &parquet, &leaves, group);
        let spans =
            if wanted.is_empty() { 0..0 } else { wanted.start / span..wanted.end.div_ceil(span) };
        spans.map(move |index| {
            let rows = wanted.start.max(index * span)..wanted.end.min((index + 1) * span);
            RowRange { group, rows, wanted: None }
        })
    })
}

/// Returns whether row group `group` is one read task: then a scan takes it whole.
pub(crate) fn is_one_task(
    limits: ReadTaskLimits,
    parquet: &ParquetFile,
    leaves: &[usize],
    group: usize,
) -> bool {
    rows_per_task(limits, parquet, leaves, group) >= parquet.rows_of(group)
}

/// Rows of an even span of row group `group`.
fn rows_per_task(
    limits: ReadTaskLimits,
    parquet: &ParquetFile,
    leaves: &[usize],
    group: usize,
) -> usize {
    let rows = parquet.rows_of(group);
    let bytes = parquet.compressed_bytes(group, leaves);
    let spans = usize::try_from(bytes.div_ceil(limits.bytes))
        .unwrap_or(usize::MAX)
        .max(rows.div_ceil(limits.rows))
        .max(1);
    rows.div_ceil(spans).max(1)
}
