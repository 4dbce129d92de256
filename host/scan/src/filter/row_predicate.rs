//! The test of rows of a plan: a text in any dimension, and conditions that all must hold. What the
//! statistics, pages and dictionaries of a row group decide is not read; each value of a dictionary
//! is tested once.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;
use parquet::errors::ParquetError;
use yearbook_domain::read_plan::{ColumnTest, Condition};

use super::column_predicate::{ColumnPredicate, keyed_rows};
use super::pruning::{Coverage, group_coverage, page_rows};
use crate::StorageFailure;
use crate::decode::{ColumnDictionary, FileSource, ParquetFile};
use crate::search_pattern::{CaseFolded, SearchPattern};

/// What rows must satisfy, and what is known of the row group looked at last.
pub(crate) struct RowPredicate {
    /// Text that a dimension must contain.
    search: Option<SearchPattern>,
    /// All of these must hold.
    conditions: Vec<ColumnPredicate>,
    /// Columns of the file that it reads, ascending.
    leaves: Vec<usize>,
    last: Mutex<Option<(usize, Option<Arc<GroupPredicate>>)>>,
}

/// What is left to test of a row group in which rows may match.
pub(super) struct GroupPredicate {
    /// Columns of the file to decode, ascending; none where all of `candidates` match.
    pub(super) leaves: Vec<usize>,
    /// Rows of the row group that may match; `None` for all.
    pub(super) candidates: Option<BooleanBuffer>,
    /// Dimensions that may contain the text.
    dimensions: Vec<TestedColumn>,
    /// Conditions that are open, by their place among all.
    conditions: Vec<(usize, TestedColumn)>,
}

/// A column to test.
struct TestedColumn {
    /// Column of the file.
    leaf: usize,
    /// Values of its dictionary that match; `None` where it has no dictionary, or not for all
    /// values.
    hits: Option<BooleanBuffer>,
}

/// Dictionaries of a row group by column of the file, ascending.
type Dictionaries = Vec<(usize, Option<Arc<ColumnDictionary>>)>;

impl RowPredicate {
    /// A predicate for the rows of `parquet`, of which nothing is known yet.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] for a condition on a column that the file does not have.
    pub(crate) fn new(
        parquet: &ParquetFile,
        search_text: Option<&str>,
        conditions: &[Condition],
    ) -> Result<Self, StorageFailure> {
        let search = search_text.map(SearchPattern::new);
        let compile = |condition: &Condition| {
            let leaf = parquet.column_index(condition.column)?;
            Ok(ColumnPredicate::new(leaf, condition.test.clone()))
        };
        let conditions = conditions.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        let mut leaves: Vec<usize> = conditions.iter().map(|condition| condition.leaf).collect();
        if search.is_some() {
            leaves.extend(&parquet.dimensions);
        }
        sort_distinct(&mut leaves);
        Ok(Self { search, conditions, leaves, last: Mutex::new(None) })
    }

    /// Columns of the file that it reads, ascending.
    pub(crate) fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// What is left to test of row group `group`; `None` where no row of it matches.
    pub(super) async fn prune_row_group(
        self: &Arc<Self>,
        source: &FileSource,
        group: usize,
    ) -> Result<Option<Arc<GroupPredicate>>, StorageFailure> {
        if let Some((last, known)) = &*self.last.lock().unwrap_or_else(PoisonError::into_inner)
            && *last == group
        {
            return Ok(known.clone());
        }
        let left = match self.by_statistics(&source.parquet, group) {
            None => None,
            Some((open, candidates)) => {
                self.by_dictionaries(source, group, open, candidates).await?.map(Arc::new)
            }
        };
        let metrics = &source.cache.metrics;
        metrics.groups_searched.increment();
        metrics.groups_ruled_out.add(u64::from(left.is_none()));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((group, left.clone()));
        Ok(left)
    }

    /// Places of the conditions that statistics leave open, and the rows on pages that may satisfy
    /// all; `None` where there is no such row.
    fn by_statistics(
        &self,
        parquet: &ParquetFile,
        group: usize,
    ) -> Option<(Vec<usize>, Option<BooleanBuffer>)> {
        let mut open = Vec::new();
        for (place, condition) in self.conditions.iter().enumerate() {
            match group_coverage(parquet, group, condition) {
                Coverage::Nothing => return None,
                Coverage::Unknown => open.push(place),
                Coverage::Everything => {}
            }
        }
        let on_pages = |&place: &usize| page_rows(parquet, group, self.conditions.get(place)?);
        let candidates = open.iter().filter_map(on_pages).reduce(|one, other| &one & &other);
        let none = candidates.as_ref().is_some_and(|rows| !rows.has_true());
        (!none).then_some((open, candidates))
    }

    /// What dictionaries leave of the conditions `open` and of the search; `None` where no row
    /// matches.
    async fn by_dictionaries(
        self: &Arc<Self>,
        source: &FileSource,
        group: usize,
        open: Vec<usize>,
        candidates: Option<BooleanBuffer>,
    ) -> Result<Option<GroupPredicate>, StorageFailure> {
        let schema = source.parquet.filter.schema();
        let is_decided_by_values = |&place: &usize| {
            let condition = self.conditions.get(place)?;
            let is_text = schema
                .fields()
                .get(condition.leaf)
                .is_some_and(|field| matches!(field.data_type(), DataType::Dictionary(..)));
            let of_values = is_text && !matches!(condition.test, ColumnTest::IsNull(_));
            of_values.then_some(condition.leaf)
        };
        let mut leaves: Vec<usize> = open.iter().filter_map(is_decided_by_values).collect();
        if self.search.is_some() {
            leaves.extend(&source.parquet.dimensions);
        }
        sort_distinct(&mut leaves);
        if leaves.is_empty() {
            return Ok(self.group_predicate(source, group, &open, candidates, &Vec::new()));
        }
        let found = source.load_dictionaries(group, &leaves).await?;
        let dictionaries: Dictionaries = leaves.into_iter().zip(found).collect();
        let (predicate, of_job) = (Arc::clone(self), source.clone());
        let job = move || {
            Ok(predicate.group_predicate(&of_job, group, &open, candidates, &dictionaries))
        };
        source.run_on_worker(group, job).await
    }

    fn group_predicate(
        &self,
        source: &FileSource,
        group: usize,
        open: &[usize],
        candidates: Option<BooleanBuffer>,
        dictionaries: &Dictionaries,
    ) -> Option<GroupPredicate> {
        let dictionary = |leaf: usize| {
            let place = dictionaries.binary_search_by_key(&leaf, |(leaf, _)| *leaf).ok()?;
            let dictionary = dictionaries.get(place)?.1.as_ref()?;
            source.cache.metrics.values_searched.add(dictionary.values().len() as u64);
            Some(dictionary)
        };
        let mut dimensions = Vec::new();
        if let Some(pattern) = &self.search {
            for &leaf in &source.parquet.dimensions {
                let folded = dictionary(leaf).and_then(|dictionary| dictionary.folded());
                let hits = folded.map(|folded| pattern.hits(folded, None));
                if hits.as_ref().is_none_or(BooleanBuffer::has_true) {
                    dimensions.push(TestedColumn { leaf, hits });
                }
            }
            if dimensions.is_empty() {
                return None;
            }
        }
        let chunks = source.parquet.metadata.row_group(group);
        let mut conditions = Vec::new();
        for &place in open {
            let condition = self.conditions.get(place)?;
            let leaf = condition.leaf;
            let hits =
                dictionary(leaf).and_then(|dictionary| condition.dictionary_hits(dictionary));
            if hits.as_ref().is_some_and(|hits| !hits.has_true()) {
                return None;
            }
            let statistics = chunks.column(leaf).statistics();
            let none_null = statistics.and_then(|all| all.null_count_opt()) == Some(0);
            let is_every_value = hits.as_ref().is_some_and(|hits| !hits.has_false());
            if !(is_every_value && none_null) {
                conditions.push((place, TestedColumn { leaf, hits }));
            }
        }
        let of_conditions = conditions.iter().map(|(_, column)| column.leaf);
        let mut leaves: Vec<usize> =
            dimensions.iter().map(|column| column.leaf).chain(of_conditions).collect();
        sort_distinct(&mut leaves);
        Some(GroupPredicate { leaves, candidates, dimensions, conditions })
    }

    /// The rows of `batch`, the decoded columns [`GroupPredicate::leaves`], that match.
    pub(super) fn rows(
        &self,
        batch: &RecordBatch,
        group: &GroupPredicate,
    ) -> Result<BooleanBuffer, ParquetError> {
        let missing = || ParquetError::General("a filter column was not decoded".to_owned());
        let column = |leaf: usize| {
            let place = group.leaves.binary_search(&leaf).ok();
            place.and_then(|place| batch.columns().get(place)).ok_or_else(missing)
        };
        let mut rows = match &self.search {
            None => BooleanBuffer::new_set(batch.num_rows()),
            Some(pattern) => {
                let mut rows = BooleanBuffer::new_unset(batch.num_rows());
                for TestedColumn { leaf, hits } in &group.dimensions {
                    rows = &rows | &search_rows(pattern, column(*leaf)?, hits.as_ref())?;
                }
                rows
            }
        };
        for (place, TestedColumn { leaf, hits }) in &group.conditions {
            let condition = self.conditions.get(*place).ok_or_else(missing)?;
            rows = &rows & &condition.rows(column(*leaf)?, hits.as_ref())?;
        }
        Ok(rows)
    }
}

/// The rows of a dimension that contain `pattern`.
fn search_rows(
    pattern: &SearchPattern,
    column: &ArrayRef,
    hits: Option<&BooleanBuffer>,
) -> Result<BooleanBuffer, ParquetError> {
    match column.as_string_opt::<i32>() {
        Some(texts) => Ok(pattern.hits(&CaseFolded::new(texts), texts.nulls())),
        None => keyed_rows(column, hits),
    }
}

fn sort_distinct(leaves: &mut Vec<usize>) {
    leaves.sort_unstable();
    leaves.dedup();
}
