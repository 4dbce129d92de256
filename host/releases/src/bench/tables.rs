//! Tables of a benchmark, in the shapes that agencies publish. The same rows at every run and on
//! every machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use yearbook_sandbox::{PluginEncoder, with_codes};
use yearbook_sdk::testing::{Table, record_batches};

use super::BenchError;
use crate::check::distinct_values;

/// Rows of a batch: as many as a store has in a page.
const BATCH_ROWS: usize = 8_192;

/// Batches of a table: enough that an instance's start is a small part of the time.
const BATCHES: usize = 4;

/// Rows of a small response.
pub(super) const FRESH_ROWS: usize = 100;

/// A table, ready to cross.
pub(super) struct BenchTable {
    pub(super) name: String,
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
    /// Its first rows, of a response as small as most are.
    pub(super) fresh: Vec<RecordBatch>,
    /// The distinct values of columns.
    pub(super) codes: BTreeMap<String, Vec<String>>,
}

impl BenchTable {
    pub(super) fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The schema as `encoder` is given it.
    pub(super) fn schema_for(&self, encoder: &PluginEncoder) -> SchemaRef {
        if !encoder.description().codes {
            return Arc::clone(&self.schema);
        }
        let codes = self.schema.fields().iter().map(|field| self.codes.get(field.name()).cloned());
        with_codes(&self.schema, codes.collect())
    }

    fn new(name: &str, table: Table) -> Result<Self, BenchError> {
        let fault = |error: &dyn ToString| BenchError::Table(name.to_owned(), error.to_string());
        let (schema, batches) =
            record_batches(&table.batches_of(BATCH_ROWS)).map_err(|error| fault(&error))?;
        let rows = concat_batches(&schema, &batches).map_err(|error| fault(&error))?;
        let first = batches.first().map(|batch| batch.slice(0, FRESH_ROWS.min(batch.num_rows())));
        let (name, fresh) = (name.to_owned(), first.into_iter().collect());
        Ok(Self { name, codes: distinct_values(&rows), schema, batches, fresh })
    }
}

/// Every table. One that is declined gets what a format may ask of a dataset (a geometry, a date, a
/// dimension, a value), for all plugins alike.
pub(super) fn all(declined: &impl Fn(&BenchTable) -> bool) -> Result<Vec<BenchTable>, BenchError> {
    let tables = [("long", long()), ("wide", wide()), ("text", text())];
    let table = |(name, table): (&str, Table)| {
        let plain = BenchTable::new(name, table.clone())?;
        if declined(&plain) {
            BenchTable::new(&format!("{name}, furnished"), table.furnished())
        } else {
            Ok(plain)
        }
    };
    tables.into_iter().map(table).collect()
}

fn rows() -> std::ops::Range<usize> {
    0..BATCH_ROWS * BATCHES
}

fn day(row: usize) -> Option<String> {
    Some(format!("{:04}-{:02}-{:02}", 1900 + row / 336 % 120, row / 28 % 12 + 1, row % 28 + 1))
}

fn month(row: usize) -> Option<String> {
    Some(format!("{:04}-{:02}-01", 1900 + row / 12, row % 12 + 1))
}

fn number(row: usize, column: usize) -> Option<f64> {
    let value = u32::try_from((row * 7919 + column * 104_729) % 1_000_000).unwrap_or_default();
    (!(row + column).is_multiple_of(11)).then(|| f64::from(value) / 100.0)
}

fn column<T>(cell: impl Fn(usize) -> Option<T>) -> Vec<Option<T>> {
    rows().map(cell).collect()
}

/// Months of 32 series: a date, two dimensions of few values, and one measure.
fn long() -> Table {
    const REGIONS: [&str; 8] = [
        "Northland",
        "Auckland",
        "Waikato",
        "Bay of Plenty",
        "Gisborne",
        "Otago",
        "Southland",
        "Nelson",
    ];
    const SERIES: [&str; 4] = ["Apples", "Kiwifruit", "Wine grapes", "Barley, malting"];
    Table::new()
        .text("date", &column(|row| month(row / 32)))
        .about("date", "yearbook.type", "date")
        .about("date", "yearbook.role", "date")
        .dictionary("region", &column(|row| REGIONS.get(row / 4 % 8).copied()))
        .about("region", "yearbook.role", "dimension")
        .dictionary("series", &column(|row| SERIES.get(row % 4).copied()))
        .about("series", "yearbook.role", "dimension")
        .numbers("value", &column(|row| number(row, 0)))
        .about("value", "yearbook.role", "value")
        .metadata("yearbook.primary_key", r#"["date","region","series"]"#)
        .metadata("yearbook.series", r#"["region","series"]"#)
        .metadata("yearbook.axis", "month")
}

/// Days with a dozen measures.
fn wide() -> Table {
    let dated = Table::new()
        .text("date", &column(day))
        .about("date", "yearbook.type", "date")
        .about("date", "yearbook.role", "date")
        .metadata("yearbook.primary_key", r#"["date"]"#)
        .metadata("yearbook.series", "[]")
        .metadata("yearbook.axis", "day");
    (0..12).fold(dated, |table, measure| {
        let name = format!("measure_{measure}");
        table.numbers(&name, &column(|row| number(row, measure))).about(
            &name,
            "yearbook.role",
            "value",
        )
    })
}

/// Names with quotes and letters of many alphabets, counts and flags.
fn text() -> Table {
    const NOTES: [&str; 5] = [
        "revised in the following quarter",
        "\"provisional\", see the note on methods",
        "Māori land, Ōtautahi\nand its hinterland",
        "統計局の推計",
        "n/a",
    ];
    let note = |row: usize| (!row.is_multiple_of(7)).then(|| format!("{} {row}", NOTES[row % 5]));
    Table::new()
        .text("code", &column(|row| Some(format!("NZL.{:05}.{}", row, row % 97))))
        .text("note", &column(note))
        .integers("count", &column(|row| i64::try_from(row * 37 % 1_000_003).ok()))
        .booleans(
            "final",
            &column(|row| (!row.is_multiple_of(13)).then_some(row.is_multiple_of(2))),
        )
        .about("count", "yearbook.role", "value")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn tables_are_the_same_each_time_and_are_furnished_for_all_or_none() {
        let names = |tables: &[BenchTable]| -> Vec<String> {
            tables.iter().map(|table| table.name.clone()).collect()
        };
        let (one, other) = (all(&|_| false).unwrap(), all(&|table| table.name == "text").unwrap());
        assert_eq!(names(&one), ["long", "wide", "text"]);
        assert_eq!(names(&other), ["long", "wide", "text, furnished"]);
        assert_eq!(one[0].batches, other[0].batches);
        for table in &one {
            assert_eq!((table.rows(), table.batches.len()), (32_768, 4));
            assert_eq!(table.fresh[0].num_rows(), FRESH_ROWS);
        }
        assert!(other[2].schema.field_with_name("a_geometry").is_ok());
    }
}
