//! Rows of the sample catalogue as formats have them.

use crate::adapter::{ColumnType, Table};
use crate::testing::{Table as TestTable, encode};
use crate::text::{Rows, json};
use crate::{Batch, Description, Encoder, Error, Options, Output, Schema, Value, View};

/// An array of objects, as the format `json` writes it.
struct Objects(Rows<json::Json>);

impl Encoder for Objects {
    fn describe() -> Description {
        Description {
            format: "objects",
            version: "1.0.0",
            media_type: "application/json",
            extension: "json",
            separator: Some(b","),
            part_rows: None,
            dictionaries: false,
            compressible: true,
            parameters: Vec::new(),
            docs: "An array of objects, one a row.",
        }
    }

    fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
        json::objects(&schema.fields, b"},").map(Self)
    }

    fn views(&self) -> Vec<View> {
        self.0.views()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.push(b'[');
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.0.write(&batch, out);
        out.pop();
        Ok(())
    }

    fn tail(&mut self, _: &[crate::Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.push(b']');
        Ok(())
    }
}

/// Rows as JSON.
pub(super) fn json(table: &Table) -> Vec<u8> {
    encode::<Objects>(&test_table(table), &[])
        .unwrap_or_else(|error| panic!("the sample catalogue has no such type: {error:?}"))
}

/// Rows as a table of the test kit, with what a schema says of columns.
///
/// ```
/// use yearbook_sdk::adapter::Selection;
/// use yearbook_sdk::testing::adapting;
/// use yearbook_sdk::testing::sample::SampleCatalogue;
///
/// let codes = SampleCatalogue::new().rows(&Selection::new("codes"))?;
/// assert_eq!(adapting::test_table(&codes).rows(), 4);
/// # Ok::<(), yearbook_sdk::adapter::Refusal>(())
/// ```
#[must_use]
pub fn test_table(table: &Table) -> TestTable {
    let columns = table.known.columns.iter().enumerate();
    columns.fold(TestTable::new(), |made, (at, column)| {
        let cells = table.rows.iter().map(|row| row[at].as_ref());
        let name = &column.name;
        let made = match column.type_ {
            ColumnType::Integer => made.integers(
                name,
                &every(cells, |value| match value {
                    Value::Integer(number) => Some(*number),
                    _ => None,
                }),
            ),
            ColumnType::Number => made.numbers(
                name,
                &every(cells, |value| match value {
                    Value::Number(number) => Some(*number),
                    _ => None,
                }),
            ),
            ColumnType::Boolean => made.booleans(
                name,
                &every(cells, |value| match value {
                    Value::Boolean(boolean) => Some(*boolean),
                    _ => None,
                }),
            ),
            ColumnType::Text | ColumnType::Date => made.text(
                name,
                &every(cells, |value| match value {
                    Value::Text(text) => Some(text.clone()),
                    _ => None,
                }),
            ),
        };
        let made = made.about(name, "yearbook.role", &column.role);
        if column.type_ == ColumnType::Date {
            made.about(name, "yearbook.type", "date")
        } else {
            made
        }
    })
}

fn every<'a, T>(
    cells: impl Iterator<Item = Option<&'a Value>>,
    read: impl Fn(&Value) -> Option<T>,
) -> Vec<Option<T>> {
    cells.map(|cell| cell.and_then(&read)).collect()
}
