//! Columns of row groups for reads of scattered rows: from memory, or decoded whole and then kept,
//! once rows that were read one by one have cost as much.

use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;

use super::column_cache::{KeptColumn, LoadFailure, is_convertible, join_parts};
use super::file_source::FileSource;
use super::kept_bytes::estimated_bytes;
use super::page_location::{PageLocation, pages_covering};
use super::row_range::RowRange;
use super::value_places::ValuePlaces;
use crate::StorageFailure;

/// Decoded bytes of the columns of a row group that are loaded for one read at most, by the
/// averages of the row group. Twice as many are held while parts are joined.
const MAX_LOAD_BYTES: u64 = 32 << 20;

/// Bytes that are decoded at a time, by the averages of the row group.
const STEP_BYTES: u64 = 1 << 20;

/// Columns that are read at once from a store behind a network.
const CONCURRENT_COLUMNS: usize = 8;

impl FileSource {
    /// Returns the columns `leaves` of the row group of `range` with all their rows, text of a
    /// dictionary as numbers of its values; `None` where the wanted rows of `range` are to be
    /// decoded alone: all columns of the file would not fit memory, there is no room now, or the
    /// reads of single rows have not yet read as many bytes as whole columns have.
    pub(crate) async fn kept_columns(
        &self,
        leaves: &[usize],
        range: &RowRange,
    ) -> Result<Option<Vec<KeptColumn>>, StorageFailure> {
        if self.parquet.kept_bytes(leaves) > self.columns.max_bytes() {
            return Ok(None);
        }
        let kept = self.columns.group(self.parquet.number, range.group).await;
        let mut columns = Vec::with_capacity(leaves.len());
        let mut missing = Vec::new();
        for &leaf in leaves {
            let column = kept.as_ref().and_then(|kept| kept.column(leaf));
            self.cache.metrics.kept_columns.record_lookup(column.is_some());
            match column {
                Some(column) => columns.push(column.clone()),
                None => missing.push(leaf),
            }
        }
        if missing.is_empty() {
            return Ok(Some(columns));
        }
        Box::pin(self.load_columns(leaves, &missing, range)).await
    }

    /// The same, where all of them are here; nothing is counted or read where they are not.
    pub(crate) async fn columns_here(
        &self,
        leaves: &[usize],
        group: usize,
    ) -> Option<Vec<KeptColumn>> {
        if self.parquet.kept_bytes(leaves) > self.columns.max_bytes() {
            return None;
        }
        let kept = self.columns.group(self.parquet.number, group).await?;
        let columns = leaves.iter().map(|&leaf| kept.column(leaf).cloned());
        let columns: Vec<_> = columns.collect::<Option<_>>()?;
        columns.iter().for_each(|_| self.cache.metrics.kept_columns.record_lookup(true));
        Some(columns)
    }

    async fn load_columns(
        &self,
        leaves: &[usize],
        missing: &[usize],
        range: &RowRange,
    ) -> Result<Option<Vec<KeptColumn>>, StorageFailure> {
        let group = range.group;
        let bytes = missing
            .iter()
            .map(|&leaf| self.estimated_bytes(group, leaf))
            .fold(0, u64::saturating_add);
        if bytes > MAX_LOAD_BYTES || !self.is_due(missing, range) {
            return Ok(None);
        }
        let load = |&leaf: &usize| {
            let chunk = self.parquet.chunk_id(group, leaf);
            let columns = self.parquet.metadata.row_group(group).num_columns();
            self.columns.get_or_load(chunk, columns, self.load_column(group, leaf))
        };
        let at_once = if self.files.is_local() { 1 } else { CONCURRENT_COLUMNS };
        let loads = stream::iter(leaves.iter().map(load).collect::<Vec<_>>());
        let columns: Option<Vec<KeptColumn>> =
            loads.buffered(at_once).try_collect::<Vec<_>>().await?.into_iter().collect();
        if columns.is_some() {
            self.parquet.restart_scattered(group);
        }
        Ok(columns)
    }

    /// A column of a row group, where there is room for it. Whoever waits for one that another
    /// loads needs none.
    async fn load_column(&self, group: usize, leaf: usize) -> Result<KeptColumn, LoadFailure> {
        let bytes = self.estimated_bytes(group, leaf);
        let _room = self.budget.take(bytes * 2).ok_or(LoadFailure::NoRoom)?;
        self.decode_column(group, leaf).await.map_err(LoadFailure::Storage)
    }

    /// Counts a search of column `leaf` of row group `group` for the rows of a few values, and
    /// keeps the rows of each value beside `column` once there have been many: where they fit
    /// memory with all columns of the file.
    pub(crate) async fn count_search(
        &self,
        group: usize,
        leaf: usize,
        column: &KeptColumn,
    ) -> Result<(), StorageFailure> {
        if !column.is_due() {
            return Ok(());
        }
        let Some(bytes) = ValuePlaces::bytes_for(&column.rows) else { return Ok(()) };
        let bytes = bytes as u64;
        if self.parquet.all_kept_bytes(group, leaf, bytes) > self.columns.max_bytes() {
            return Ok(());
        }
        let rows = Arc::clone(&column.rows);
        let places = self.run_on_worker(group, move || Ok(ValuePlaces::new(&rows))).await?;
        if let Some(places) = places {
            let chunk = self.parquet.chunk_id(group, leaf);
            self.columns.keep_places(chunk, column, places).await;
        }
        Ok(())
    }

    /// Counts the bytes of pages that hold wanted rows of `range`; returns true once as many have
    /// been read as whole columns have. So a read costs no more than twice what it has to,
    /// whatever comes after it.
    fn is_due(&self, leaves: &[usize], range: &RowRange) -> bool {
        let parquet = &self.parquet;
        let all = 0..parquet.rows_of(range.group);
        let is_wanted = |page: &PageLocation| {
            let rows = page.rows.start.max(range.rows.start)..page.rows.end.min(range.rows.end);
            rows.start < rows.end
                && range.wanted.as_ref().is_none_or(|wanted| {
                    wanted.slice(rows.start - range.rows.start, rows.len()).has_true()
                })
        };
        let (mut whole, mut touched) = (0, 0);
        for &leaf in leaves {
            let pages = pages_covering(parquet, parquet.chunk_id(range.group, leaf), &all);
            let bytes = |page: PageLocation| page.bytes;
            whole += pages.clone().map(bytes).sum::<u64>();
            touched += pages.filter(is_wanted).map(bytes).sum::<u64>();
        }
        parquet.count_scattered(range.group, touched, whole)
    }

    /// A column of a row group, as it is kept.
    async fn decode_column(&self, group: usize, leaf: usize) -> Result<KeptColumn, StorageFailure> {
        let parquet = &self.parquet;
        let rows = parquet.rows_of(group);
        let mean = self.estimated_bytes(group, leaf) / rows.max(1) as u64;
        let step = usize::try_from(STEP_BYTES / mean.max(1)).unwrap_or(rows).clamp(1, rows.max(1));
        let schema = parquet.metadata.file_metadata().schema_descr();
        let mask = ProjectionMask::leaves(schema, [leaf]);
        let range = RowRange { group, rows: 0..rows, wanted: None };
        let mut reader = self.reader(&parquet.filter, mask, range, step).await?;
        let mut parts = Vec::new();
        while let Some(rest) = reader {
            let column = |batch: RecordBatch| {
                let column = batch.columns().first().cloned();
                column.ok_or_else(|| ParquetError::General("a column was not decoded".to_owned()))
            };
            let Some((rest, part)) = self.batch(group, rest, column).await? else { break };
            self.cache.metrics.column_rows.add(part.len() as u64);
            parts.push(part);
            reader = Some(rest);
        }
        if parts.iter().map(|part| part.len()).sum::<usize>() != rows {
            let why = format!("row group {group} has fewer rows than the footer says");
            return Err(StorageFailure::damaged(&parquet.key, why));
        }
        let column = self
            .run_on_worker(group, move || {
                let mut rows = join_parts(&parts)?;
                rows.shrink_to_fit();
                let is_plain = parts.iter().all(|part| part.as_any_dictionary_opt().is_none());
                Ok(KeptColumn::new(rows, is_plain))
            })
            .await?;
        parquet.record_kept_bytes(group, leaf, column.bytes() as u64);
        Ok(column)
    }

    /// Bytes that decoding a column takes.
    fn estimated_bytes(&self, group: usize, leaf: usize) -> u64 {
        let parquet = &self.parquet;
        estimated_bytes(&parquet.metadata, parquet.filter.schema(), group, leaf)
    }

    /// Returns true where rows of the columns `leaves` can be taken from those that are kept, in
    /// the types in which clients get them.
    pub(crate) fn is_kept_as_read(&self, leaves: &[usize]) -> bool {
        is_convertible(self.parquet.filter.schema(), self.parquet.output.schema(), leaves)
    }
}
