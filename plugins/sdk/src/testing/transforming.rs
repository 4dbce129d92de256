//! Runs a transform natively as the host would, and checks it against the list of things that every
//! transform must hold: the same rows wherever batches end, the same columns in every instance, and
//! rows that match them.

mod cell;
mod check;
mod host;

pub use check::{check, check_table};

use self::host::Call;
use crate::calendar::parse_date;
use crate::transform::{Transform, TransformError, TransformOutput};
use crate::{Options, Value};

use super::Table;

/// A table that came out of a transform.
///
/// ```
#[doc = include_str!("example_transform.txt")]
/// use yearbook_sdk::testing::{Table, transforming};
///
/// let table = Table::new().numbers("value", &[Some(1.5), None]);
/// let doubled = transforming::transform::<Double>(&table, &[])?;
/// assert_eq!(doubled.output.columns[0].name, "value");
/// assert_eq!(doubled.rows[0], [Some("3".to_owned())]);
/// # Ok::<(), TransformError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TransformedTable {
    /// Its columns, and where they come from.
    pub output: TransformOutput,
    /// The rows, as the host orders them; each value as Rust prints it, `None` for a null.
    pub rows: Vec<Vec<Option<String>>>,
}

impl TransformedTable {
    /// The values of a column.
    ///
    /// ```
    #[doc = include_str!("example_transform.txt")]
    /// use yearbook_sdk::testing::{Table, transforming};
    ///
    /// let table = Table::new().numbers("value", &[Some(1.5), None]);
    /// let doubled = transforming::transform::<Double>(&table, &[])?;
    /// assert_eq!(doubled.column("value"), [Some("3"), None]);
    /// # Ok::<(), TransformError>(())
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> Vec<Option<&str>> {
        let at = self.output.columns.iter().position(|column| column.name == name);
        let at = at.unwrap_or_else(|| panic!("there is no column {name}"));
        self.rows.iter().map(|row| row[at].as_deref()).collect()
    }

    /// The values of a column of numbers.
    ///
    /// ```
    #[doc = include_str!("example_transform.txt")]
    /// use yearbook_sdk::testing::{Table, transforming};
    ///
    /// let table = Table::new().numbers("value", &[Some(0.1), None]);
    /// let doubled = transforming::transform::<Double>(&table, &[])?;
    /// assert_eq!(doubled.numbers("value"), [Some(0.2), None]);
    /// # Ok::<(), TransformError>(())
    /// ```
    ///
    /// # Panics
    /// Panics when there is no such column, or it holds something else.
    #[must_use]
    pub fn numbers(&self, name: &str) -> Vec<Option<f64>> {
        let number = |cell: &str| {
            cell.parse()
                .unwrap_or_else(|_| panic!("column {name} holds {cell}, which is no number"))
        };
        self.column(name).into_iter().map(|cell| cell.map(number)).collect()
    }
}

/// Transforms a table, whose batches are those of [`Table::batches_of`]. The rows are taken to be
/// in their natural order.
///
/// ```
#[doc = include_str!("example_transform.txt")]
/// use yearbook_sdk::testing::{Table, transforming};
///
/// let table = Table::new().numbers("value", &[Some(1.5); 3]).batches_of(2);
/// let doubled = transforming::transform::<Double>(&table, &[])?;
/// assert_eq!(doubled.numbers("value"), [Some(3.0); 3]);
/// # Ok::<(), TransformError>(())
/// ```
///
/// # Errors
/// The error with which the transform declines.
///
/// # Panics
/// Panics when the transform breaks a rule of the interface, which the host would refuse.
pub fn transform<T: Transform>(
    table: &Table,
    options: &[(&str, Value)],
) -> Result<TransformedTable, TransformError> {
    Call::new(table, &chosen::<T>(options)).run::<T>()
}

/// Transforms the rows of a table from a date on, `YYYY-MM-DD`, as for a client's `start`: earlier
/// rows are seen as far as [`crate::transform::Needs::before`] and
/// [`crate::transform::Needs::prime`] say, and nothing that comes of the former is in the result.
///
/// ```
#[doc = include_str!("example_transform.txt")]
/// use yearbook_sdk::testing::{Table, transforming};
///
/// let table = Table::new()
///     .numbers("value", &[Some(1.0), Some(2.0)])
///     .text("date", &[Some("2025-01-01"), Some("2026-01-01")])
///     .about("date", "yearbook.role", "date")
///     .about("date", "yearbook.type", "date");
/// let doubled = transforming::transform_from::<Double>(&table, "2026-01-01", &[])?;
/// assert_eq!(doubled.numbers("value"), [Some(4.0)]);
/// # Ok::<(), TransformError>(())
/// ```
///
/// # Errors
/// The error with which the transform declines.
///
/// # Panics
/// As [`transform`], and where `start` is no date or the table has none.
pub fn transform_from<T: Transform>(
    table: &Table,
    start: &str,
    options: &[(&str, Value)],
) -> Result<TransformedTable, TransformError> {
    let start = parse_date(start).unwrap_or_else(|| panic!("{start} is no date"));
    Call { start: Some(start), ..Call::new(table, &chosen::<T>(options)) }.run::<T>()
}

/// Transforms a table of which these distinct values are known, column by column.
#[cfg(feature = "replay")]
pub(super) fn transform_known<T: Transform>(
    table: &Table,
    options: &Options,
    known: &[Option<Vec<String>>],
) -> Result<TransformedTable, TransformError> {
    Call { known, ..Call::new(table, options) }.run::<T>()
}

/// The declared parameters, with the chosen values where there are any.
fn chosen<T: Transform>(options: &[(&str, Value)]) -> Options {
    super::complete(&T::describe().parameters, options)
}

#[cfg(test)]
mod tests;
