//! Promises of `docs/spec/rows.md` about values, checked on every chunk whatever format it came
//! from.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::array_value_to_string;
use yearbook_domain::meaning::ValueTexts;
use yearbook_domain::{BoundingBox, Column, ColumnRole, ColumnType, Date};
use yearbook_scan::schema::stored_type;
use yearbook_wkt::GeometryBounds;

use super::TableChunk;
use super::cell;
use super::meaning_check::MeaningCheck;
use super::percent_unit;
use super::row_weight::RowWeightCheck;
use super::text_facts::TextFacts;
use crate::faults::{FaultList, quote};
use crate::geometry;
use crate::package::DataPackage;

/// Range of proportions (spec-2.2-proportions).
const PROPORTION: RangeInclusive<f64> = 0.0..=1.0;

const NO_PROPORTION: &str = "is not a proportion: it must lie in 0..1; divide percentages by 100";

/// Rules for values of a column beyond its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Any,
    Date,
    Period,
    Geometry,
    Proportion,
    /// The unit says percent, so no value is right. One fault names the column; the others would
    /// say the same.
    Percent {
        reported: bool,
    },
}

/// Checks chunks and keeps what the catalog wants to know of the whole table.
pub(crate) struct TableChecker {
    columns: Vec<(Column, Rule)>,
    scales: RowWeightCheck,
    /// One a text column.
    texts: Vec<Option<TextFacts>>,
    date_column: Option<usize>,
    dates: Option<(Date, Date)>,
    bounds: GeometryBounds,
    meaning: MeaningCheck,
}

/// Facts of the checked table.
#[derive(Debug)]
pub(crate) struct TableFacts {
    /// One a text column.
    pub(crate) texts: Vec<Option<TextFacts>>,
    pub(crate) date_range: Option<(Date, Date)>,
    pub(crate) bbox: Option<BoundingBox>,
    /// Labels of values, by position of the column.
    pub(crate) labels: BTreeMap<usize, ValueTexts>,
}

impl TableChecker {
    pub(crate) fn new(package: &DataPackage) -> Self {
        let rule = |column: &Column| match column {
            _ if column.column_type == ColumnType::Date => Rule::Date,
            _ if column.role == ColumnRole::Period => Rule::Period,
            _ if column.role == ColumnRole::Geometry => Rule::Geometry,
            _ if package.proportions.contains(&column.name) => Rule::Proportion,
            _ if is_number(column)
                && column.unit.as_deref().is_some_and(percent_unit::is_percent) =>
            {
                Rule::Percent { reported: false }
            }
            _ => Rule::Any,
        };
        Self {
            columns: package.columns.iter().map(|column| (column.clone(), rule(column))).collect(),
            scales: RowWeightCheck::new(package),
            texts: package
                .columns
                .iter()
                .map(|column| {
                    (stored_type(column.column_type) == DataType::Utf8).then(TextFacts::default)
                })
                .collect(),
            date_column: package.columns.iter().position(|column| column.role == ColumnRole::Date),
            dates: None,
            bounds: GeometryBounds::default(),
            meaning: MeaningCheck::new(package),
        }
    }

    /// Checks one chunk.
    pub(crate) fn check(&mut self, chunk: &TableChunk, faults: &mut FaultList) {
        let first = chunk.first_row;
        self.scales.check(chunk, faults);
        self.meaning.check(chunk, faults);
        for (index, (array, (column, rule))) in
            chunk.batch.columns().iter().zip(&mut self.columns).enumerate()
        {
            if !column.nullable && array.null_count() > 0 {
                for (position, row) in (0..array.len()).zip(first..) {
                    if array.is_null(position) {
                        faults
                            .cell(row, index, || "is null; the date column, the primary key and required columns need a value".to_owned());
                    }
                }
            }
            match rule {
                Rule::Any => {}
                Rule::Date => {
                    check_texts(array.as_string(), first, index, faults, cell::check_date)
                }
                Rule::Period => {
                    check_texts(array.as_string(), first, index, faults, cell::check_period)
                }
                Rule::Percent { reported } => {
                    *reported = *reported || report_percentage(array, first, index, column, faults)
                }
                Rule::Geometry => {
                    check_geometries(array.as_string(), first, index, &mut self.bounds, faults)
                }
                Rule::Proportion => {
                    for (row, value) in (first..).zip(array.as_primitive::<Float64Type>()) {
                        if let Some(value) = value.filter(|value| !PROPORTION.contains(value)) {
                            faults.value(row, index, || value.to_string(), NO_PROPORTION);
                        }
                    }
                }
            }
            if let Some(Some(texts)) = self.texts.get_mut(index) {
                texts.extend(array.as_string());
            }
            if self.date_column == Some(index) {
                widen_range(&mut self.dates, array.as_string());
            }
        }
    }

    /// Reports what only the end of the table shows.
    pub(crate) fn finish_checks(&self, faults: &mut FaultList) {
        self.meaning.finish_checks(faults);
        for (column, rule) in &self.columns {
            if matches!(rule, Rule::Percent { reported: false }) {
                faults.add_file(Some(&column.name), || {
                    describe_percentage("holds percentages", column)
                });
            }
        }
    }

    /// Returns the facts; true only where no fault was found.
    pub(crate) fn finish(self) -> TableFacts {
        TableFacts {
            texts: self.texts,
            date_range: self.dates,
            bbox: self.bounds.finish().map(BoundingBox),
            labels: self.meaning.finish(),
        }
    }
}

fn is_number(column: &Column) -> bool {
    matches!(column.column_type, ColumnType::Integer | ColumnType::Number)
}

/// Reports the first value of a column in percent; true where there was one.
fn report_percentage(
    array: &ArrayRef,
    first: u64,
    index: usize,
    column: &Column,
    faults: &mut FaultList,
) -> bool {
    let found = (0..array.len()).zip(first..).find(|(position, _)| array.is_valid(*position));
    if let Some((position, row)) = found {
        let value = || array_value_to_string(array, position).unwrap_or_default();
        faults.value(row, index, value, describe_percentage("is a percentage", column));
    }
    found.is_some()
}

fn describe_percentage(found: &str, column: &Column) -> String {
    let unit = quote(column.unit.as_deref().unwrap_or_default().as_bytes());
    format!(
        "{found}, as the unit {unit} says, and clients get proportions: divide the column by 100 and change the unit, or name the column in \
         `yearbook.proportions` if it holds proportions"
    )
}

fn check_texts(
    array: &StringArray,
    first: u64,
    column: usize,
    faults: &mut FaultList,
    rule: fn(&[u8]) -> Result<(), &'static str>,
) {
    let mut last = None;
    for (row, value) in (first..).zip(array) {
        let Some(value) = value else { continue };
        // Dates and periods come in runs.
        if last == Some(value) {
            continue;
        }
        match rule(value.as_bytes()) {
            Ok(()) => last = Some(value),
            Err(why) => faults.value(row, column, || quote(value.as_bytes()), why),
        }
    }
}

fn check_geometries(
    array: &StringArray,
    first: u64,
    column: usize,
    bounds: &mut GeometryBounds,
    faults: &mut FaultList,
) {
    for (row, value) in (first..).zip(array) {
        let Some(value) = value else { continue };
        if let Err(why) = geometry::check(value, bounds) {
            faults.cell(row, column, || why.to_string());
        }
    }
}

/// Takes the dates of `array` into `range`. Texts that are no dates are faults, found elsewhere.
fn widen_range(range: &mut Option<(Date, Date)>, array: &StringArray) {
    let texts = || array.iter().flatten();
    let Some((first, last)) = texts().min().zip(texts().max()) else { return };
    let Some((first, last)) = Date::parse(first).zip(Date::parse(last)) else { return };
    *range = Some(match *range {
        Some((earliest, latest)) => (earliest.min(first), latest.max(last)),
        None => (first, last),
    });
}
