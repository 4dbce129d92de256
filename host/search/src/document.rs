//! The texts of a dataset that are indexed, and the values that its facets have
//! (contract-9-facets).

use yearbook_domain::meaning::Text;
use yearbook_domain::{Dataset, Snapshot};

/// A dataset as the index takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchDocument {
    /// snake_case name, unique in an index.
    pub name: String,
    /// Human title.
    pub title: Option<String>,
    /// The title in other languages.
    pub other_titles: Vec<String>,
    /// Human description.
    pub description: Option<String>,
    /// Prose besides: descriptions in other languages, titles of columns, notes and labels in all.
    pub other_prose: Vec<String>,
    /// Columns in table order.
    pub columns: Vec<ColumnText>,
    /// Publishing agency.
    pub agency: String,
    /// Topics: the keywords of the data package.
    pub keywords: Vec<String>,
    /// Name of the licence, for example `CC-BY-4.0`.
    pub licence: String,
    /// Shapes; a dataset may have two.
    pub shapes: Vec<DatasetShape>,
    /// Refresh cadence; `None` if not stated.
    pub cadence: Option<String>,
}

/// Texts of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnText {
    /// snake_case name.
    pub name: String,
    /// Description of the values.
    pub description: Option<String>,
}

/// Shape of a dataset, as the facet `shape` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DatasetShape {
    /// Has a date axis.
    Series,
    /// Has geometry.
    Spatial,
    /// Has neither.
    Table,
}

impl DatasetShape {
    /// Returns its name in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Series => "series",
            Self::Spatial => "spatial",
            Self::Table => "table",
        }
    }

    /// Returns the shapes of a dataset.
    #[must_use]
    pub fn from_axes(has_dates: bool, has_geometry: bool) -> Vec<Self> {
        match (has_dates, has_geometry) {
            (false, false) => vec![Self::Table],
            _ => [(has_dates, Self::Series), (has_geometry, Self::Spatial)]
                .into_iter()
                .filter_map(|(has, shape)| has.then_some(shape))
                .collect(),
        }
    }
}

impl From<&Dataset> for SearchDocument {
    fn from(dataset: &Dataset) -> Self {
        let snapshot = &dataset.current;
        let column = |column: &yearbook_domain::Column| ColumnText {
            name: column.name.clone(),
            description: column.description.clone(),
        };
        Self {
            name: dataset.name.to_string(),
            title: snapshot.title.clone(),
            other_titles: snapshot.meaning.title.values().cloned().collect(),
            description: snapshot.description.clone(),
            other_prose: other_prose(snapshot),
            columns: snapshot.columns.iter().map(column).collect(),
            agency: snapshot.credit.source.clone(),
            keywords: snapshot.keywords.clone(),
            licence: snapshot.credit.licence.clone(),
            shapes: DatasetShape::from_axes(
                snapshot.date_column.is_some(),
                snapshot.has_geometry(),
            ),
            cadence: snapshot.refresh_cadence.clone(),
        }
    }
}

/// Texts of the publisher that are neither title nor description in their first language.
fn other_prose(snapshot: &Snapshot) -> Vec<String> {
    let every = |text: &Text| {
        std::iter::once(text.text.clone()).chain(text.translations.values().cloned()).collect()
    };
    let columns = snapshot.columns.iter().filter_map(|column| column.meaning.as_deref());
    let of_columns = columns.flat_map(|meaning| {
        let titles: Vec<String> = meaning.title.as_ref().map(every).unwrap_or_default();
        titles.into_iter().chain(meaning.description.values().cloned())
    });
    let notes = snapshot.meaning.notes.iter().flat_map(|note| -> Vec<String> { every(&note.text) });
    let labels = Some(&snapshot.meaning.label_words).filter(|words| !words.is_empty()).cloned();
    let descriptions = snapshot.meaning.description.values().cloned();
    descriptions.chain(of_columns).chain(notes).chain(labels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_follow_dates_and_geometry_contract_9() {
        use DatasetShape::{Series, Spatial, Table};
        assert_eq!(DatasetShape::from_axes(false, false), [Table]);
        assert_eq!(DatasetShape::from_axes(true, false), [Series]);
        assert_eq!(DatasetShape::from_axes(false, true), [Spatial]);
        assert_eq!(DatasetShape::from_axes(true, true), [Series, Spatial]);
    }
}
