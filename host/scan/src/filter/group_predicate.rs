//! Tests that are left for a row group: of rows of its columns, one by one, or of those alone that
//! stand with a value.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use parquet::errors::ParquetError;

use super::column_predicate::keyed_rows;
use super::row_predicate::RowPredicate;
use crate::decode::KeptColumn;
use crate::search_pattern::{CaseFolded, SearchPattern};

/// A test of a row group in which rows may match: what statistics, bounds and dictionaries left of
/// it.
pub(super) struct GroupPredicate {
    /// Columns of the file to decode, ascending, geometry left out; none where all of `candidates`
    /// match.
    pub(super) leaves: Vec<usize>,
    /// Rows of the row group that may match; `None` for all.
    pub(super) candidates: Option<BooleanBuffer>,
    /// Dimensions that may contain the text.
    pub(super) dimensions: Vec<TestedColumn>,
    /// Conditions that are open, by their place among all.
    pub(super) conditions: Vec<(usize, TestedColumn)>,
    /// Geometry, where only that decides.
    pub(super) geometry: Option<GroupGeometry>,
}

impl GroupPredicate {
    /// The column `leaf` of the file among [`Self::leaves`].
    fn column<'a>(&self, columns: &'a [KeptColumn], leaf: usize) -> Option<&'a KeptColumn> {
        columns.get(self.leaves.binary_search(&leaf).ok()?)
    }

    /// Rows that one of the conditions `few` leaves, the one that leaves the fewest, where its
    /// column has the rows of each value, and they are few.
    pub(super) fn placed_rows(
        &self,
        columns: &[KeptColumn],
        few: &[FewValues],
    ) -> Option<PlacedRows> {
        let placed = few.iter().filter_map(|FewValues { column, hits }| {
            let places = columns.get(*column)?.places()?;
            let rows = hits.iter().map(|value| places.rows_of(*value).count()).sum::<usize>();
            Some((rows, places, hits))
        });
        let (rows, places, hits) = placed.min_by_key(|(rows, ..)| *rows)?;
        let all = columns.first()?.rows.len();
        if rows > all / PLACED_SHARE {
            return None;
        }
        let mut rows: Vec<usize> = hits.iter().flat_map(|value| places.rows_of(*value)).collect();
        if hits.len() > 1 {
            rows.sort_unstable();
        }
        Some(PlacedRows { rows, is_all: self.conditions.len() == 1 })
    }
}

/// Values that pass a condition.
pub(super) struct FewValues {
    /// Place of their column among [`GroupPredicate::leaves`].
    pub(super) column: usize,
    /// Their numbers.
    hits: Vec<usize>,
}

/// Rows that a condition leaves.
pub(super) struct PlacedRows {
    /// Counted within the row group, ascending.
    pub(super) rows: Vec<usize>,
    /// Set where no other test is open.
    pub(super) is_all: bool,
}

/// Values of a condition at most whose rows are looked up.
const FEW_VALUES: usize = 16;

/// Rows of a row group for one that is looked up, at least: beyond, comparing all takes less.
const PLACED_SHARE: usize = 32;

/// Geometry of a row group to test.
pub(super) struct GroupGeometry {
    /// Column of the file.
    pub(super) leaf: usize,
    /// Rows to test; `None` for all. The other candidates meet the box.
    pub(super) rows: Option<BooleanBuffer>,
    /// Values of its dictionary that meet the box.
    pub(super) hits: Option<BooleanBuffer>,
}

/// A column to test.
pub(super) struct TestedColumn {
    /// Column of the file.
    pub(super) leaf: usize,
    /// Values of its dictionary that match; `None` where it has no dictionary, or not for all
    /// values.
    pub(super) hits: Option<BooleanBuffer>,
}

impl RowPredicate {
    /// Conditions that few values of a column that is kept pass, so that their rows are looked up
    /// where they are known.
    pub(super) fn few_values(
        &self,
        columns: &[KeptColumn],
        group: &GroupPredicate,
    ) -> Vec<FewValues> {
        if self.search.is_some() {
            return Vec::new();
        }
        let few = group.conditions.iter().filter_map(|(place, tested)| {
            let column = group.leaves.binary_search(&tested.leaf).ok()?;
            let hits = self.few_hits(*place, tested, columns.get(column)?)?;
            Some(FewValues { column, hits })
        });
        few.collect()
    }

    /// Numbers of the values of a column that pass a condition, where they are few.
    fn few_hits(
        &self,
        place: usize,
        tested: &TestedColumn,
        column: &KeptColumn,
    ) -> Option<Vec<usize>> {
        let given = || self.conditions.get(place)?.dictionary_hits(column.values()?);
        let hits = tested.hits.clone().or_else(given)?;
        let few: Vec<usize> = hits.set_indices().take(FEW_VALUES + 1).collect();
        (few.len() <= FEW_VALUES).then_some(few)
    }

    /// The matches among `rows` rows of `columns`, the decoded columns [`GroupPredicate::leaves`].
    pub(super) fn rows(
        &self,
        columns: &[KeptColumn],
        rows: usize,
        group: &GroupPredicate,
    ) -> Result<BooleanBuffer, ParquetError> {
        let missing = || ParquetError::General("a filter column was not decoded".to_owned());
        let column = |leaf: usize| group.column(columns, leaf).ok_or_else(missing);
        let mut found = None;
        if let Some(pattern) = &self.search {
            let mut any = BooleanBuffer::new_unset(rows);
            for TestedColumn { leaf, hits } in &group.dimensions {
                any = &any | &search_rows(pattern, &column(*leaf)?.rows, hits.as_ref())?;
            }
            found = Some(any);
        }
        for (place, TestedColumn { leaf, hits }) in &group.conditions {
            let condition = self.conditions.get(*place).ok_or_else(missing)?;
            let column = column(*leaf)?;
            let given = || condition.dictionary_hits(column.values()?);
            let hits = hits.clone().or_else(given);
            let own = condition.rows(&column.rows, hits.as_ref())?;
            found = Some(found.map_or_else(|| own.clone(), |others| &others & &own));
        }
        Ok(found.unwrap_or_else(|| BooleanBuffer::new_set(rows)))
    }

    /// The rows of the decoded geometry, alone in `columns`, that meet the box.
    pub(super) fn geometry_rows(
        &self,
        columns: &[KeptColumn],
        group: &GroupGeometry,
    ) -> Result<BooleanBuffer, ParquetError> {
        let missing = || ParquetError::General("no geometry was decoded".to_owned());
        let test = self.geometry.as_ref().ok_or_else(missing)?;
        let geometry = &columns.first().ok_or_else(missing)?.rows;
        match geometry.as_string_opt::<i32>() {
            Some(texts) => test.hits(texts),
            // Text that is no geometry fails where a row has it.
            None => keyed_rows(geometry, group.hits.as_ref(), |values| test.hits(values))
                .or_else(|_| test.hits(cast(geometry, &DataType::Utf8)?.as_string())),
        }
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
        None => keyed_rows(column, hits, |values| Ok(pattern.hits(&CaseFolded::new(values), None))),
    }
}
