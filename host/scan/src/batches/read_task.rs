//! One step of a scan: what is fetched of a row group, and how it becomes batches.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, DictionaryArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter;
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;

use super::batching::{batch_rows, split_by_weight};
use super::compact_dictionary::compact_dictionary;
use crate::StorageFailure;
use crate::decode::{
    BudgetPermit, FileSource, Projection, RowRange, is_dictionary_encoded, is_one_task,
};
use crate::search::{DimensionSearch, match_rows};

/// Rows of a scan that is small: it takes decoded pages from memory and leaves what it decodes
/// there. Larger ones would only drive out what others come back for.
pub(super) const SMALL_SCAN_ROWS: usize = 16 << 10;

/// Which rows of the range are wanted.
pub(crate) enum RowFilter {
    /// All of them.
    All,
    /// Those that contain this, to be found step by step.
    Search(Arc<DimensionSearch>),
    /// Those whose bit is set; the first bit stands for the first row of the range.
    Selection {
        /// One bit a row.
        rows: BooleanBuffer,
    },
}

/// What every step needs.
pub(super) struct ScanContext {
    pub(super) source: FileSource,
    pub(super) projection: Projection,
    pub(super) from: u64,
    pub(super) filter: RowFilter,
    /// See [`SMALL_SCAN_ROWS`].
    pub(super) small: bool,
}

/// A step whose bytes are here.
pub(super) enum ReadTask {
    /// To be decoded.
    Fetched(FetchedRows),
    /// Decoded already, in slices.
    Decoded(Vec<RecordBatch>),
}

/// Rows to be decoded.
pub(super) struct FetchedRows {
    group: usize,
    reader: ParquetRecordBatchReader,
    /// Rows that the reader still has: its end is known without another trip to a worker.
    left: usize,
    /// What could not be fetched yet for want of room.
    rest: Option<RowRange>,
    /// Where a step is fetched in parts, the dictionaries that came with the first: all parts share
    /// them, as if there had been room, because bytes of some formats depend on it.
    dictionaries: Vec<Option<ArrayRef>>,
    /// None where there was no room.
    room: Option<BudgetPermit>,
}

impl ScanContext {
    /// Fetches a step; none when nothing in it matches.
    pub(super) async fn fetch(
        &self,
        mut piece: RowRange,
    ) -> Result<Option<ReadTask>, StorageFailure> {
        let opened = &self.source.opened;
        if let RowFilter::Search(search) = &self.filter {
            let wanted = match_rows(&self.source, piece.clone(), search, usize::MAX).await?;
            let Some(wanted) = wanted else { return Ok(None) };
            piece.wanted = Some(wanted);
        }
        let group = piece.group;
        // Steps of one row group do not share their dictionary, whatever is in memory: what
        // encoders get is the same each time.
        let alone = || is_one_task(self.source.steps, opened, &self.projection.leaves, group);
        if self.small && piece.rows.len() <= batch_rows(opened, &self.projection, group) && alone()
        {
            return self.decode_cached(piece).await.map(Some);
        }
        Ok(self.fetch_part(piece, Vec::new()).await?.map(ReadTask::Fetched))
    }

    /// Fetches as much of `piece` as there is room for: all of it, or one batch.
    async fn fetch_part(
        &self,
        mut piece: RowRange,
        dictionaries: Vec<Option<ArrayRef>>,
    ) -> Result<Option<FetchedRows>, StorageFailure> {
        let opened = &self.source.opened;
        let group = piece.group;
        let rows = batch_rows(opened, &self.projection, group);
        let room = self.source.budget.take(self.bytes(&piece));
        let rest = if room.is_none() && self.is_divisible(group) {
            split_off(&mut piece, rows)
        } else {
            None
        };
        let left = piece.wanted.as_ref().map_or(piece.rows.len(), BooleanBuffer::count_set_bits);
        let reader =
            self.source.reader(&opened.output, self.projection.mask(opened), piece, rows).await?;
        Ok(reader.map(|reader| FetchedRows { group, reader, left, rest, dictionaries, room }))
    }

    /// Compressed bytes of a piece, by the averages of its row group.
    fn bytes(&self, piece: &RowRange) -> u64 {
        let chunks = self.source.opened.metadata.row_group(piece.group);
        let bytes =
            |&leaf: &usize| u64::try_from(chunks.column(leaf).compressed_size()).unwrap_or(0);
        let all: u64 = self.projection.leaves.iter().map(bytes).sum();
        let rows = self.source.opened.rows_of(piece.group).max(1) as u64;
        all.saturating_mul(piece.rows.len() as u64) / rows
    }

    /// Whether parts of a step make the same batches as all of it: not where a dictionary would be
    /// made up for each batch.
    fn is_divisible(&self, group: usize) -> bool {
        let opened = &self.source.opened;
        let keyed = |leaf: usize| {
            opened
                .output
                .schema()
                .fields()
                .get(leaf)
                .is_some_and(|field| matches!(field.data_type(), DataType::Dictionary(..)))
        };
        let chunks = opened.metadata.row_group(group);
        self.projection
            .leaves
            .iter()
            .all(|&leaf| !keyed(leaf) || is_dictionary_encoded(chunks.column(leaf)))
    }

    /// A step of one batch, made of pages that are kept.
    async fn decode_cached(&self, piece: RowRange) -> Result<ReadTask, StorageFailure> {
        let RowRange { group, rows, wanted } = piece;
        let length = rows.len();
        let mut columns = self.source.columns(group, &self.projection.leaves, rows).await?;
        let mut count = length;
        let arrange = || {
            if let Some(wanted) = wanted {
                let wanted = BooleanArray::new(wanted, None);
                count = wanted.true_count();
                for column in &mut columns {
                    *column = filter(column, &wanted)?;
                }
            }
            let columns =
                columns.into_iter().map(compact_dictionary).collect::<Result<Vec<_>, _>>()?;
            self.projection.arrange(&columns, count)
        };
        let batch = arrange().map_err(|error| {
            StorageFailure::damaged(&self.source.opened.key, format!("row group {group}: {error}"))
        })?;
        Ok(ReadTask::Decoded(split_by_weight(batch)))
    }

    /// The next batch of a step, in slices, and what remains of the step.
    pub(super) async fn decode(
        self: &Arc<Self>,
        step: FetchedRows,
    ) -> Result<(Vec<RecordBatch>, Option<FetchedRows>), StorageFailure> {
        let FetchedRows { group, reader, left, rest, dictionaries, room } = step;
        let context = Arc::clone(self);
        let in_parts = rest.is_some() || !dictionaries.is_empty();
        let arrange = move |batch: RecordBatch| {
            let mut columns = batch.columns().to_vec();
            let dictionaries = if in_parts {
                share_dictionaries(&mut columns, dictionaries)?
            } else {
                dictionaries
            };
            Ok::<_, ParquetError>((
                split_by_weight(context.projection.arrange(&columns, batch.num_rows())?),
                dictionaries,
            ))
        };
        let Some((reader, (mut slices, dictionaries))) =
            self.source.batch(group, reader, arrange).await?
        else {
            return Ok((Vec::new(), None));
        };
        let left = left.saturating_sub(slices.iter().map(RecordBatch::num_rows).sum());
        slices.retain(|slice| slice.num_rows() > 0);
        let remains = match rest {
            _ if left > 0 => Some(FetchedRows { group, reader, left, rest, dictionaries, room }),
            Some(rest) => self.fetch_part(rest, dictionaries).await?,
            None => None,
        };
        Ok((slices, remains))
    }

    /// `piece` with the matches that are known; none when there are none in it.
    pub(super) fn apply_selection(&self, mut piece: RowRange) -> Option<RowRange> {
        if let RowFilter::Selection { rows } = &self.filter {
            let first = self.source.opened.start(piece.group) + piece.rows.start as u64 - self.from;
            let wanted = rows.slice(usize::try_from(first).ok()?, piece.rows.len());
            let (first, last) = (wanted.set_indices().next()?, wanted.set_indices().last()?);
            piece.rows = piece.rows.start + first..piece.rows.start + last + 1;
            piece.wanted = Some(wanted.slice(first, last + 1 - first));
        }
        Some(piece)
    }
}

/// Cuts `piece` behind its first `rows` wanted rows; returns what is behind them.
fn split_off(piece: &mut RowRange, rows: usize) -> Option<RowRange> {
    let first = match &piece.wanted {
        None => rows,
        Some(wanted) => wanted.set_indices().nth(rows.saturating_sub(1))? + 1,
    };
    if first >= piece.rows.len() {
        return None;
    }
    let length = piece.rows.len() - first;
    let rest = RowRange {
        group: piece.group,
        rows: piece.rows.start + first..piece.rows.end,
        wanted: piece.wanted.as_ref().map(|wanted| wanted.slice(first, length)),
    };
    piece.rows.end = piece.rows.start + first;
    piece.wanted = piece.wanted.take().map(|wanted| wanted.slice(0, first));
    Some(rest)
}

/// Gives `columns` the dictionaries of the part before; returns those to give to the next.
fn share_dictionaries(
    columns: &mut [ArrayRef],
    known: Vec<Option<ArrayRef>>,
) -> Result<Vec<Option<ArrayRef>>, ArrowError> {
    let known = known.into_iter().chain(std::iter::repeat(None));
    let each = columns.iter_mut().zip(known).map(|(column, known)| {
        let Some(keyed) = column.as_dictionary_opt::<Int32Type>() else { return Ok(None) };
        let values = known
            .filter(|known| known.len() == keyed.values().len())
            .unwrap_or_else(|| Arc::clone(keyed.values()));
        *column = Arc::new(DictionaryArray::try_new(keyed.keys().clone(), Arc::clone(&values))?);
        Ok(Some(values))
    });
    each.collect()
}
