//! Selections of rows and columns (contract-15-canonical). Every way to ask for rows is
//! parsed into one [`Selection`]; whether it suits the dataset is decided by
//! [`crate::read_plan`].

use std::fmt;

use super::conditions::ConditionParameter;
use crate::{BoundingBox, Date, Millis};

/// Rows and columns that a request asks for, each parameter right in itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Inclusive lower date bound, `YYYY-MM-DD`.
    pub start: Option<Date>,
    /// Inclusive upper date bound, `YYYY-MM-DD`.
    pub end: Option<Date>,
    /// Substring looked for in dimension columns; never empty.
    pub dimensions: Option<String>,
    /// Maximum rows; 0: everything.
    pub limit: u64,
    /// True when `geometry_wkt` is requested.
    pub geometry: bool,
    /// A cursor as the client sent it; never empty.
    pub cursor: Option<String>,
    /// A pinned snapshot's id, as given.
    pub snapshot: Option<String>,
    /// The last instant of a day or a second; the version of then is read.
    pub as_of: Option<Sent<Millis>>,
    /// Projection, in the order asked for.
    pub columns: Option<Sent<Vec<String>>>,
    /// Conditions on columns, one for each pair of column and operator, in the order sent.
    pub conditions: Vec<ConditionParameter>,
    /// Columns to sort by; `None` for the natural order.
    pub sort: Option<Sent<Vec<SortName>>>,
    /// Rows of each series; `None` for all.
    pub series_rows: Option<Sent<SeriesRows>>,
    /// Box that the geometry meets.
    pub bbox: Option<Sent<BoundingBox>>,
    /// Names of the transforms that the rows go through, in this order; never empty.
    pub apply: Option<Sent<Vec<String>>>,
    /// Rows that are left out before the first one. No client can name it, nor what follows.
    pub skip: u64,
    /// The row of this number alone, in the order in which the snapshot is stored.
    pub row: Option<u64>,
    /// True when the number of each row is sent, too.
    pub row_numbers: bool,
}

impl Selection {
    /// Returns what chooses the rows and columns that the first transform sees.
    #[must_use]
    pub fn transform_input(&self) -> Self {
        Self {
            columns: None,
            sort: None,
            series_rows: None,
            apply: None,
            skip: 0,
            row: None,
            row_numbers: false,
            ..self.clone()
        }
    }

    /// Returns what shapes the rows that the last transform gives.
    #[must_use]
    pub(crate) fn transform_output(&self) -> Self {
        Self {
            start: None,
            end: None,
            dimensions: None,
            geometry: true,
            conditions: Vec::new(),
            bbox: None,
            ..self.clone()
        }
    }
}

/// A value with its text as sent, which a problem of it repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent<T> {
    /// The text.
    pub raw: String,
    /// Meaning of the text.
    pub value: T,
}

impl<T> Sent<T> {
    pub(super) fn new(raw: &str, value: T) -> Self {
        Self { raw: raw.to_owned(), value }
    }
}

/// A name in `sort`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortName {
    /// Name of a column.
    pub column: String,
    /// True behind a `-`.
    pub descending: bool,
}

impl fmt::Display for SortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.descending { "-" } else { "" }, self.column)
    }
}

/// Rows of each series, in the natural order (`first`, `last`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesRows {
    /// The oldest.
    First(u64),
    /// The newest.
    Last(u64),
}

impl SeriesRows {
    /// Name of the parameter.
    #[must_use]
    pub fn parameter(self) -> &'static str {
        match self {
            Self::First(_) => "first",
            Self::Last(_) => "last",
        }
    }

    /// Rows of each series at most.
    #[must_use]
    pub fn rows(self) -> u64 {
        let (Self::First(rows) | Self::Last(rows)) = self;
        rows
    }
}
