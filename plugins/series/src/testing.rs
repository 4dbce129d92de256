//! Tables in lines of text, for tests of transforms.

use yearbook_sdk::testing::{Table, batches, transforming};
use yearbook_sdk::transform::{Needs, TransformError};
use yearbook_sdk::{Options, Schema, Transform, Value};

/// Returns a table with these columns and rows, blanks between values, `-` for null.
///
/// A column is `name:role`, or `name:role:integer` for one of integers; values are numbers, all
/// other columns text.
///
/// # Panics
/// Panics where a row does not have these columns.
#[must_use]
pub fn table(columns: &str, rows: &[impl AsRef<str>]) -> Table {
    let cells: Vec<Vec<Option<&str>>> = rows
        .iter()
        .map(|row| {
            row.as_ref().split_whitespace().map(|cell| Some(cell).filter(|cell| *cell != "-"))
        })
        .map(Iterator::collect)
        .collect();
    let mut table = Table::new();
    for (at, column) in columns.split_whitespace().enumerate() {
        let mut parts = column.split(':');
        let (name, role) = (parts.next().unwrap_or(""), parts.next().unwrap_or("value"));
        let column: Vec<Option<&str>> = cells.iter().map(|row| row[at]).collect();
        table = match (role, parts.next()) {
            (_, Some("integer")) => table.integers(name, &parsed(&column)),
            ("value", None) => table.numbers(name, &parsed(&column)),
            _ => table.text(name, &column),
        };
        table = table.about(name, "yearbook.role", role);
        if role == "date" {
            table = table.about(name, "yearbook.type", "date");
        }
    }
    table
}

#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(cells: &[Option<&str>]) -> Vec<Option<T>> {
    cells.iter().map(|cell| cell.map(|cell| cell.parse().unwrap())).collect()
}

/// Returns the options of a transform, these and the defaults of the others.
///
/// # Panics
/// Panics where an option is not declared, or has no value of its kind.
#[must_use]
pub fn options<T: Transform>(given: &[(&str, &str)]) -> Options {
    let parameters = T::describe().parameters;
    for (name, _) in given {
        assert!(parameters.iter().any(|parameter| parameter.name == *name), "no option {name}");
    }
    let value = |parameter: &yearbook_sdk::Parameter| {
        let named = given.iter().find(|(name, _)| *name == parameter.name);
        let text = named.map_or(parameter.default, |(_, text)| *text);
        let known = parameter.allowed.is_empty() || parameter.allowed.contains(&text);
        assert!(known, "{} cannot be {text}", parameter.name);
        let value = parameter.kind.parse(text);
        value.unwrap_or_else(|| panic!("{} cannot be {text}", parameter.name))
    };
    Options(parameters.iter().map(|option| (option.name.to_owned(), value(option))).collect())
}

/// Transforms a table, and returns a line of names and a line for each row, as [`table`] takes
/// them.
///
/// # Errors
/// The error with which the transform declines.
pub fn run<T: Transform>(
    table: &Table,
    given: &[(&str, &str)],
) -> Result<Vec<String>, TransformError> {
    lines(transforming::transform::<T>(table, &values::<T>(given)))
}

/// Transforms the rows of a table from a date on, as [`run`].
///
/// # Errors
/// As [`run`].
pub fn run_from<T: Transform>(
    table: &Table,
    start: &str,
    given: &[(&str, &str)],
) -> Result<Vec<String>, TransformError> {
    lines(transforming::transform_from::<T>(table, start, &values::<T>(given)))
}

/// Returns what a transform gives for a column, `-` for null.
///
/// # Panics
/// Panics where it declines, or gives no such column.
#[must_use]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
pub fn column<T: Transform>(table: &Table, name: &str, given: &[(&str, &str)]) -> Vec<String> {
    let answer = run::<T>(table, given).unwrap();
    let at = answer[0].split(' ').position(|column| column == name).unwrap();
    answer[1..].iter().map(|row| row.split(' ').nth(at).unwrap().to_owned()).collect()
}

/// Returns the schema of a table.
///
/// # Panics
/// Panics where the table has no rows.
#[must_use]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
pub fn schema(table: &Table) -> Schema {
    batches(table, false).unwrap().remove(0).schema().clone()
}

/// Returns what a transform asks for of a table.
///
/// # Errors
/// The error with which the transform declines.
pub fn needs<T: Transform>(table: &Table, given: &[(&str, &str)]) -> Result<Needs, TransformError> {
    T::plan(&schema(table), &options::<T>(given))
}

/// Checks what every transform must hold.
///
/// # Panics
/// As [`transforming::check`].
pub fn check<T: Transform>(needed: &[(&'static str, &str)]) {
    let needed: Vec<(&str, Value)> =
        needed.iter().map(|(name, text)| (*name, Value::Text((*text).to_owned()))).collect();
    transforming::check::<T>(&needed);
}

fn values<T: Transform>(given: &[(&str, &str)]) -> Vec<(&'static str, Value)> {
    let names = T::describe().parameters.into_iter().map(|parameter| parameter.name);
    names.zip(options::<T>(given).0.into_iter().map(|(_, value)| value)).collect()
}

fn lines(
    answer: Result<transforming::TransformedTable, TransformError>,
) -> Result<Vec<String>, TransformError> {
    let answer = answer?;
    let names: Vec<&str> =
        answer.output.columns.iter().map(|column| column.name.as_str()).collect();
    let line = |row: &Vec<Option<String>>| {
        let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("-")).collect();
        cells.join(" ")
    };
    Ok(std::iter::once(names.join(" ")).chain(answer.rows.iter().map(line)).collect())
}
