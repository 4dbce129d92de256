//! Bytes of columns as they are kept for reads of scattered rows: estimated by a file's footer, and
//! known of those that were decoded.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow::datatypes::{DataType, SchemaRef};
use parquet::file::metadata::ParquetMetaData;

use super::dictionary::dictionary_page_range;

/// Compressed bytes of a dictionary that has 256 values at most, as a rule. Few have more than
/// 65,536.
const SMALL_DICTIONARY_BYTES: u64 = 1 << 10;

/// Bytes of the columns of a file as they are kept.
pub(super) struct KeptBytes {
    /// Of all row groups, by column.
    columns: Box<[AtomicU64]>,
    /// Of a row group, one after another in each.
    chunks: Box<[AtomicU64]>,
    /// The same of the rows of their values, as far as they were wanted.
    places: Box<[AtomicU64]>,
    all_places: AtomicU64,
}

impl KeptBytes {
    /// Estimates of what they take in the types of `schema`.
    pub(super) fn estimate(metadata: &ParquetMetaData, schema: &SchemaRef) -> Self {
        let leaves = metadata.file_metadata().schema_descr().num_columns();
        let bytes = |group, leaf| estimated_bytes(metadata, schema, group, leaf);
        let groups = 0..metadata.num_row_groups();
        let of_column =
            |leaf| groups.clone().map(|group| bytes(group, leaf)).fold(0, u64::saturating_add);
        let of_group = |group| (0..leaves).map(move |leaf| bytes(group, leaf));
        Self {
            columns: (0..leaves).map(of_column).map(AtomicU64::new).collect(),
            places: groups.clone().flat_map(|_| (0..leaves).map(|_| AtomicU64::new(0))).collect(),
            all_places: AtomicU64::new(0),
            chunks: groups.flat_map(of_group).map(AtomicU64::new).collect(),
        }
    }

    /// Bytes of the columns `leaves` in all row groups.
    pub(super) fn sum(&self, leaves: &[usize]) -> u64 {
        let bytes = leaves.iter().filter_map(|&leaf| self.columns.get(leaf));
        bytes.map(|bytes| bytes.load(Ordering::Relaxed)).fold(0, u64::saturating_add)
    }

    /// Replaces the estimate of a chunk by what it takes.
    pub(super) fn record(&self, group: usize, leaf: usize, bytes: u64) {
        let chunk = self.chunks.get(group * self.columns.len() + leaf);
        if let Some((chunk, column)) = chunk.zip(self.columns.get(leaf)) {
            let before = chunk.swap(bytes, Ordering::Relaxed);
            column.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
        }
    }

    /// Notes the bytes of the rows of the values of a chunk; returns those of all chunks.
    pub(super) fn add_places(&self, group: usize, leaf: usize, bytes: u64) -> u64 {
        let chunk = self.places.get(group * self.columns.len() + leaf);
        let before = chunk.map_or(bytes, |chunk| chunk.swap(bytes, Ordering::Relaxed));
        let more = bytes.wrapping_sub(before);
        self.all_places.fetch_add(more, Ordering::Relaxed).wrapping_add(more)
    }
}

/// Bytes of a column of a row group as it is kept in the types of `schema`, about: without its
/// dictionary, and of plain text as if no value were repeated.
pub(super) fn estimated_bytes(
    metadata: &ParquetMetaData,
    schema: &SchemaRef,
    group: usize,
    leaf: usize,
) -> u64 {
    let chunk = metadata.row_group(group).column(leaf);
    let rows = u64::try_from(metadata.row_group(group).num_rows()).unwrap_or(0);
    let text = chunk.unencoded_byte_array_data_bytes().unwrap_or(chunk.uncompressed_size());
    match schema.fields().get(leaf).map(|field| field.data_type()) {
        Some(DataType::Boolean) => rows / 4,
        Some(DataType::Dictionary(..)) => {
            let dictionary = dictionary_page_range(chunk);
            let is_small = dictionary.end - dictionary.start <= SMALL_DICTIONARY_BYTES;
            rows.saturating_mul(if is_small { 1 } else { 2 })
        }
        Some(DataType::Utf8) => {
            u64::try_from(text).unwrap_or(0).saturating_add(rows.saturating_mul(4))
        }
        _ => rows.saturating_mul(8),
    }
}
