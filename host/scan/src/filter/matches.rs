//! Rows that match a predicate, found by reading its columns alone.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, BooleanBufferBuilder};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;

use super::found_rows::{FoundRows, FoundRowsBuilder, RangeRows};
use super::group_predicate::{FewValues, GroupPredicate, PlacedRows};
use super::row_predicate::RowPredicate;
use crate::StorageFailure;
use crate::decode::{FileSource, KeptColumn, RowRange, task_ranges};

/// Rows decoded at a time while matches are looked for.
const FILTER_BATCH_ROWS: usize = 8192;

/// The same of columns that are kept, unless one is plain text: at most a row group of those that
/// publishing writes, so that values are tested once.
const KEPT_BATCH_ROWS: usize = 128 << 10;

/// Rows looked at before whole steps are: common matches with a small maximum are found in these.
const INITIAL_ROWS: u64 = 16 << 10;

/// A test of the columns that it reads.
#[derive(Clone)]
struct RowTest {
    predicate: Arc<RowPredicate>,
    left: Arc<GroupPredicate>,
    /// Set for a test of geometry; that of all other columns else.
    is_geometry: bool,
}

impl RowTest {
    /// The matches among `rows` rows of `columns`.
    fn rows(&self, columns: &[KeptColumn], rows: usize) -> Result<BooleanBuffer, ParquetError> {
        match &self.left.geometry {
            Some(geometry) if self.is_geometry => self.predicate.geometry_rows(columns, geometry),
            _ => self.predicate.rows(columns, rows, &self.left),
        }
    }

    /// Conditions whose rows are looked up where they are known.
    fn few_values(&self, columns: &[KeptColumn]) -> Vec<FewValues> {
        if self.is_geometry { Vec::new() } else { self.predicate.few_values(columns, &self.left) }
    }
}

/// Rows that match.
pub(crate) struct Matches {
    pub(crate) rows: FoundRows,
    /// The first match past `max_rows`.
    pub(crate) next: Option<u64>,
}

/// The first `max_rows` matches in `window`, and where the next one is.
pub(crate) async fn find(
    source: &FileSource,
    window: Range<u64>,
    predicate: &Arc<RowPredicate>,
    max_rows: u64,
) -> Result<Matches, StorageFailure> {
    let parquet = &source.parquet;
    let mut rows = FoundRowsBuilder::new(window.end);
    let mut left = usize::try_from(max_rows).unwrap_or(usize::MAX);
    let first = window.end.min(window.start.saturating_add(INITIAL_ROWS));
    let parts = [window.start..first, first..window.end];
    let ranges = parts.into_iter().flat_map(|part| {
        let leaves = predicate.leaves().to_vec();
        task_ranges(source.task_limits, Arc::clone(parquet), leaves, part)
    });
    for range in ranges {
        let (at, length) = (parquet.start(range.group) + range.rows.start as u64, range.rows.len());
        let found = match_range(source, range, predicate, left).await?;
        let (added, next) = rows.add(at, length, found, left);
        left -= added;
        if next.is_some() {
            return Ok(Matches { rows: rows.finish(), next });
        }
    }
    Ok(Matches { rows: rows.finish(), next: None })
}

/// One bit for each row of `range`, set where it matches; `None` if no row does. It must have no
/// selection. Once more than `enough` have been found, rows further on may be left unset.
pub(crate) async fn match_rows(
    source: &FileSource,
    range: RowRange,
    predicate: &Arc<RowPredicate>,
    enough: usize,
) -> Result<Option<BooleanBuffer>, StorageFailure> {
    let length = range.rows.len();
    let found = match_range(source, range, predicate, enough).await?;
    Ok(found.map(|found| found.into_mask(length)))
}

/// Rows of `range` that match, as [`match_rows`] finds them.
async fn match_range(
    source: &FileSource,
    mut range: RowRange,
    predicate: &Arc<RowPredicate>,
    enough: usize,
) -> Result<Option<RangeRows>, StorageFailure> {
    let (group, length) = (range.group, range.rows.len());
    let Some(left) = predicate.prune_row_group(source, group).await? else { return Ok(None) };
    let in_range = |rows: &BooleanBuffer| rows.slice(range.rows.start, length);
    let tested = left.geometry.as_ref().map(|geometry| geometry.rows.as_ref().map(in_range));
    range.wanted = left.candidates.as_ref().map(in_range);
    if !left.leaves.is_empty() {
        // Which rows meet a box is not known before.
        let enough = if left.geometry.is_some() { usize::MAX } else { enough };
        let test = RowTest {
            predicate: Arc::clone(predicate),
            left: Arc::clone(&left),
            is_geometry: false,
        };
        let found = read_matches(source, range.clone(), &left.leaves, test, enough).await?;
        let Some(found) = found else { return Ok(None) };
        if left.geometry.is_none() {
            return Ok(Some(found));
        }
        range.wanted = Some(found.into_mask(length));
    }
    let (Some(geometry), Some(tested)) = (&left.geometry, tested) else {
        let rows = range.wanted.unwrap_or_else(|| BooleanBuffer::new_set(length));
        return Ok(rows.has_true().then_some(RangeRows::Mask(rows)));
    };
    let inside = match tested {
        None => BooleanBuffer::new_unset(length),
        Some(tested) => {
            let rows = range.wanted.unwrap_or_else(|| BooleanBuffer::new_set(length));
            let inside = &rows & &!&tested;
            // Rows behind these would be left out.
            let end = inside.set_indices().nth(enough).unwrap_or(length);
            let mut open = BooleanBufferBuilder::new(length);
            open.append_buffer(&(&rows & &tested).slice(0, end));
            open.append_n(length - end, false);
            range.wanted = Some(open.finish());
            inside
        }
    };
    let test =
        RowTest { predicate: Arc::clone(predicate), left: Arc::clone(&left), is_geometry: true };
    // In a box: the future of a scan without an area does not grow by it.
    let leaves = [geometry.leaf];
    let hits = Box::pin(read_matches(source, range, &leaves, test, enough)).await?;
    let hits = hits.map(|hits| hits.into_mask(length));
    let rows = hits.map_or_else(|| inside.clone(), |hits| &inside | &hits);
    Ok(rows.has_true().then_some(RangeRows::Mask(rows)))
}

/// Wanted rows of `range` that pass `test` of their columns `leaves`; `None` if no row does. Once
/// more than `enough` have been found, rows further on are left unset.
async fn read_matches(
    source: &FileSource,
    range: RowRange,
    leaves: &[usize],
    test: RowTest,
    enough: usize,
) -> Result<Option<RangeRows>, StorageFailure> {
    let (group, length) = (range.group, range.rows.len());
    let wanted = range.wanted.clone();
    let decoded = wanted.as_ref().map_or(length, BooleanBuffer::count_set_bits);
    if decoded == 0 {
        return Ok(None);
    }
    let range = RowRange { wanted: range.wanted.filter(BooleanBuffer::has_false), ..range };
    if let Some(columns) = source.kept_columns(leaves, &range).await? {
        let few = test.few_values(&columns);
        if let Some(placed) = test.left.placed_rows(&columns, &few) {
            return Box::pin(test_placed(source, range, columns, test, placed, wanted)).await;
        }
        for FewValues { column, .. } in few {
            if let Some((leaf, column)) = leaves.get(column).zip(columns.get(column)) {
                Box::pin(source.count_search(group, *leaf, column)).await?;
            }
        }
        // Comparing numbers of all rows takes less than choosing those that are wanted.
        if columns.iter().all(|column| column.rows.as_any_dictionary_opt().is_some()) {
            let all = RowRange { wanted: None, ..range };
            let found = test_columns(source, &all, columns, test, (enough, wanted));
            return Ok(Box::pin(found).await?.map(RangeRows::Mask));
        }
        let found = Box::pin(test_columns(source, &range, columns, test, (enough, None))).await?;
        return Ok(found.map(|found| RangeRows::Mask(spread_all(&found, wanted.as_ref()))));
    }
    let schema = source.parquet.metadata.file_metadata().schema_descr();
    let columns = ProjectionMask::leaves(schema, leaves.iter().copied());
    let Some(mut reader) =
        source.reader(&source.parquet.filter, columns, range, FILTER_BATCH_ROWS).await?
    else {
        return Ok(None);
    };
    let mut found = BooleanBufferBuilder::new(decoded);
    let mut matches = 0;
    // One job a batch, so that long searches take turns with other responses.
    while found.len() < decoded && matches <= enough {
        let test = test.clone();
        let rows = source
            .batch(group, reader, move |batch| {
                let columns = batch.columns().iter().cloned().map(KeptColumn::as_read);
                test.rows(&columns.collect::<Vec<_>>(), batch.num_rows())
            })
            .await?;
        let Some((rest, rows)) = rows else { break };
        source.cache.metrics.rows_searched.add(rows.len() as u64);
        found.append_buffer(&rows);
        matches += rows.count_set_bits();
        reader = rest;
    }
    if matches == 0 {
        return Ok(None);
    }
    found.append_n(decoded.saturating_sub(found.len()), false);
    let found = found.finish();
    Ok(Some(RangeRows::Mask(spread_all(&found, wanted.as_ref()))))
}

/// The same of columns that are kept, where `placed` are rows that a condition on them leaves:
/// these alone are tested.
async fn test_placed(
    source: &FileSource,
    range: RowRange,
    columns: Vec<KeptColumn>,
    test: RowTest,
    placed: PlacedRows,
    wanted: Option<BooleanBuffer>,
) -> Result<Option<RangeRows>, StorageFailure> {
    let is_wanted = |row: &usize| wanted.as_ref().is_none_or(|wanted| wanted.value(*row));
    let placed_in = placed.rows.into_iter().filter(|row| range.rows.contains(row));
    let rows: Vec<usize> = placed_in.map(|row| row - range.rows.start).filter(is_wanted).collect();
    source.cache.metrics.rows_searched.add(rows.len() as u64);
    if rows.is_empty() {
        return Ok(None);
    }
    let rows = RangeRows::Few(rows);
    if placed.is_all {
        return Ok(Some(rows));
    }
    let rows = rows.into_mask(range.rows.len());
    let range = RowRange { wanted: Some(rows), ..range };
    let found = test_columns(source, &range, columns, test, (usize::MAX, None)).await?;
    Ok(found.map(|found| RangeRows::Mask(spread_all(&found, range.wanted.as_ref()))))
}

/// The same of columns that are kept: one bit for each wanted row of `range`, unset where it is not
/// among those of `mask`.
async fn test_columns(
    source: &FileSource,
    range: &RowRange,
    columns: Vec<KeptColumn>,
    test: RowTest,
    (enough, mask): (usize, Option<BooleanBuffer>),
) -> Result<Option<BooleanBuffer>, StorageFailure> {
    let places = range.wanted.is_some().then(|| range.wanted_places());
    let decoded = places.as_ref().map_or(range.rows.len(), |places| places.len());
    let is_plain = |column: &KeptColumn| *column.rows.data_type() == DataType::Utf8;
    let at_once = if columns.iter().any(is_plain) { FILTER_BATCH_ROWS } else { KEPT_BATCH_ROWS };
    let (columns, first) = (Arc::new(columns), range.rows.start);
    let mut found = BooleanBufferBuilder::new(decoded);
    let mut matches = 0;
    while found.len() < decoded && matches <= enough {
        let (start, rows) = (found.len(), at_once.min(decoded - found.len()));
        let places = places.as_ref().map(|places| places.slice(start, rows));
        let (columns, test) = (Arc::clone(&columns), test.clone());
        let job = move || {
            let cut = columns.iter().map(|column| {
                let rows = match &places {
                    Some(places) => take(&column.rows, places, None)?,
                    None => column.rows.slice(first + start, rows),
                };
                Ok::<_, ArrowError>(column.of_rows(rows))
            });
            test.rows(&cut.collect::<Result<Vec<_>, _>>()?, rows)
        };
        let mut rows = source.run_on_worker(range.group, job).await?;
        let mut searched = rows.len();
        if let Some(mask) = &mask {
            let wanted = mask.slice(start, rows.len());
            searched = wanted.count_set_bits();
            rows = &rows & &wanted;
        }
        source.cache.metrics.rows_searched.add(searched as u64);
        matches += rows.count_set_bits();
        found.append_buffer(&rows);
    }
    found.append_n(decoded.saturating_sub(found.len()), false);
    Ok((matches > 0).then(|| found.finish()))
}

/// The bits of `found`, one for each of the rows `wanted`, in the places of those.
fn spread_all(found: &BooleanBuffer, wanted: Option<&BooleanBuffer>) -> BooleanBuffer {
    wanted.map_or_else(|| found.clone(), |rows| spread(found, rows))
}

/// The bits of `found`, one for each set bit of `candidates`, in the places of those.
fn spread(found: &BooleanBuffer, candidates: &BooleanBuffer) -> BooleanBuffer {
    let mut rows = BooleanBufferBuilder::new(candidates.len());
    let mut taken = 0;
    for (start, end) in candidates.set_slices() {
        rows.append_n(start - rows.len(), false);
        rows.append_buffer(&found.slice(taken, end - start));
        taken += end - start;
    }
    rows.append_n(candidates.len() - rows.len(), false);
    rows.finish()
}
