//! Rows of a picture: the stored points of a preview as an answer of `/data` would have them, with
//! the metadata that credits them. Further keys say what only a preview has: the dataset's title,
//! of how many rows and series the points are a sample, and what is true of all rows' statuses.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use yearbook_domain::preview_facts::{
    DrawnSeries, Figure, LinePoint, LineStatuses, SeriesPreview, StatusTotal, day_number,
    status_column,
};
use yearbook_domain::{Column, ColumnRole, ColumnType, Dataset, PreviewFacts, Snapshot};
use yearbook_scan::schema::PICTURE_TITLE;
use yearbook_scan::schema::{credit_entries, plain_field};

use crate::revised_line::RevisedLine;

/// Keys of the number of rows, and of the number of series.
const SAMPLED_ROWS: &str = "yearbook.sampled_rows";
const SAMPLED_SERIES: &str = "yearbook.sampled_series";

/// Keys of the totals of statuses of all rows, and of the date before which no status is known.
const SAMPLED_STATUSES: &str = "yearbook.sampled_statuses";
const STATUSES_FROM: &str = "yearbook.statuses_from";

/// Column of the versions of a line: no stored column has such a name.
const PUBLISHED: &str = "#published";

/// Points of a preview that one picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PreviewRows {
    /// The centroids.
    Centroids,
    /// A series, by its place among those drawn.
    Series(usize),
}

impl PreviewRows {
    /// Chooses the series that is named, else the centroids, else the first series; none where
    /// there is no such thing.
    pub(super) fn choose(facts: &PreviewFacts, named: Option<&str>) -> Option<Self> {
        let series = facts.series.as_ref();
        if let Some(named) = named {
            let series = series?;
            let found = series.find(named)?;
            let place = series.drawn.iter().position(|drawn| drawn.id == found.id)?;
            return Some(Self::Series(place));
        }
        if facts.centroids.as_ref().is_some_and(|sample| !sample.points.is_empty()) {
            return Some(Self::Centroids);
        }
        series.filter(|series| !series.drawn.is_empty()).map(|_| Self::Series(0))
    }

    /// The place of the series among those drawn.
    pub(super) fn series(self) -> Option<usize> {
        match self {
            Self::Centroids => None,
            Self::Series(place) => Some(place),
        }
    }

    /// The rows.
    ///
    /// # Errors
    /// [`ArrowError`] where columns and values do not fit, which is a bug.
    pub(super) fn batch(
        self,
        dataset: &Dataset,
        facts: &PreviewFacts,
    ) -> Result<RecordBatch, ArrowError> {
        let snapshot = &*dataset.current;
        let mut metadata = picture_entries(dataset, snapshot.title.clone());
        let (fields, columns, sampled_rows) = match self {
            Self::Centroids => centroids(snapshot, facts)?,
            Self::Series(place) => {
                let series = facts.series.as_ref();
                let drawn = series.and_then(|series| Some((series, series.drawn.get(place)?)));
                let (series, drawn) = drawn.ok_or_else(|| absent("series"))?;
                let lines = facts.line_count().map(|lines| lines.to_string());
                metadata.extend(lines.map(|lines| (SAMPLED_SERIES.to_owned(), lines)));
                metadata.extend(status_entries(&drawn.line_statuses));
                line(snapshot, series, drawn)?
            }
        };
        metadata.extend(sampled_rows.map(|rows| (SAMPLED_ROWS.to_owned(), rows.to_string())));
        RecordBatch::try_new(Arc::new(Schema::new(fields).with_metadata(metadata)), columns)
    }
}

/// Rows of a line as its versions showed it.
///
/// # Errors
/// As [`PreviewRows::batch`].
pub(super) fn revised_rows(
    dataset: &Dataset,
    facts: &PreviewFacts,
    revised: &RevisedLine,
) -> Result<RecordBatch, ArrowError> {
    let snapshot = &*dataset.current;
    let series = facts.series.as_ref();
    let drawn = series.and_then(|series| Some((series, series.drawn.get(revised.place)?)));
    let (series, drawn) = drawn.ok_or_else(|| absent("series"))?;
    let points: Vec<LinePoint> =
        revised.versions.iter().flat_map(|version| version.line.iter().copied()).collect();
    let (mut fields, mut columns) = line_columns(snapshot, series, drawn, &points)?;
    let published = revised
        .versions
        .iter()
        .flat_map(|version| std::iter::repeat_n(version.published.as_str(), version.line.len()));
    fields
        .insert(1, plain_field(&Column::new(PUBLISHED, ColumnType::String, ColumnRole::Dimension)));
    columns.insert(1, Arc::new(StringArray::from_iter_values(published)));
    let title = format!("{}, by the day of publication", dataset.title());
    let schema = Schema::new(fields).with_metadata(picture_entries(dataset, Some(title)));
    RecordBatch::try_new(Arc::new(schema), columns)
}

/// Entries that every picture has.
fn picture_entries(dataset: &Dataset, title: Option<String>) -> HashMap<String, String> {
    let snapshot = &*dataset.current;
    credit_entries(&dataset.name, &dataset.namespace, &snapshot.id, &snapshot.credit)
        .into_iter()
        .chain(title.map(|title| (PICTURE_TITLE, title)))
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Columns of a batch, and the number of rows that they are a sample of.
type SampledColumns = (Vec<Field>, Vec<ArrayRef>, Option<u64>);

fn centroids(snapshot: &Snapshot, facts: &PreviewFacts) -> Result<SampledColumns, ArrowError> {
    let sample = facts.centroids.as_ref().ok_or_else(|| absent("centroids"))?;
    let geometry = column_of(snapshot, ColumnRole::Geometry)?;
    let points = sample.points.iter().map(|[x, y]| format!("POINT ({x} {y})"));
    let points: ArrayRef = Arc::new(StringArray::from_iter_values(points));
    Ok((vec![plain_field(geometry)], vec![points], Some(sample.features)))
}

/// The date, the key's columns, the value column, and its statuses where it has some.
fn line(
    snapshot: &Snapshot,
    series: &SeriesPreview,
    drawn: &DrawnSeries,
) -> Result<SampledColumns, ArrowError> {
    let mut points = drawn.line.clone();
    // A reduced line may lack its last point, which pictures state.
    if let Some(latest) = &drawn.latest {
        let last = points.iter().rev().find(|point| point.value.is_some());
        let at = day_number(&latest.date);
        if let (Some(last), Some(day)) = (last, at)
            && last.day < day
        {
            let place = points.partition_point(|point| point.day <= day);
            points.insert(place, LinePoint { day, value: Some(latest.value) });
        }
    }
    for gap in drawn.further_breaks() {
        let place = points.partition_point(|point| point.day < gap.day);
        if points.get(place).is_none_or(|point| point.day != gap.day) {
            points.insert(place, gap);
        }
    }
    let (mut fields, mut columns) = line_columns(snapshot, series, drawn, &points)?;
    let status = status_column(&snapshot.columns, &drawn.column);
    let status = status.and_then(|position| snapshot.columns.get(position));
    if let Some(column) = status.filter(|_| !drawn.line_statuses.is_empty()) {
        fields.push(plain_field(column).with_nullable(true));
        let codes = points.iter().map(|point| drawn.line_statuses.at(point.day));
        columns.push(Arc::new(codes.collect::<StringArray>()));
    }
    Ok((fields, columns, drawn.is_reduced().then_some(drawn.rows)))
}

/// The date, the key's columns, each with one value, and the value column of some points of a line.
fn line_columns(
    snapshot: &Snapshot,
    series: &SeriesPreview,
    drawn: &DrawnSeries,
    points: &[LinePoint],
) -> Result<(Vec<Field>, Vec<ArrayRef>), ArrowError> {
    let mut fields = vec![plain_field(column_of(snapshot, ColumnRole::Date)?)];
    let dates = points.iter().map(|point| point.date());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from_iter_values(dates))];
    for (name, value) in series.key_columns.iter().zip(&drawn.key) {
        // Values of a key are kept as text, whatever their column holds.
        let column =
            Column { column_type: ColumnType::String, ..column_named(snapshot, name)?.clone() };
        fields.push(plain_field(&column).with_nullable(true));
        columns.push(Arc::new(StringArray::from(vec![value.as_deref(); points.len()])));
    }
    let field = plain_field(column_named(snapshot, &drawn.column)?).with_nullable(true);
    columns.push(values(points, field.data_type())?);
    fields.push(field);
    Ok((fields, columns))
}

/// `P 12 2024-01-01 2024-12-01`: a code, the number of its rows, and the first and the last date of
/// them, entry by entry.
fn status_entries(statuses: &LineStatuses) -> impl Iterator<Item = (String, String)> {
    let date = |day| LinePoint { day, value: None }.date();
    let total =
        |of: &StatusTotal| format!("{} {} {} {}", of.code, of.rows, date(of.first), date(of.last));
    let totals: Vec<String> = statuses.totals.iter().map(total).collect();
    let totals = (!totals.is_empty()).then(|| (SAMPLED_STATUSES.to_owned(), totals.join(";")));
    let from = statuses.known_from().map(|day| (STATUSES_FROM.to_owned(), date(day)));
    totals.into_iter().chain(from)
}

fn values(points: &[LinePoint], data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    let values: ArrayRef = match data_type {
        DataType::Int64 => {
            Arc::new(Int64Array::from_iter(points.iter().map(|point| match point.value? {
                Figure::Integer(value) => Some(value),
                Figure::Number(_) => None,
            })))
        }
        _ => Arc::new(Float64Array::from_iter(
            points.iter().map(|point| point.value.map(Figure::as_f64)),
        )),
    };
    if values.data_type() == data_type { Ok(values) } else { Err(absent("numbers")) }
}

fn column_of(snapshot: &Snapshot, role: ColumnRole) -> Result<&Column, ArrowError> {
    let found = snapshot.columns.iter().find(|column| column.role == role);
    found.ok_or_else(|| absent(role.as_str()))
}

fn column_named<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a Column, ArrowError> {
    snapshot.column(name).ok_or_else(|| absent(name))
}

fn absent(what: &str) -> ArrowError {
    ArrowError::SchemaError(format!("the snapshot of a preview has no {what}"))
}
