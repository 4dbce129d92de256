//! A search through dimensions: the pattern is looked for once in the dictionary of each column of
//! a row group, and what holds no match in any dictionary is not read.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Int32Type;
use parquet::errors::ParquetError;

use crate::StorageFailure;
use crate::decode::{ColumnDictionary, FileSource};
use crate::search_pattern::{CaseFolded, SearchPattern};

/// A pattern, and what was found in the dictionaries of the row group looked at last.
pub(crate) struct DimensionSearch {
    pattern: SearchPattern,
    last: Mutex<Option<(usize, Arc<ColumnPredicates>)>>,
}

/// The columns of a row group that may hold a match, ascending.
pub(super) type ColumnPredicates = Vec<ColumnPredicate>;

/// A test of the rows of a column.
pub(super) struct ColumnPredicate {
    /// Column of the file.
    pub(super) leaf: usize,
    /// Values of its dictionary that match; `None` where it has no dictionary, or not for all
    /// values.
    hits: Option<BooleanBuffer>,
}

impl DimensionSearch {
    /// A search that has not begun.
    pub(crate) fn new(pattern: SearchPattern) -> Self {
        Self { pattern, last: Mutex::new(None) }
    }

    /// The dimensions of row group `group` that may hold a match.
    pub(super) async fn prune_row_group(
        &self,
        source: &FileSource,
        group: usize,
    ) -> Result<Arc<ColumnPredicates>, StorageFailure> {
        if let Some((last, predicates)) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && *last == group
        {
            return Ok(Arc::clone(predicates));
        }
        let dimensions = &source.parquet.dimensions;
        let dictionaries = source.load_dictionaries(group, dimensions).await?;
        let columns: Vec<_> = dimensions.iter().copied().zip(dictionaries).collect();
        let (pattern, cache) = (self.pattern.clone(), Arc::clone(&source.cache));
        let job = move || {
            let predicate = |(leaf, dictionary): (usize, Option<Arc<ColumnDictionary>>)| {
                let Some(dictionary) = dictionary else {
                    return Some(ColumnPredicate { leaf, hits: None });
                };
                cache.metrics.values_searched.add(dictionary.values().len() as u64);
                let hits = dictionary.hits(&pattern);
                let excluded = hits.as_ref().is_some_and(|hits| !hits.has_true());
                (!excluded).then_some(ColumnPredicate { leaf, hits })
            };
            Ok(columns.into_iter().filter_map(predicate).collect())
        };
        let predicates: Arc<ColumnPredicates> = Arc::new(source.run_on_worker(group, job).await?);
        source.cache.metrics.groups_searched.increment();
        source.cache.metrics.groups_ruled_out.add(u64::from(predicates.is_empty()));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((group, Arc::clone(&predicates)));
        Ok(predicates)
    }

    /// The rows of `batch`, decoded columns in the order of `predicates`, in which any contains the
    /// pattern.
    pub(super) fn rows(
        &self,
        batch: &RecordBatch,
        predicates: &ColumnPredicates,
    ) -> Result<BooleanBuffer, ParquetError> {
        let mut found = BooleanBuffer::new_unset(batch.num_rows());
        for (column, predicate) in batch.columns().iter().zip(predicates) {
            found = &found | &self.column(column, predicate)?;
        }
        Ok(found)
    }

    fn column(
        &self,
        column: &ArrayRef,
        predicate: &ColumnPredicate,
    ) -> Result<BooleanBuffer, ParquetError> {
        if let Some(texts) = column.as_string_opt::<i32>() {
            return Ok(self.pattern.hits(&CaseFolded::new(texts), texts.nulls()));
        }
        let (Some(keyed), Some(hits)) = (column.as_dictionary_opt::<Int32Type>(), &predicate.hits)
        else {
            return Err(ParquetError::General(format!(
                "a dimension column is {}, not text",
                column.data_type()
            )));
        };
        let keys = keyed.keys();
        let hit = |row: usize| {
            keys.values()
                .get(row)
                .and_then(|key| usize::try_from(*key).ok())
                .is_some_and(|key| key < hits.len() && hits.value(key))
        };
        let rows = BooleanBuffer::collect_bool(keys.len(), hit);
        Ok(keys.nulls().map_or_else(|| rows.clone(), |nulls| &rows & nulls.inner()))
    }
}
