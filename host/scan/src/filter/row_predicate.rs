//! The test of rows of a plan: a text in any dimension, conditions that all must hold, and a box
//! that geometry meets. What the statistics, pages and dictionaries of a row group decide is not
//! read; each value of a dictionary is tested once.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::StringArray;
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;
use parquet::errors::ParquetError;
use yearbook_domain::ReadPlan;
use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::read_plan::Condition;

use super::column_predicate::ColumnPredicate;
use super::group_predicate::{GroupGeometry, GroupPredicate, TestedColumn};
use super::pruning::{Coverage, group_coverage, page_rows};
use crate::StorageFailure;
use crate::decode::{ColumnDictionary, FileSource, ParquetFile};
use crate::geometry_box::GeometryBox;
use crate::row_bounds::{BoxRows, RowBounds};
use crate::search_pattern::SearchPattern;

/// A test of rows, and what is known of the row group looked at last.
pub(crate) struct RowPredicate {
    /// Text that a dimension must contain.
    pub(super) search: Option<SearchPattern>,
    /// Conditions that all must hold.
    pub(super) conditions: Vec<ColumnPredicate>,
    /// Geometry that must meet a box.
    pub(super) geometry: Option<GeometryTest>,
    /// Columns of the file that it reads, ascending.
    leaves: Vec<usize>,
    last: Mutex<Option<(usize, Option<Arc<GroupPredicate>>)>>,
}

/// A test of geometry.
pub(super) struct GeometryTest {
    /// Column of the file.
    leaf: usize,
    area: GeometryBox,
    /// Bounds of its rows, where they are stored.
    bounds: Option<RowBounds>,
}

impl GeometryTest {
    /// The texts that meet the box.
    pub(super) fn hits(&self, texts: &StringArray) -> Result<BooleanBuffer, ParquetError> {
        let hits = self.area.hits(texts);
        hits.map_err(|error| ParquetError::General(format!("column {GEOMETRY_COLUMN}: {error}")))
    }
}

/// Tests that are open in a row group.
struct OpenTests {
    /// Conditions, by their place among all.
    conditions: Vec<usize>,
    /// Rows that may match; `None` for all.
    candidates: Option<BooleanBuffer>,
    geometry: GeometryRows,
}

/// Rows of a row group whose geometry is to be tested.
enum GeometryRows {
    None,
    Some(BooleanBuffer),
    All,
}

impl GeometryRows {
    /// The rows if there are some, `None` in it for all.
    fn into_rows(self) -> Option<Option<BooleanBuffer>> {
        match self {
            Self::None => None,
            Self::Some(rows) => Some(Some(rows)),
            Self::All => Some(None),
        }
    }
}

/// Dictionaries of a row group by column of the file, ascending.
type Dictionaries = Vec<(usize, Option<Arc<ColumnDictionary>>)>;

impl RowPredicate {
    /// A test of the rows of `parquet`: all that `plan` asks of them besides dates. `None` if that
    /// is nothing. `bounds` are those of its geometry.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] for a condition on a column that the file does not have.
    pub(crate) fn new(
        parquet: &ParquetFile,
        plan: &ReadPlan,
        bounds: Option<RowBounds>,
    ) -> Result<Option<Self>, StorageFailure> {
        let search = plan.search_text.as_deref().map(SearchPattern::new);
        let compile = |condition: &Condition| {
            let leaf = parquet.column_index(condition.column)?;
            Ok(ColumnPredicate::new(leaf, condition.test.clone()))
        };
        let conditions = plan.conditions.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        let geometry = |bbox| {
            let leaf = parquet.column_index_by_name(GEOMETRY_COLUMN)?;
            Ok::<_, StorageFailure>(GeometryTest { leaf, area: GeometryBox::new(bbox), bounds })
        };
        let geometry = plan.bbox.map(geometry).transpose()?;
        if search.is_none() && conditions.is_empty() && geometry.is_none() {
            return Ok(None);
        }
        let mut leaves: Vec<usize> = conditions.iter().map(|condition| condition.leaf).collect();
        leaves.extend(geometry.as_ref().map(|test| test.leaf));
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
            Some(open) => match self.by_bounds(source, group, open).await? {
                None => None,
                Some(open) => self.by_dictionaries(source, group, open).await?.map(Arc::new),
            },
        };
        let metrics = &source.cache.metrics;
        metrics.groups_searched.increment();
        metrics.groups_ruled_out.add(u64::from(left.is_none()));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((group, left.clone()));
        Ok(left)
    }

    /// Tests that statistics leave open; `None` where no row matches.
    fn by_statistics(&self, parquet: &ParquetFile, group: usize) -> Option<OpenTests> {
        let mut conditions = Vec::new();
        for (place, condition) in self.conditions.iter().enumerate() {
            match group_coverage(parquet, group, condition) {
                Coverage::Nothing => return None,
                Coverage::Unknown => conditions.push(place),
                Coverage::Everything => {}
            }
        }
        let on_pages = |&place: &usize| page_rows(parquet, group, self.conditions.get(place)?);
        let candidates = conditions.iter().filter_map(on_pages).reduce(|one, other| &one & &other);
        if candidates.as_ref().is_some_and(|rows| !rows.has_true()) {
            return None;
        }
        let candidates = candidates.filter(BooleanBuffer::has_false);
        let geometry = self.geometry.as_ref().map_or(GeometryRows::None, |_| GeometryRows::All);
        Some(OpenTests { conditions, candidates, geometry })
    }

    /// The tests of `open` that stored bounds of rows leave; `None` where no row matches.
    async fn by_bounds(
        &self,
        source: &FileSource,
        group: usize,
        open: OpenTests,
    ) -> Result<Option<OpenTests>, StorageFailure> {
        let Some(GeometryTest { area, bounds: Some(bounds), .. }) = &self.geometry else {
            return Ok(Some(open));
        };
        let compared = Box::pin(bounds.compare(source, group, *area)).await?;
        let Some(BoxRows { inside, open: tested }) = compared else { return Ok(Some(open)) };
        let left = &inside | &tested;
        let candidates = open.candidates.map_or_else(|| left.clone(), |rows| &rows & &left);
        if !candidates.has_true() {
            return Ok(None);
        }
        let is_tested = (&tested & &candidates).has_true();
        let geometry = if is_tested { GeometryRows::Some(tested) } else { GeometryRows::None };
        let candidates = candidates.has_false().then_some(candidates);
        Ok(Some(OpenTests { candidates, geometry, ..open }))
    }

    /// The tests of `open` that dictionaries leave; `None` where no row matches.
    async fn by_dictionaries(
        self: &Arc<Self>,
        source: &FileSource,
        group: usize,
        open: OpenTests,
    ) -> Result<Option<GroupPredicate>, StorageFailure> {
        let schema = source.parquet.filter.schema();
        let is_keyed = |leaf: usize| {
            let field = schema.fields().get(leaf);
            field.is_some_and(|field| matches!(field.data_type(), DataType::Dictionary(..)))
        };
        let is_decided_by_values = |&place: &usize| {
            let condition = self.conditions.get(place)?;
            (condition.is_of_values() && is_keyed(condition.leaf)).then_some(condition.leaf)
        };
        let mut leaves: Vec<usize> =
            open.conditions.iter().filter_map(is_decided_by_values).collect();
        let geometry = self.geometry.as_ref().map(|test| test.leaf);
        let is_tested = !matches!(open.geometry, GeometryRows::None);
        leaves.extend(geometry.filter(|&leaf| is_tested && is_keyed(leaf)));
        if self.search.is_some() {
            leaves.extend(&source.parquet.dimensions);
        }
        sort_distinct(&mut leaves);
        if leaves.is_empty() {
            return Ok(self.group_predicate(source, group, open, &Vec::new()));
        }
        let found = source.load_dictionaries(group, &leaves).await?;
        let dictionaries: Dictionaries = leaves.into_iter().zip(found).collect();
        let (predicate, of_job) = (Arc::clone(self), source.clone());
        let job = move || Ok(predicate.group_predicate(&of_job, group, open, &dictionaries));
        source.run_on_worker(group, job).await
    }

    fn group_predicate(
        &self,
        source: &FileSource,
        group: usize,
        open: OpenTests,
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
        for &place in &open.conditions {
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
        let mut geometry = None;
        if let Some(GeometryTest { leaf, area, .. }) = &self.geometry
            && let Some(rows) = open.geometry.into_rows()
        {
            let texts = dictionary(*leaf).and_then(|dictionary| dictionary.texts());
            // Text that is no geometry fails where a row has it.
            let hits = texts.and_then(|texts| area.hits(texts).ok());
            if rows.is_none() && hits.as_ref().is_some_and(|hits| !hits.has_true()) {
                return None;
            }
            geometry = Some(GroupGeometry { leaf: *leaf, rows, hits });
        }
        let of_conditions = conditions.iter().map(|(_, column)| column);
        let tested = dimensions.iter().chain(of_conditions);
        let mut leaves: Vec<usize> = tested.map(|column| column.leaf).collect();
        sort_distinct(&mut leaves);
        let candidates = open.candidates;
        Some(GroupPredicate { leaves, candidates, dimensions, conditions, geometry })
    }
}

fn sort_distinct(leaves: &mut Vec<usize>) {
    leaves.sort_unstable();
    leaves.dedup();
}
