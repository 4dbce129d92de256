//! Uncompressed sizes: of rows, which decide where blocks and row groups are cut, and of keys.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType;

/// Bytes of an encoded value beside its text: a sign of its presence, its own eight bytes or a
/// marker of length, and its share of the row's offset.
const ENCODED_VALUE_BYTES: usize = 10;

/// Sizes of the rows of one batch: text with its offset, eight bytes for everything else.
pub(super) struct BatchSizes {
    /// Bytes of the columns that are not text.
    fixed: usize,
    /// Offsets of the text columns.
    offsets: Vec<OffsetBuffer<i32>>,
}

impl BatchSizes {
    pub(super) fn new(batch: &RecordBatch) -> Self {
        let texts = || batch.columns().iter().filter_map(|array| array.as_string_opt::<i32>());
        let offsets: Vec<OffsetBuffer<i32>> = texts().map(|text| text.offsets().clone()).collect();
        let others = batch.num_columns() - offsets.len();
        Self { fixed: others * size_of::<i64>() + offsets.len() * size_of::<i32>(), offsets }
    }

    /// Size of a row.
    pub(super) fn row(&self, row: usize) -> usize {
        let length = |offsets: &OffsetBuffer<i32>| match offsets.get(row..row + 2) {
            Some([start, end]) => usize::try_from(end - start).unwrap_or_default(),
            _ => 0,
        };
        self.fixed + self.offsets.iter().map(length).sum::<usize>()
    }
}

/// Bytes of the values of `batch`, without those of a larger batch that it is a slice of.
pub(super) fn batch_bytes(batch: &RecordBatch) -> usize {
    let bytes = batch
        .columns()
        .iter()
        .map(|column| column.to_data().get_slice_memory_size().unwrap_or(usize::MAX));
    bytes.fold(0, usize::saturating_add)
}

/// Bytes that the encoded keys of `batch` take at most, with eight bytes a row for its place.
pub(super) fn key_bytes(batch: &RecordBatch, positions: &[usize]) -> usize {
    let rows = batch.num_rows();
    let of_column = |position: &usize| {
        let Some(array) = batch.columns().get(*position) else { return 0 };
        let text = match array.data_type() {
            DataType::Utf8 => {
                let offsets = array.as_string::<i32>().value_offsets();
                let end = |offset: Option<&i32>| offset.copied().unwrap_or(0);
                usize::try_from(end(offsets.last()) - end(offsets.first())).unwrap_or(0)
            }
            _ => 0,
        };
        // Text is padded to eight bytes, and each eight carry one more; long text less.
        text + text / 8 + rows * (ENCODED_VALUE_BYTES + size_of::<u64>())
    };
    positions.iter().map(of_column).sum::<usize>() + rows * 2 * size_of::<u64>()
}
