//! The columns of a table that tell its series and their times.

use yearbook_sdk::calendar::CalendarUnit;
use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::TransformError;
use yearbook_sdk::{Field, Schema};

/// Column of rows of several versions: the time from which a row was so. No stored column has such
/// a name.
const VALID_FROM: &str = "_valid_from";

/// Columns that tell series and times, by their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeAxis {
    /// The date column, whose text is always a date.
    pub date: Option<usize>,
    /// The column of period codes.
    pub period: Option<usize>,
    /// Columns of which each combination of values is a series.
    pub series: Vec<usize>,
    /// Smallest distance of two dates in a series, where it is known.
    pub unit: Option<CalendarUnit>,
}

impl TimeAxis {
    /// Returns those of a table for a transform that compares neighbours in time.
    ///
    /// # Errors
    /// [`TransformError::UnsupportedSchema`] for rows of several versions, whose neighbours are not
    /// of one version.
    pub fn from_version(schema: &Schema) -> Result<Self, TransformError> {
        if schema.fields.iter().any(|field| field.name == VALID_FROM) {
            let sentence = "these are rows of all versions, so neighbours in time are not of one \
                            version; ask for the rows of a version with `as_of`";
            return Err(TransformError::UnsupportedSchema(sentence.to_owned()));
        }
        Ok(Self::from_schema(schema))
    }

    /// Returns those of a table: as the host says it, or the dimension and key columns.
    #[must_use]
    pub fn from_schema(schema: &Schema) -> Self {
        let is_series = |field: &Field| matches!(field.role(), Some(Role::Dimension | Role::Key));
        let all = || schema.fields.iter().enumerate();
        let series: Vec<usize> = match schema.metadata("yearbook.series") {
            // The names are snake_case: nothing in them is escaped.
            Some(names) => {
                let names: Vec<&str> = names.split('"').skip(1).step_by(2).collect();
                let is_named = |field: &Field| names.contains(&field.name.as_str());
                all().filter(|(_, field)| is_named(field)).map(|(at, _)| at).collect()
            }
            None => all().filter(|(_, field)| is_series(field)).map(|(at, _)| at).collect(),
        };
        let is_date = |field: &Field| field.role() == Some(Role::Date) && field.is_date();
        Self {
            date: all().find(|(_, field)| is_date(field)).map(|(at, _)| at),
            period: schema.position(Role::Period),
            series,
            unit: schema.metadata("yearbook.axis").and_then(CalendarUnit::parse),
        }
    }
}
