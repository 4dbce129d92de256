//! One step of a scan: what is fetched of a row group, and how it becomes batches.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, DictionaryArray, RecordBatch,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter;
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;

use super::batching::{batch_rows, range_bytes, split_by_weight};
use super::compact_dictionary::{canonical_column, compact_dictionary};
use super::kept_rows::RowsToTake;
use super::long_text;
use crate::StorageFailure;
use crate::decode::{
    BudgetPermit, CachedColumn, FileSource, ParquetFile, Projection, RowRange, clear_nulls,
    is_dictionary_encoded, is_one_task,
};
use crate::filter::{FEW_ROWS, FoundRows, RowPredicate, match_rows};

/// Rows of a scan that is small: it takes decoded pages from memory and leaves what it decodes
/// there. Larger ones would only drive out what others come back for.
pub(super) const SMALL_SCAN_ROWS: usize = FEW_ROWS;

/// Selects rows of a range.
pub(crate) enum RowFilter {
    /// All of them.
    All,
    /// Rows that match this, to be found step by step.
    Predicate(Arc<RowPredicate>),
    /// These.
    Selection(FoundRows),
}

/// State that all read tasks of a scan share.
pub(super) struct ScanContext {
    pub(super) source: FileSource,
    pub(super) projection: Projection,
    pub(super) filter: RowFilter,
    /// See [`SMALL_SCAN_ROWS`].
    pub(super) small: bool,
    /// Set for a scan of long text of which every page is kept.
    pub(super) long_text: bool,
    /// Rows of a batch that joins those of several steps; `None` where none does.
    pub(super) joined_rows: Option<usize>,
}

/// A step whose bytes are here.
pub(super) struct ReadStep {
    /// Number of its wanted rows.
    pub(super) rows: usize,
    pub(super) task: ReadTask,
}

/// Work that is left of a step.
pub(super) enum ReadTask {
    /// To be decoded.
    Fetched(FetchedRows),
    /// Decoded already, in slices.
    Decoded(Vec<RecordBatch>),
    /// To be taken from columns that are kept, and joined.
    Kept(RowsToTake),
}

/// Rows to be decoded.
pub(super) struct FetchedRows {
    group: usize,
    reader: ParquetRecordBatchReader,
    /// Rows that the reader still has: its end is known without another trip to a worker.
    left: usize,
    /// Rows that could not be fetched yet for want of room.
    rest: Option<Box<RowRange>>,
    /// Dictionaries of the first part, where a read task is fetched in parts: all parts share
    /// them, as if there had been room, because bytes of some formats depend on it.
    dictionaries: Vec<Option<ArrayRef>>,
    /// Set for rows of which batches carry the values that they use alone.
    sparse: bool,
    /// None where there was no room.
    room: Option<BudgetPermit>,
}

impl ScanContext {
    /// Cuts a range of a scan of long text into pieces that memory keeps.
    pub(super) fn cut(&self, range: RowRange) -> Vec<RowRange> {
        long_text::cut(self.source.task_limits, &self.source.parquet, &self.projection, range)
    }

    /// Returns whether a step of so many rows is joined with others: where it is larger than half
    /// a batch, little is gained by copying it.
    pub(super) fn is_joined(&self, rows: usize) -> bool {
        self.joined_rows.is_some_and(|most| rows <= most / 2)
    }

    /// Fetches a step; `None` when nothing in it matches.
    pub(super) async fn fetch(
        &self,
        mut range: RowRange,
    ) -> Result<Option<ReadStep>, StorageFailure> {
        // In boxes: futures that a page of unfiltered rows, which memory has, would carry about.
        if let RowFilter::Predicate(predicate) = &self.filter {
            let wanted = match_rows(&self.source, range.clone(), predicate, usize::MAX);
            let wanted = Box::pin(wanted).await?;
            let Some(wanted) = wanted else { return Ok(None) };
            range.wanted = Some(wanted);
        }
        if let Some(few) = self.few(&range) {
            let rows = few.len();
            if self.is_joined(rows)
                && let Some(kept) = self.few_kept_rows(&range, few).await
            {
                return Ok(Some(ReadStep { rows, task: ReadTask::Kept(kept) }));
            }
            let mut wanted = BooleanBufferBuilder::new(range.rows.len());
            wanted.append_n(range.rows.len(), false);
            self.places_in(&range, few).for_each(|row| wanted.set_bit(row, true));
            range.wanted = Some(wanted.finish());
        }
        let rows = range.wanted.as_ref().map_or(range.rows.len(), BooleanBuffer::count_set_bits);
        let task = self.fetch_rows(range, rows).await?;
        Ok(task.map(|task| ReadStep { rows, task }))
    }

    /// Fetches the wanted `rows` of a step.
    async fn fetch_rows(
        &self,
        range: RowRange,
        rows: usize,
    ) -> Result<Option<ReadTask>, StorageFailure> {
        let parquet = &self.source.parquet;
        let group = range.group;
        // Steps of one row group do not share their dictionary, whatever is in memory: what
        // encoders get is the same each time.
        let alone =
            || is_one_task(self.source.task_limits, parquet, &self.projection.leaves, group);
        let length = range.rows.len();
        let most = batch_rows(parquet, &self.projection, group);
        // Of rows that are searched for, pages without any are left out, and so are not kept.
        let in_step = || {
            range.wanted.is_none()
                && range_bytes(parquet, &self.projection, group, length)
                    <= self.source.task_limits.kept_bytes
        };
        let kept = self.long_text || self.small && (length <= most || in_step());
        if kept && alone() {
            return self.decode_cached(range, most).await.map(Some);
        }
        let sparse = range.wanted.is_some() && rows <= most;
        if sparse && let Some(kept) = Box::pin(self.kept_rows(&range)).await? {
            return Ok(Some(if self.is_joined(rows) {
                ReadTask::Kept(kept)
            } else {
                ReadTask::Decoded(self.take_rows(group, &kept)?)
            }));
        }
        let fetched = Box::pin(self.fetch_part(range, Vec::new(), sparse)).await?;
        Ok(fetched.map(ReadTask::Fetched))
    }

    /// Fetches as much of `range` as there is room for: all of it, or one batch.
    async fn fetch_part(
        &self,
        mut range: RowRange,
        dictionaries: Vec<Option<ArrayRef>>,
        sparse: bool,
    ) -> Result<Option<FetchedRows>, StorageFailure> {
        let parquet = &self.source.parquet;
        let group = range.group;
        let rows = batch_rows(parquet, &self.projection, group);
        let room = self.source.budget.take(self.bytes(&range));
        let rest = if room.is_none() && is_divisible(parquet, &self.projection, group) {
            split_off(&mut range, rows).map(Box::new)
        } else {
            None
        };
        let left = range.wanted.as_ref().map_or(range.rows.len(), BooleanBuffer::count_set_bits);
        let reader =
            self.source.reader(&parquet.output, self.projection.mask(parquet), range, rows).await?;
        Ok(reader.map(|reader| FetchedRows {
            group,
            reader,
            left,
            rest,
            dictionaries,
            sparse,
            room,
        }))
    }

    /// Compressed bytes of a range, by the averages of its row group.
    fn bytes(&self, range: &RowRange) -> u64 {
        let all = self.source.parquet.compressed_bytes(range.group, &self.projection.leaves);
        let rows = self.source.parquet.rows_of(range.group).max(1) as u64;
        all.saturating_mul(range.rows.len() as u64) / rows
    }

    /// A small step, made of pages that are kept, in batches of `most` rows at most. They end where
    /// large pages end, so that no long text is copied.
    async fn decode_cached(
        &self,
        range: RowRange,
        most: usize,
    ) -> Result<ReadTask, StorageFailure> {
        let RowRange { group, rows, wanted } = range;
        let columns = self.source.columns(group, &self.projection.leaves, rows.clone()).await?;
        let batches = match wanted {
            Some(wanted) => self.filter_columns(&columns, wanted),
            None => self.cut_columns(&columns, rows, most),
        };
        batches.map(ReadTask::Decoded).map_err(|error| {
            StorageFailure::damaged(&self.source.parquet.key, format!("row group {group}: {error}"))
        })
    }

    fn filter_columns(
        &self,
        columns: &[CachedColumn],
        wanted: BooleanBuffer,
    ) -> Result<Vec<RecordBatch>, ArrowError> {
        let wanted = BooleanArray::new(wanted, None);
        let column = |column: &CachedColumn| compact_dictionary(filter(&column.whole()?, &wanted)?);
        let columns = columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        Ok(split_by_weight(self.projection.arrange(&columns, wanted.true_count())?))
    }

    fn cut_columns(
        &self,
        columns: &[CachedColumn],
        rows: Range<usize>,
        most: usize,
    ) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut ends: Vec<usize> = columns.iter().flat_map(CachedColumn::large_pages).collect();
        ends.push(rows.end);
        ends.sort_unstable();
        ends.dedup();
        // A dictionary is one for all batches of a step; a column of small pages is joined once.
        let whole = |column: &CachedColumn| {
            if column.large_pages().next().is_some() {
                return Ok(None);
            }
            compact_dictionary(column.whole()?).map(Some)
        };
        let joined: Vec<Option<ArrayRef>> =
            columns.iter().map(whole).collect::<Result<_, ArrowError>>()?;
        let mut batches = Vec::new();
        let mut start = rows.start;
        for end in ends {
            while start < end {
                let batch = start..end.min(start + most);
                let cut = |(column, joined): (&CachedColumn, &Option<ArrayRef>)| match joined {
                    Some(joined) if batch == rows => Ok(Arc::clone(joined)),
                    Some(joined) => Ok(joined.slice(batch.start - rows.start, batch.len())),
                    None => column.slice(&batch),
                };
                let columns = columns.iter().zip(&joined).map(cut);
                let columns = columns.collect::<Result<Vec<_>, ArrowError>>()?;
                batches.extend(split_by_weight(self.projection.arrange(&columns, batch.len())?));
                start = batch.end;
            }
        }
        Ok(batches)
    }

    /// The next batch of a step, in slices, and what remains of the step.
    pub(super) async fn decode(
        self: &Arc<Self>,
        step: FetchedRows,
    ) -> Result<(Vec<RecordBatch>, Option<FetchedRows>), StorageFailure> {
        let FetchedRows { group, reader, left, rest, dictionaries, sparse, room } = step;
        let context = Arc::clone(self);
        let in_parts = rest.is_some() || !dictionaries.is_empty();
        let arrange = move |batch: RecordBatch| {
            let rows = batch.num_rows();
            let mut columns = batch.into_parts().1;
            let dictionaries = if in_parts {
                share_dictionaries(&mut columns, dictionaries)?
            } else {
                dictionaries
            };
            let canonical = if sparse { canonical_column } else { clear_nulls };
            let columns = columns.into_iter().map(canonical).collect::<Result<Vec<_>, _>>()?;
            let batch = context.projection.arrange(&columns, rows)?;
            Ok::<_, ParquetError>((split_by_weight(batch), dictionaries))
        };
        let Some((reader, (mut slices, dictionaries))) =
            self.source.batch(group, reader, arrange).await?
        else {
            return Ok((Vec::new(), None));
        };
        let left = left.saturating_sub(slices.iter().map(RecordBatch::num_rows).sum());
        slices.retain(|slice| slice.num_rows() > 0);
        let remains = match rest {
            _ if left > 0 => {
                Some(FetchedRows { group, reader, left, rest, dictionaries, sparse, room })
            }
            Some(rest) => self.fetch_part(*rest, dictionaries, sparse).await?,
            None => None,
        };
        Ok((slices, remains))
    }

    /// `range` from the first to the last of the matches in it that are known, with these unless
    /// [`Self::few`] has them; `None` when there are none in it.
    pub(super) fn apply_selection(&self, mut range: RowRange) -> Option<RowRange> {
        let RowFilter::Selection(found) = &self.filter else { return Some(range) };
        match found {
            FoundRows::Few(_) => {
                let rows = self.few(&range)?;
                let (first, last) = (*rows.first()?, *rows.last()?);
                let start = self.source.parquet.start(range.group);
                let place = |row: u64| usize::try_from(row - start).unwrap_or(usize::MAX);
                range.rows = place(first)..place(last) + 1;
            }
            FoundRows::Mask { from, rows } => {
                let first = self.source.parquet.start(range.group) + range.rows.start as u64 - from;
                let wanted = rows.slice(usize::try_from(first).ok()?, range.rows.len());
                let (first, last) = (wanted.set_indices().next()?, wanted.set_indices().last()?);
                range.rows = range.rows.start + first..range.rows.start + last + 1;
                range.wanted = Some(wanted.slice(first, last + 1 - first));
            }
        }
        Some(range)
    }
}

/// Returns whether parts of a read task make the same batches as all of it: not where a dictionary
/// is made up for each batch.
pub(super) fn is_divisible(parquet: &ParquetFile, projection: &Projection, group: usize) -> bool {
    let keyed = |leaf: usize| {
        parquet
            .output
            .schema()
            .fields()
            .get(leaf)
            .is_some_and(|field| matches!(field.data_type(), DataType::Dictionary(..)))
    };
    let chunks = parquet.metadata.row_group(group);
    projection.leaves.iter().all(|&leaf| !keyed(leaf) || is_dictionary_encoded(chunks.column(leaf)))
}

/// Cuts `range` behind its first `rows` wanted rows; returns what is behind them.
fn split_off(range: &mut RowRange, rows: usize) -> Option<RowRange> {
    let first = match &range.wanted {
        None => rows,
        Some(wanted) => wanted.set_indices().nth(rows.saturating_sub(1))? + 1,
    };
    if first >= range.rows.len() {
        return None;
    }
    let length = range.rows.len() - first;
    let rest = RowRange {
        group: range.group,
        rows: range.rows.start + first..range.rows.end,
        wanted: range.wanted.as_ref().map(|wanted| wanted.slice(first, length)),
    };
    range.rows.end = range.rows.start + first;
    range.wanted = range.wanted.take().map(|wanted| wanted.slice(0, first));
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
