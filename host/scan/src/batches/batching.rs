//! Slicing: how many rows a batch has. A pure function of file and plan, because bytes of some
//! formats depend on it and entity tags promise the same bytes (contract-3-same-bytes).

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Int32Type};
use yearbook_domain::json_size;

use crate::decode::{ParquetFile, Projection};

/// Changes whenever the same plan on the same file would be sliced differently; part of every
/// entity tag. [`crate::decode::ReadTaskLimits`] counts as slicing, and so do the values in a
/// dictionary. 2: a few rows carry only the values that they use, which changes Parquet made of
/// them. 3: columns say what they are for, which Arrow and Parquet pass on. 4: batches of half a
/// mebibyte. 5: rows are weighed as text, and a batch may weigh 4 MiB. 6: batches of a few rows
/// with long text end where its pages end. 7: so do those of whole tables of long text. 8: the
/// first part of formats that join batches is half as large. 9: a chunk is compressed in one piece,
/// and not its segments. 10: rows of a row group that a condition leaves carry only the values
/// that they use, if they fit a batch. 11: such rows of several row groups are one batch. 12:
/// nothing is left under nulls, whichever rows were decoded at once.
pub const BATCHING_VERSION: u32 = 12;

/// Bytes of a batch aimed at, by the averages of its row group: what goes into a guest, what it
/// makes of it and what is taken out stay in a core's own cache together (decision 0156).
pub(super) const TARGET_BATCH_BYTES: u64 = 512 << 10;

/// Weight of a batch aimed at, by the averages of its row group: half of what it may be, so that
/// rows a little above the average do not cut every batch once more.
const TARGET_BATCH_WEIGHT: u64 = json_size::BATCH_BYTES as u64 / 2;

/// Rows of a batch at most.
const MAX_BATCH_ROWS: u64 = 8192;

/// Rows of a batch out of row group `group`.
pub(super) fn batch_rows(parquet: &ParquetFile, projection: &Projection, group: usize) -> usize {
    let rows = group_rows(parquet, group);
    let bytes = projection_bytes(parquet, projection, group);
    let weight: u64 =
        projection.leaves.iter().map(|&leaf| mean_weight(parquet, leaf, group, rows)).sum();
    let rows = (TARGET_BATCH_BYTES / (bytes / rows).max(1))
        .min(TARGET_BATCH_WEIGHT / weight.max(1))
        .clamp(1, MAX_BATCH_ROWS);
    usize::try_from(rows).unwrap_or(1)
}

/// Rows of a batch out of any row group.
pub(super) fn least_batch_rows(parquet: &ParquetFile, projection: &Projection) -> usize {
    let groups = 0..parquet.metadata.num_row_groups();
    groups.map(|group| batch_rows(parquet, projection, group)).min().unwrap_or(1)
}

/// Bytes of `rows` rows out of row group `group` once decoded, by the averages of the row group.
pub(super) fn range_bytes(
    parquet: &ParquetFile,
    projection: &Projection,
    group: usize,
    rows: usize,
) -> u64 {
    let bytes = projection_bytes(parquet, projection, group);
    bytes.saturating_mul(rows as u64) / group_rows(parquet, group)
}

fn group_rows(parquet: &ParquetFile, group: usize) -> u64 {
    u64::try_from(parquet.rows_of(group)).unwrap_or(u64::MAX).max(1)
}

/// Bytes of the columns of a row group once decoded.
fn projection_bytes(parquet: &ParquetFile, projection: &Projection, group: usize) -> u64 {
    let rows = group_rows(parquet, group);
    projection.leaves.iter().map(|&leaf| decoded_bytes(parquet, leaf, group, rows)).sum()
}

/// Bytes of a row, on average, from which its text is long. Where rows are shorter, a page has so
/// many of them that its other columns weigh too.
const LONG_ROW_BYTES: u64 = 256;

/// The column of long text that makes up most of row group `group`, and its bytes once decoded;
/// none where there is no such column.
pub(super) fn long_text_column(
    parquet: &ParquetFile,
    projection: &Projection,
    group: usize,
) -> Option<(usize, u64)> {
    let rows = group_rows(parquet, group);
    let all = projection_bytes(parquet, projection, group);
    let schema = parquet.output.schema();
    let plain = |leaf: usize| {
        schema.fields().get(leaf).is_some_and(|field| *field.data_type() == DataType::Utf8)
    };
    let texts = projection.leaves.iter().copied().filter(|&leaf| plain(leaf));
    let longest = texts
        .map(|leaf| (leaf, decoded_bytes(parquet, leaf, group, rows)))
        .max_by_key(|&(_, bytes)| bytes);
    longest.filter(|(_, bytes)| all >= rows * LONG_ROW_BYTES && bytes * 2 >= all)
}

/// Length to which a value of a dictionary counts as its key alone.
const SHORT_TEXT_BYTES: u64 = 64;

/// Bytes of a column chunk once decoded, as an encoder sees it: it spells out the values of a
/// dictionary.
fn decoded_bytes(parquet: &ParquetFile, leaf: usize, group: usize, rows: u64) -> u64 {
    let text = || text_bytes(parquet, leaf, group);
    match parquet.output.schema().fields().get(leaf).map(|field| field.data_type()) {
        Some(DataType::Utf8) => text() + rows * 4,
        Some(DataType::Dictionary(..)) => text().saturating_sub(rows * SHORT_TEXT_BYTES) + rows * 4,
        Some(DataType::Boolean) => rows.div_ceil(8),
        _ => rows * 8,
    }
}

/// Bytes of a column chunk's text: the text itself where the file tells; the encoded size
/// otherwise, which repeated values make smaller.
fn text_bytes(parquet: &ParquetFile, leaf: usize, group: usize) -> u64 {
    let chunk = parquet.metadata.row_group(group).column(leaf);
    u64::try_from(chunk.unencoded_byte_array_data_bytes().unwrap_or(chunk.uncompressed_size()))
        .unwrap_or(0)
}

/// Mean weight of a cell of a column chunk.
fn mean_weight(parquet: &ParquetFile, leaf: usize, group: usize, rows: u64) -> u64 {
    let Some(field) = parquet.output.schema().fields().get(leaf) else { return 0 };
    let value = match field.data_type() {
        DataType::Utf8 | DataType::Dictionary(..) => {
            text_bytes(parquet, leaf, group).div_ceil(rows)
        }
        other => fixed_bytes(other) as u64,
    };
    (field.name().len() + json_size::CELL_BYTES) as u64 + value
}

/// Bytes that a value takes at most, other than text.
fn fixed_bytes(data_type: &DataType) -> usize {
    if *data_type == DataType::Boolean { json_size::BOOLEAN_BYTES } else { json_size::NUMBER_BYTES }
}

/// `batch` in slices that weigh [`json_size::BATCH_BYTES`] at most, each of one row at least.
/// Nothing is copied.
pub(super) fn split_by_weight(batch: RecordBatch) -> Vec<RecordBatch> {
    if max_weight(&batch) <= json_size::BATCH_BYTES {
        return vec![batch];
    }
    let mut slices = Vec::new();
    let (mut start, mut weight) = (0, 0);
    for (row, of_row) in row_weights(&batch).into_iter().enumerate() {
        if row > start && weight + of_row > json_size::BATCH_BYTES {
            slices.push(batch.slice(start, row - start));
            (start, weight) = (row, 0);
        }
        weight += of_row;
    }
    slices.push(batch.slice(start, batch.num_rows() - start));
    slices
}

/// `batch`, whatever it weighs, in slices of the size that batches have. Nothing is copied.
pub(crate) fn cut_into_batches(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    let mean = content_bytes(batch) / (rows as u64).max(1);
    let most = (TARGET_BATCH_BYTES / mean.max(1)).clamp(1, MAX_BATCH_ROWS);
    let most = usize::try_from(most).unwrap_or(1);
    let slice = move |start: usize| batch.slice(start, most.min(rows - start));
    (0..rows).step_by(most).map(slice).flat_map(split_by_weight)
}

/// Ends of runs of the rows `places` of `batch`, each of which weighs [`json_size::BATCH_BYTES`]
/// at most, or is one row, and has `most` rows at most. No run lies on both sides of a multiple of
/// `most`.
pub(crate) fn cut_by_weight(batch: &RecordBatch, places: &[usize], most: usize) -> Vec<usize> {
    let light = max_weight(batch) <= json_size::BATCH_BYTES;
    let weights = if light { Vec::new() } else { row_weights(batch) };
    let mut ends = Vec::new();
    let mut weight = 0;
    for (row, place) in places.iter().enumerate() {
        let of_row = weights.get(*place).copied().unwrap_or(0);
        if row % most == 0 || weight + of_row > json_size::BATCH_BYTES {
            ends.extend((row > 0).then_some(row));
            weight = 0;
        }
        weight += of_row;
    }
    ends.extend((!places.is_empty()).then_some(places.len()));
    ends
}

/// Bytes of the values of `batch`; those of a dictionary, which is bounded, do not count.
pub(crate) fn content_bytes(batch: &RecordBatch) -> u64 {
    let rows = batch.num_rows();
    let column = |column: &ArrayRef| match text_column(column) {
        Some(TextColumn::Plain(values)) => value_bytes(values) + rows * 4,
        Some(TextColumn::Dictionary(_)) => rows * 4,
        None => rows * 8,
    };
    batch.columns().iter().map(column).sum::<usize>() as u64
}

/// Upper bound of the weight of `batch`, without a look at its rows: the longest value of a
/// dictionary counts for each. Where this is too much and its rows weigh less, it is not cut
/// either.
fn max_weight(batch: &RecordBatch) -> usize {
    let rows = batch.num_rows();
    let values = batch.columns().iter().map(|column| match text_column(column) {
        Some(TextColumn::Plain(values)) => value_bytes(values),
        Some(TextColumn::Dictionary(keyed)) => {
            let values = keyed.values().as_string::<i32>();
            let longest =
                values.value_offsets().windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
            rows.saturating_mul(usize::try_from(longest).unwrap_or(0))
        }
        None => rows * fixed_bytes(column.data_type()),
    });
    values.fold(rows * base_row_weight(batch), usize::saturating_add)
}

/// Weight of each row.
fn row_weights(batch: &RecordBatch) -> Vec<usize> {
    let fixed = batch
        .columns()
        .iter()
        .filter(|column| text_column(column).is_none())
        .map(|column| fixed_bytes(column.data_type()));
    let mut weights = vec![base_row_weight(batch) + fixed.sum::<usize>(); batch.num_rows()];
    for column in batch.columns() {
        match text_column(column) {
            Some(TextColumn::Plain(values)) => {
                for (weight, ends) in weights.iter_mut().zip(values.value_offsets().windows(2)) {
                    *weight += usize::try_from(ends[1] - ends[0]).unwrap_or(0);
                }
            }
            Some(TextColumn::Dictionary(keyed)) => {
                let offsets = keyed.values().as_string::<i32>().value_offsets();
                let length =
                    |key: usize| offsets.get(key..key + 2).map_or(0, |ends| ends[1] - ends[0]);
                for (weight, key) in weights.iter_mut().zip(keyed.keys_iter()) {
                    *weight += key.map_or(0, |key| usize::try_from(length(key)).unwrap_or(0));
                }
            }
            None => {}
        }
    }
    weights
}

/// Weight of a row without its values.
fn base_row_weight(batch: &RecordBatch) -> usize {
    batch.schema_ref().fields().iter().map(|field| field.name().len() + json_size::CELL_BYTES).sum()
}

/// A column of text; stored columns have no other dictionaries.
enum TextColumn<'a> {
    Plain(&'a StringArray),
    Dictionary(&'a DictionaryArray<Int32Type>),
}

fn text_column(column: &ArrayRef) -> Option<TextColumn<'_>> {
    let plain = || column.as_string_opt().map(TextColumn::Plain);
    let keyed = || {
        column
            .as_dictionary_opt()
            .filter(|keyed| keyed.values().data_type() == &DataType::Utf8)
            .map(TextColumn::Dictionary)
    };
    plain().or_else(keyed)
}

/// Bytes of all values together.
fn value_bytes(values: &StringArray) -> usize {
    let offsets = values.value_offsets();
    let end = |offset: Option<&i32>| offset.copied().unwrap_or(0);
    usize::try_from(end(offsets.last()) - end(offsets.first())).unwrap_or(0)
}

#[cfg(test)]
mod tests;
