//! The test of rows of a plan: a text in any dimension, conditions that all must hold, and a box
//! that geometry meets. What the statistics, pages and dictionaries of a row group decide is not
//! read; each value of a dictionary is tested once.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;
use parquet::errors::ParquetError;
use yearbook_domain::ReadPlan;
use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::read_plan::{ColumnTest, Condition};

use super::column_predicate::{ColumnPredicate, keyed_rows};
use super::pruning::{Coverage, group_coverage, page_rows};
use crate::StorageFailure;
use crate::decode::{ColumnDictionary, FileSource, ParquetFile};
use crate::geometry_box::GeometryBox;
use crate::search_pattern::{CaseFolded, SearchPattern};

/// A test of rows, and what is known of the row group looked at last.
pub(crate) struct RowPredicate {
    /// Text that a dimension must contain.
    search: Option<SearchPattern>,
    /// Conditions that all must hold.
    conditions: Vec<ColumnPredicate>,
    /// Column of the file whose geometry must meet a box, and the box.
    geometry: Option<(usize, GeometryBox)>,
    /// Columns of the file that it reads, ascending.
    leaves: Vec<usize>,
    last: Mutex<Option<(usize, Option<Arc<GroupPredicate>>)>>,
}

/// A test of a row group in which rows may match: what statistics and dictionaries left of it.
pub(super) struct GroupPredicate {
    /// Columns of the file to decode, ascending; none where all of `candidates` match.
    pub(super) leaves: Vec<usize>,
    /// Rows of the row group that may match; `None` for all.
    pub(super) candidates: Option<BooleanBuffer>,
    /// Dimensions that may contain the text.
    dimensions: Vec<TestedColumn>,
    /// Conditions that are open, by their place among all.
    conditions: Vec<(usize, TestedColumn)>,
    /// Geometry, where a box is asked for.
    geometry: Option<TestedColumn>,
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
    /// A test of the rows of `parquet`: all that `plan` asks of them besides dates. `None` if that
    /// is nothing.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] for a condition on a column that the file does not have.
    pub(crate) fn new(
        parquet: &ParquetFile,
        plan: &ReadPlan,
    ) -> Result<Option<Self>, StorageFailure> {
        let search = plan.search_text.as_deref().map(SearchPattern::new);
        let compile = |condition: &Condition| {
            let leaf = parquet.column_index(condition.column)?;
            Ok(ColumnPredicate::new(leaf, condition.test.clone()))
        };
        let conditions = plan.conditions.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        let geometry = |bbox| {
            let leaf = parquet.column_index_by_name(GEOMETRY_COLUMN)?;
            Ok::<_, StorageFailure>((leaf, GeometryBox::new(bbox)))
        };
        let geometry = plan.bbox.map(geometry).transpose()?;
        if search.is_none() && conditions.is_empty() && geometry.is_none() {
            return Ok(None);
        }
        let mut leaves: Vec<usize> = conditions.iter().map(|condition| condition.leaf).collect();
        leaves.extend(geometry.map(|(leaf, _)| leaf));
        if search.is_some() {
            leaves.extend(&parquet.dimensions);
        }
        sort_distinct(&mut leaves);
        Ok(Some(Self { search, conditions, geometry, leaves, last: Mutex::new(None) }))
    }

    /// Columns of the file that it reads, ascending.
    pub(crate) fn leaves(&self) -> &[usize] {
        &self.leaves
    }

    /// Tests that are left for row group `group`; `None` where no row of it matches.
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

    /// Tests that dictionaries leave of the conditions `open`, the search and the box; `None` where
    /// no row matches.
    async fn by_dictionaries(
        self: &Arc<Self>,
        source: &FileSource,
        group: usize,
        open: Vec<usize>,
        candidates: Option<BooleanBuffer>,
    ) -> Result<Option<GroupPredicate>, StorageFailure> {
        let schema = source.parquet.filter.schema();
        let is_keyed = |leaf: usize| {
            let field = schema.fields().get(leaf);
            field.is_some_and(|field| matches!(field.data_type(), DataType::Dictionary(..)))
        };
        let is_decided_by_values = |&place: &usize| {
            let condition = self.conditions.get(place)?;
            let of_values = !matches!(condition.test, ColumnTest::IsNull(_));
            (of_values && is_keyed(condition.leaf)).then_some(condition.leaf)
        };
        let mut leaves: Vec<usize> = open.iter().filter_map(is_decided_by_values).collect();
        leaves.extend(self.geometry.map(|(leaf, _)| leaf).filter(|&leaf| is_keyed(leaf)));
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
        let job =
            move || Ok(predicate.group_predicate(&of_job, group, &open, candidates, &dictionaries));
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
        let geometry = self.geometry.map(|(leaf, area)| {
            let texts = dictionary(leaf).and_then(|dictionary| dictionary.texts());
            // Text that is no geometry fails where a row has it.
            let hits = texts.and_then(|texts| area.hits(texts, None).ok());
            TestedColumn { leaf, hits }
        });
        let hits = geometry.as_ref().and_then(|column| column.hits.as_ref());
        if hits.is_some_and(|hits| !hits.has_true()) {
            return None;
        }
        let of_conditions = conditions.iter().map(|(_, column)| column);
        let tested = dimensions.iter().chain(of_conditions).chain(&geometry);
        let mut leaves: Vec<usize> = tested.map(|column| column.leaf).collect();
        sort_distinct(&mut leaves);
        Some(GroupPredicate { leaves, candidates, dimensions, conditions, geometry })
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
        if let (Some(TestedColumn { leaf, hits }), Some((_, area))) =
            (&group.geometry, &self.geometry)
        {
            let geometry = column(*leaf)?;
            rows = match geometry.as_string_opt::<i32>() {
                Some(texts) => area.hits(texts, Some(&rows)).map_err(|error| {
                    ParquetError::General(format!("column {GEOMETRY_COLUMN}: {error}"))
                })?,
                None => &rows & &keyed_rows(geometry, hits.as_ref())?,
            };
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
