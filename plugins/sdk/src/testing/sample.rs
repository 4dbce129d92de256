//! A catalogue of small tables that answers whatever an adapter asks, natively: the same over which
//! `yearbook plugin check` tries an adapter's examples.

mod select;
mod tables;

use self::select::{compare, invalid, missing, written};
use self::tables::{OTHER_TITLE, SampleTable, tables};
use crate::adapter::{
    BoundingBox, Cited, Code, ColumnValues, Dataset, DatasetQuery, Fact, Format, Observed,
    Question, Refusal, Selection, Table, ValueQuery,
};
use crate::generator::Role;

/// Most rows, datasets and values of an answer.
const MOST_ROWS: u64 = 200;
const MOST_DATASETS: u32 = 1_000;
const MOST_VALUES: u32 = 10_000;

/// Formats that a host has, with media type and extension.
const FORMATS: [(&str, &str, &str); 4] = [
    ("arrow", "application/vnd.apache.arrow.stream", "arrows"),
    ("csv", "text/csv; charset=utf-8; header=present", "csv"),
    ("json", "application/json", "json"),
    ("parquet", "application/vnd.apache.parquet", "parquet"),
];

/// The sample catalogue: `harvest_long` (months of three regions), `prices_wide` (a column a
/// series), `places` (points on both sides of 180°, with a title in Māori) and `codes` (without
/// key, date and title). Their text is hostile ([`super::project::HARD`]).
///
/// Transforms are not calculated: rows pass them as they are.
///
/// ```
/// use yearbook_sdk::adapter::{Fact, Question};
/// use yearbook_sdk::testing::sample::SampleCatalogue;
///
/// let catalogue = SampleCatalogue::new();
/// let asked = Question::Dataset(("places".into(), Some("mi".into())));
/// let Fact::Dataset(places) = catalogue.answer(&asked) else { panic!("it is there") };
/// assert_eq!(places.title.as_deref(), Some("Ngā hua o te kererū"));
/// ```
#[derive(Debug)]
pub struct SampleCatalogue {
    tables: Vec<SampleTable>,
}

impl Default for SampleCatalogue {
    fn default() -> Self {
        Self::new()
    }
}

impl SampleCatalogue {
    /// The catalogue; it is always the same.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Counted, Question, Selection, Told};
    /// use yearbook_sdk::testing::sample::SampleCatalogue;
    ///
    /// let asked = Question::Count(Selection::new("harvest_long"));
    /// let counted = Counted::from_fact(SampleCatalogue::new().answer(&asked));
    /// assert_eq!(counted, Ok(Some(Counted { rows: 72, series: Some(3) })));
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self { tables: tables() }
    }

    /// Answers a question, with the refusals of a host.
    ///
    /// ```
    /// use yearbook_sdk::adapter::{Fact, Question, Selection};
    /// use yearbook_sdk::testing::sample::SampleCatalogue;
    ///
    /// let catalogue = SampleCatalogue::new();
    /// let told = catalogue.answer(&Question::Rows(Selection::new("harvest_long")));
    /// assert!(matches!(told, Fact::Rows(table) if table.rows.len() == 72));
    /// let told = catalogue.answer(&Question::Rows(Selection::new("nothing")));
    /// assert!(matches!(told, Fact::Refused(refusal) if refusal.status == 404));
    /// ```
    #[must_use]
    pub fn answer(&self, question: &Question) -> Fact {
        let told = match question {
            Question::Datasets(query) => self.datasets(query).map(Fact::Datasets),
            Question::Dataset((name, language)) => self
                .table(name)
                .map(|table| Fact::Dataset(describe_dataset(table, language.as_deref(), true))),
            Question::Formats => Ok(Fact::Formats(Self::formats())),
            Question::Citation(selection) => self.cited(selection).map(Fact::Citation),
            Question::Values(query) => self.values(query).map(Fact::Values),
            Question::Count(selection) => self.count(selection).map(Fact::Count),
            Question::Rows(selection) => {
                let limit = selection.limit.map(|limit| match limit {
                    0 => MOST_ROWS,
                    limit => limit.min(MOST_ROWS),
                });
                self.rows(&Selection { limit, ..selection.clone() }).map(Fact::Rows)
            }
        };
        told.unwrap_or_else(Fact::Refused)
    }

    /// The rows that a host would send for a selection, with what is known of them.
    ///
    /// ```
    /// use yearbook_sdk::adapter::Selection;
    /// use yearbook_sdk::testing::sample::SampleCatalogue;
    ///
    /// let catalogue = SampleCatalogue::new();
    /// let mut selection = Selection { limit: Some(10), ..Selection::new("harvest_long") };
    /// let first = catalogue.rows(&selection)?;
    /// selection.cursor = first.known.next;
    /// let second = catalogue.rows(&selection)?;
    /// assert_eq!(second.rows.len(), 10);
    /// assert_ne!(second.rows, first.rows);
    /// # Ok::<(), yearbook_sdk::adapter::Refusal>(())
    /// ```
    ///
    /// # Errors
    /// The refusal of a host.
    pub fn rows(&self, selection: &Selection) -> Result<Table, Refusal> {
        self.table(&selection.dataset)?.page(selection)
    }

    /// The formats that a host has.
    pub(super) fn formats() -> Vec<Format> {
        let format = |(name, media_type, extension): (&str, &str, &str)| Format {
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            extension: extension.to_owned(),
        };
        FORMATS.map(format).into()
    }

    fn table(&self, name: &str) -> Result<&SampleTable, Refusal> {
        let found = self.tables.iter().find(|table| table.dataset.name == name);
        found.ok_or_else(|| missing("no_such_dataset", format!("there is no dataset '{name}'")))
    }

    fn datasets(
        &self,
        query: &DatasetQuery,
    ) -> Result<(Vec<Dataset>, u64, Option<String>), Refusal> {
        if !(1..=MOST_DATASETS).contains(&query.limit) {
            return Err(invalid("limit", format!("limit is a number from 1 to {MOST_DATASETS}")));
        }
        let first = match &query.after {
            None => 0,
            Some(after) => {
                let sentence = "after is not what an answer before said; send it unchanged";
                after.parse::<usize>().map_err(|_| invalid("after", sentence))?
            }
        };
        let found: Vec<&SampleTable> =
            self.tables.iter().filter(|table| is_found(&table.dataset, query)).collect();
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let page = found.iter().skip(first).take(limit);
        let language = query.language.as_deref();
        let page = page.map(|table| {
            let mut dataset = describe_dataset(table, language, query.columns);
            dataset.editions.truncate(1);
            dataset
        });
        let behind = first.saturating_add(limit);
        let next = (behind < found.len()).then(|| behind.to_string());
        Ok((page.collect(), found.len() as u64, next))
    }

    fn cited(&self, selection: &Selection) -> Result<Cited, Refusal> {
        let known = self.rows(selection)?.known;
        let text = format!("{}, {}", known.credit.attribution, known.snapshot);
        Ok(Cited { text, address: known.citation, snapshot: known.snapshot })
    }

    fn count(&self, selection: &Selection) -> Result<(u64, Option<u64>), Refusal> {
        let table = self.table(&selection.dataset)?;
        let rows = table.matching(selection)?;
        let series = table.series().map(|columns| {
            let mut series: Vec<_> =
                rows.iter().map(|row| table.series_of(&columns, *row)).collect();
            series.sort_unstable();
            series.dedup();
            series.len() as u64
        });
        Ok((rows.len() as u64, series))
    }

    fn values(&self, query: &ValueQuery) -> Result<Vec<ColumnValues>, Refusal> {
        let ValueQuery { selection, columns, after, limit, .. } = query;
        if !(1..=MOST_VALUES).contains(limit) {
            return Err(invalid("limit", format!("limit is a number from 1 to {MOST_VALUES}")));
        }
        if after.is_some() && columns.len() != 1 {
            return Err(invalid("after", "after goes with one column"));
        }
        let table = self.table(&selection.dataset)?;
        let rows = table.matching(selection)?;
        let of = |name: &String| {
            let at = table.position("columns", name)?;
            Ok(values_of(table, at, &rows, after.as_deref(), *limit))
        };
        columns.iter().map(of).collect()
    }
}

/// The values of the column at `at`, ascending.
fn values_of(
    table: &SampleTable,
    at: usize,
    rows: &[usize],
    after: Option<&str>,
    limit: u32,
) -> ColumnValues {
    let date = table.dataset.columns.iter().position(|column| column.role == Role::Date.as_str());
    let mut cells: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let row = &table.rows[*row];
            let date = date.and_then(|date| row[date].as_ref()).map(written);
            row[at].as_ref().map(|cell| (cell, date))
        })
        .collect();
    let nulls = (rows.len() - cells.len()) as u64;
    cells.sort_by(|(one, _), (other, _)| compare(one, other));
    let groups = cells.chunk_by(|(one, _), (other, _)| compare(one, other).is_eq());
    let values: Vec<Observed> = groups
        .filter_map(|rows| {
            let value = written(rows.first()?.0);
            let dates = || rows.iter().filter_map(|(_, date)| date.clone());
            Some(Observed {
                code: Code { value, label: None },
                rows: rows.len() as u64,
                first: dates().min(),
                last: dates().max(),
            })
        })
        .collect();
    let distinct = Some(values.len() as u64);
    let first = after.map_or(0, |after| {
        values.iter().position(|value| value.code.value == after).map_or(values.len(), |at| at + 1)
    });
    let behind = first.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX));
    let is_more = behind < values.len();
    let page: Vec<Observed> =
        values.into_iter().skip(first).take(behind.saturating_sub(first)).collect();
    let next = page.last().filter(|_| is_more).map(|last| last.code.value.clone());
    let column = table.dataset.columns[at].name.clone();
    ColumnValues { column, distinct, nulls, values: page, next }
}

/// Describes a dataset in a language, with columns and notes where they are wanted.
fn describe_dataset(table: &SampleTable, language: Option<&str>, columns: bool) -> Dataset {
    let mut dataset = table.dataset.clone();
    let (other, title) = OTHER_TITLE;
    if language == Some(other) && dataset.languages.iter().any(|language| language == other) {
        dataset.title = Some(title.to_owned());
    }
    if !columns {
        (dataset.columns, dataset.notes) = Default::default();
    }
    dataset
}

fn is_found(dataset: &Dataset, query: &DatasetQuery) -> bool {
    let has_words = |search: &String| {
        let title = dataset.title.as_deref().unwrap_or_default();
        let text = format!("{} {title}", dataset.name).to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| text.contains(word))
    };
    let spatial = dataset.columns.iter().any(|column| column.role == "geometry");
    query.search.as_ref().is_none_or(has_words)
        && query.namespace.as_ref().is_none_or(|namespace| dataset.namespace == *namespace)
        && query.spatial.is_none_or(|wanted| wanted == spatial)
        && query.bbox.is_none_or(|wanted| dataset.bbox.is_some_and(|bbox| touch(bbox, wanted)))
}

/// True where two boxes have a point in common. Either may lie across 180°.
fn touch(one: BoundingBox, other: BoundingBox) -> bool {
    let spans = |BoundingBox { west, east, .. }: BoundingBox| {
        if west <= east { vec![(west, east)] } else { vec![(west, 180.0), (-180.0, east)] }
    };
    one.south <= other.north
        && other.south <= one.north
        && spans(one)
            .iter()
            .any(|one| spans(other).iter().any(|other| one.0 <= other.1 && other.0 <= one.1))
}

#[cfg(test)]
mod tests;
