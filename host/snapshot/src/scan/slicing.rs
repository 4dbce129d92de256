//! Slicing: how many rows a batch has. A pure function of file and plan, because bytes of some formats depend on
//! it and entity tags promise the same bytes (contract 3, `ETag`).

use std::ops::Range;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;

use crate::read::{Opened, Projection};

/// Changes whenever the same plan on the same file would be sliced differently; part of every entity tag.
/// [`super::StepLimits`] counts as slicing, and so do the values in a dictionary. 2: a few rows carry only the values
/// that they use, which changes Parquet made of them. 3: columns say what they are for, which Arrow and Parquet pass on.
/// 4: batches of half a mebibyte.
pub const SLICING_VERSION: u32 = 4;

/// Bytes of a batch aimed at, by the averages of its row group: what goes into a guest, what it makes of it and what is
/// taken out stay in a core's own cache together (decision 0156).
const BATCH_BYTES: u64 = 512 << 10;

/// Bytes of a batch at most, unless a single row is larger: what guards against a few huge rows among small ones.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// Rows of a batch at most.
const BATCH_ROWS: u64 = 8192;

/// Rows of a batch out of row group `group`.
pub(super) fn batch_rows(opened: &Opened, projection: &Projection, group: usize) -> usize {
    let rows = u64::try_from(opened.rows_of(group)).unwrap_or(u64::MAX).max(1);
    let bytes: u64 = projection.leaves.iter().map(|&leaf| decoded_bytes(opened, leaf, group, rows)).sum();
    let rows = (BATCH_BYTES / (bytes / rows).max(1)).clamp(1, BATCH_ROWS);
    usize::try_from(rows).unwrap_or(1)
}

/// Length to which a value of a dictionary counts as its key alone.
const SHORT_TEXT: u64 = 64;

/// Bytes of a column chunk once decoded, as an encoder sees it: it spells out the values of a dictionary.
fn decoded_bytes(opened: &Opened, leaf: usize, group: usize, rows: u64) -> u64 {
    let chunk = opened.metadata.row_group(group).column(leaf);
    // The text itself where the file tells; the encoded size otherwise, which repeated values make smaller.
    let text = || u64::try_from(chunk.unencoded_byte_array_data_bytes().unwrap_or(chunk.uncompressed_size())).unwrap_or(0);
    match opened.output.schema().fields().get(leaf).map(|field| field.data_type()) {
        Some(DataType::Utf8) => text() + rows * 4,
        Some(DataType::Dictionary(..)) => text().saturating_sub(rows * SHORT_TEXT) + rows * 4,
        Some(DataType::Boolean) => rows.div_ceil(8),
        _ => rows * 8,
    }
}

/// `batch` in slices of [`BATCH_BYTES_MAX`], each of one row at least. Nothing is copied.
pub(super) fn slices(batch: RecordBatch) -> Vec<RecordBatch> {
    if bytes(&batch, 0..batch.num_rows()) <= BATCH_BYTES_MAX {
        return vec![batch];
    }
    let mut slices = Vec::new();
    let mut start = 0;
    while start < batch.num_rows() {
        // The longest slice that fits: sizes grow with rows, so halving finds it.
        let (mut fits, mut too_long) = (start + 1, batch.num_rows() + 1);
        while fits + 1 < too_long {
            let middle = fits.midpoint(too_long);
            if bytes(&batch, start..middle) <= BATCH_BYTES_MAX { fits = middle } else { too_long = middle }
        }
        slices.push(batch.slice(start, fits - start));
        start = fits;
    }
    slices
}

/// Bytes that `rows` of `batch` take; dictionaries, being shared, are not counted.
fn bytes(batch: &RecordBatch, rows: Range<usize>) -> usize {
    let column = |column: &arrow::array::ArrayRef| match column.data_type() {
        DataType::Utf8 => {
            let offsets = column.as_string::<i32>().value_offsets();
            let at = |row: usize| offsets.get(row).copied().unwrap_or(0);
            usize::try_from(at(rows.end) - at(rows.start)).unwrap_or(0) + rows.len() * 4
        }
        DataType::Dictionary(..) => rows.len() * 4,
        DataType::Boolean => rows.len().div_ceil(8),
        _ => rows.len() * 8,
    };
    batch.columns().iter().map(column).sum()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    fn batch(lengths: &[usize]) -> RecordBatch {
        let texts = StringArray::from_iter_values(lengths.iter().map(|&length| "x".repeat(length)));
        let numbers = Int64Array::from_iter_values((0..).take(lengths.len()));
        RecordBatch::try_from_iter([("t", Arc::new(texts) as ArrayRef), ("n", Arc::new(numbers) as ArrayRef)]).unwrap()
    }

    fn check(lengths: &[usize], expected: &[usize]) {
        let whole = batch(lengths);
        let slices = slices(whole.clone());
        assert_eq!(slices.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), expected);
        assert_eq!(arrow::compute::concat_batches(whole.schema_ref(), &slices).unwrap(), whole);
        for slice in &slices {
            assert!(slice.num_rows() == 1 || bytes(slice, 0..slice.num_rows()) <= BATCH_BYTES_MAX);
        }
    }

    #[test]
    fn a_huge_row_travels_alone_among_small_ones() {
        check(&[1, 2, 3], &[3]);
        check(&[1, 5 << 20, 1, 1], &[1, 1, 2]);
        check(&[5 << 20, 5 << 20], &[1, 1]);
        check(&[3 << 20, 1 << 20, 1], &[1, 2]);
        check(&[1 << 20; 9], &[3, 3, 3]);
        check(&[], &[0]);
    }
}
