//! Fingerprints of a snapshot's rows, sorted so that those of two snapshots can be merged.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt64Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use arrow::error::ArrowError;
use sha2::{Digest, Sha256};

use yearbook_sort::{
    BlockLimits, ExternalSorter, KeyEncoder, OrderedReader, SortError, SortedRows,
};

/// Columns of a sorted fingerprint: key, place in the snapshot, content.
const NAMES: [&str; 5] = ["key_high", "key_low", "place", "content_high", "content_low"];

/// Columns that fingerprints are sorted by: key, then place.
const SORTED_BY: [usize; 3] = [0, 1, 2];

/// A row as it is compared. Keys and contents are 128 bits of SHA-256 over Arrow's row format, in
/// which different values never have the same bytes: null is not the empty string, -0.0 not 0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// The primary key, or the whole row where there is none.
    pub(super) key: u128,
    pub(super) content: u128,
    /// Position of the row in its snapshot.
    pub(super) row: u64,
}

/// Order of rows with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceOrder {
    FirstRowFirst,
    LastRowFirst,
}

impl PlaceOrder {
    /// The place of a row, and the row of a place.
    fn swap(self, row: u64) -> u64 {
        match self {
            Self::FirstRowFirst => row,
            Self::LastRowFirst => u64::MAX - row,
        }
    }
}

/// Fingerprints of one snapshot, being collected.
pub(super) struct FingerprintSorter {
    /// None: rows are compared whole.
    keys: Option<KeyEncoder>,
    contents: KeyEncoder,
    order: PlaceOrder,
    schema: SchemaRef,
    sorter: ExternalSorter,
    rows: u64,
}

impl FingerprintSorter {
    /// For rows of `schema`, within `budget` bytes; `key` are positions of the primary key, none of
    /// them: rows are compared whole.
    pub(super) fn new(
        schema: &SchemaRef,
        key: &[usize],
        order: PlaceOrder,
        budget: usize,
    ) -> Result<Self, SortError> {
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let fields = NAMES.map(|name| Field::new(name, DataType::UInt64, false));
        let prints: SchemaRef = Arc::new(Schema::new(fields.to_vec()));
        Ok(Self {
            keys: if key.is_empty() { None } else { Some(KeyEncoder::new(schema, key)?) },
            contents: KeyEncoder::new(schema, &all)?,
            order,
            sorter: ExternalSorter::new(Arc::clone(&prints), &SORTED_BY, budget)?,
            schema: prints,
            rows: 0,
        })
    }

    /// Takes in the next rows, or those of them for which `wanted` is true.
    pub(super) fn update(
        &mut self,
        batch: &RecordBatch,
        wanted: Option<&BooleanArray>,
    ) -> Result<(), SortError> {
        let first = self.rows;
        self.rows += batch.num_rows() as u64;
        let place = |row: usize| self.order.swap(first + row as u64);
        let (batch, places) = match wanted {
            None => (batch, (0..batch.num_rows()).map(place).collect()),
            Some(wanted) => (
                &filter_record_batch(batch, wanted)?,
                wanted.values().set_indices().map(place).collect::<UInt64Array>(),
            ),
        };
        if places.is_empty() {
            return Ok(());
        }
        let contents = hash_rows(&self.contents, batch)?;
        let keys = self.keys.as_ref().map(|keys| hash_rows(keys, batch)).transpose()?;
        let keys = keys.as_ref().unwrap_or(&contents);
        let [key_high, key_low] = halves(keys);
        let [content_high, content_low] = halves(&contents);
        let columns = vec![key_high, key_low, Arc::new(places), content_high, content_low];
        self.sorter.add(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// All fingerprints, by key and then in the order asked for.
    pub(super) fn finish(self) -> Result<SortedFingerprints, SortError> {
        let rows = self.sorter.finish()?;
        let blocks = rows.read((0..NAMES.len()).collect(), BlockLimits::FILE)?;
        Ok(SortedFingerprints { _rows: rows, order: self.order, blocks, block: None, next: 0 })
    }
}

/// Fingerprints in order, read once.
pub(super) struct SortedFingerprints {
    _rows: SortedRows,
    order: PlaceOrder,
    blocks: OrderedReader,
    block: Option<[UInt64Array; NAMES.len()]>,
    next: usize,
}

impl SortedFingerprints {
    /// The next one; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Fingerprint>, SortError> {
        loop {
            if let Some(columns) = &self.block
                && self.next < columns[0].len()
            {
                let [key_high, key_low, place, content_high, content_low] =
                    columns.each_ref().map(|column| column.value(self.next));
                self.next += 1;
                return Ok(Some(Fingerprint {
                    key: join(key_high, key_low),
                    content: join(content_high, content_low),
                    row: self.order.swap(place),
                }));
            }
            let Some(block) = self.blocks.next_block()? else { return Ok(None) };
            let column =
                |index: usize| block.rows.column(index).as_primitive::<UInt64Type>().clone();
            self.block = Some(std::array::from_fn(column));
            self.next = 0;
        }
    }
}

/// Returns 128 bits of SHA-256 over each row.
pub(crate) fn hash_rows(
    encoder: &KeyEncoder,
    batch: &RecordBatch,
) -> Result<Vec<u128>, ArrowError> {
    let Some(rows) = encoder.encode(batch)? else { return Ok(vec![0; batch.num_rows()]) };
    let print = |row: arrow::row::Row<'_>| {
        let digest = Sha256::digest(row.as_ref());
        let bytes = digest.iter().take(size_of::<u128>());
        bytes.fold(0_u128, |print, byte| print << 8 | u128::from(*byte))
    };
    Ok(rows.iter().map(print).collect())
}

/// The upper and the lower halves of `prints`.
pub(crate) fn halves(prints: &[u128]) -> [ArrayRef; 2] {
    let half = |shift: u32| -> ArrayRef {
        let bits = |print: &u128| u64::try_from(print >> shift & u128::from(u64::MAX));
        let halves = prints.iter().map(|print| bits(print).unwrap_or_default());
        Arc::new(UInt64Array::from_iter_values(halves))
    };
    [half(u64::BITS), half(0)]
}

/// Returns the whole of which [`halves`] gave these.
pub(crate) fn join(high: u64, low: u64) -> u128 {
    u128::from(high) << u64::BITS | u128::from(low)
}
