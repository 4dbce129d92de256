//! The contents that fit into a preview (contract-4-preview-bounds): rows from the first on, and
//! where not even one fits, columns from the first on. What is left out is counted before it is
//! rendered, so that no row costs more than its own bytes.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use yearbook_domain::{Column, ColumnRole, ColumnType, DatasetName, SnapshotId};
use yearbook_http::body_schema::BodySchema;
use yearbook_http::json_body;

/// Bytes of a document (contract-4-preview-bounds). Names of hidden columns are never left out.
pub(super) const MAX_BYTES: usize = 64 << 10;

json_body! {
    /// A preview as clients see it.
    pub(crate) struct Preview<'a> named "Preview": "Up to ten rows, in at most 64 KiB." {
        /// The dataset.
        pub(super) name: &'a DatasetName,
        /// The version that is shown.
        pub(super) snapshot_id: &'a SnapshotId,
        /// Rows of that version.
        pub(super) row_count: u64 => {"minimum": 0, "description": "Rows of the snapshot."},
        /// Columns of the rows, in their order.
        pub(super) columns: &'a [PreviewColumn<'a>],
        /// Columns that the rows lack: geometry, and what would not fit.
        pub(super) hidden_columns: Vec<&'a str> => {
            "description": "Columns that the rows lack: geometry, and what would not fit."
        },
        /// The newest rows.
        pub(super) rows: Vec<PreviewRow<'a>> => {"maxItems": (super::MAX_ROWS)},
    }

    /// A column that is shown.
    pub(crate) struct PreviewColumn<'a>: "A column that is shown." {
        /// Its name.
        pub(super) name: &'a str,
        column_type as "type": ColumnType,
        role: ColumnRole,
    }
}

/// A row, as an object.
pub(crate) struct PreviewRow<'a> {
    columns: &'a [PreviewColumn<'a>],
    cells: Vec<Value>,
}

impl<'a> PreviewColumn<'a> {
    /// The view of `column`.
    pub(super) fn new(column: &'a Column) -> Self {
        Self { name: &column.name, column_type: column.column_type, role: column.role }
    }
}

impl BodySchema for PreviewRow<'_> {
    const COMPONENT: Option<&'static str> = Some("Row");

    fn schema() -> Value {
        json!({
            "type": "object",
            "description": "A row: every column, null where it is null.",
            "additionalProperties": {"type": ["string", "integer", "number", "boolean", "null"]},
            "examples": [{"date": "2020-03-31", "period": "2020-Q1", "region": "Otago", "value": 12.5}],
        })
    }
}

impl Serialize for PreviewRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().map(|column| column.name).zip(&self.cells))
    }
}

impl<'a> Preview<'a> {
    /// The same with as many of `rows` as fit. Rows after the first that does not fit are not asked
    /// for.
    ///
    /// # Errors
    /// The error of a row.
    pub(super) fn fill(
        mut self,
        rows: impl Iterator<Item = Result<Vec<Value>, String>>,
    ) -> Result<Self, String> {
        let mut bytes = json_len(&self)?;
        for cells in rows {
            let row = PreviewRow { columns: self.columns, cells: cells? };
            // With the comma before it.
            bytes += json_len(&row)? + 1;
            if bytes > MAX_BYTES {
                return if self.rows.is_empty() { self.fit_columns(Some(row)) } else { Ok(self) };
            }
            self.rows.push(row);
        }
        if bytes > MAX_BYTES { self.fit_columns(None) } else { Ok(self) }
    }

    /// The same with as many columns as fit, of this row where there is one.
    fn fit_columns(self, row: Option<PreviewRow<'a>>) -> Result<Self, String> {
        let names = |columns: &[PreviewColumn<'a>]| {
            columns.iter().map(|column| column.name).collect::<Vec<_>>()
        };
        let (all, geometry) = (self.columns, self.hidden_columns);
        let nothing = Preview {
            columns: &[],
            hidden_columns: [geometry.clone(), names(all)].concat(),
            rows: Vec::new(),
            ..self
        };
        // Two braces of the row, which are there in any case.
        let mut bytes = json_len(&nothing)? + 2;
        let mut fitting = 0;
        for (index, column) in all.iter().enumerate() {
            let name = json_len(&column.name)?;
            let cell = row
                .as_ref()
                .and_then(|row| row.cells.get(index))
                .map_or(Ok(0), |cell| json_len(cell).map(|cell| name + cell + 2))?;
            // Each with its comma.
            bytes = bytes + json_len(column)? + 1 + cell - (name + 1);
            if bytes > MAX_BYTES {
                break;
            }
            fitting = index + 1;
        }
        let (columns, hidden) = all.split_at(fitting);
        let rows = row.into_iter().map(|row| PreviewRow {
            columns,
            cells: row.cells.into_iter().take(fitting).collect(),
        });
        let rows = rows.filter(|_| fitting > 0).collect();
        Ok(Preview { columns, hidden_columns: [geometry, names(hidden)].concat(), rows, ..nothing })
    }
}

/// Bytes of `value` as JSON.
fn json_len(value: &impl Serialize) -> Result<usize, String> {
    let mut count = ByteCounter(0);
    serde_json::to_writer(&mut count, value).map_err(|failure| failure.to_string())?;
    Ok(count.0)
}

/// Counts what is written and keeps none of it.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Rows, shown and hidden columns, and bytes of a preview of `rows` rows with `columns` texts
    /// of `characters` characters.
    fn fitted(rows: usize, columns: usize, characters: usize) -> (usize, usize, usize, usize) {
        let name = DatasetName::parse("wide").unwrap();
        let names: Vec<String> = (0..columns).map(|index| format!("column_{index:04}")).collect();
        let shown: Vec<_> = names
            .iter()
            .map(|name| PreviewColumn {
                name,
                column_type: ColumnType::String,
                role: ColumnRole::Attribute,
            })
            .collect();
        let preview = Preview {
            name: &name,
            snapshot_id: &SnapshotId::from_digest(yearbook_domain::Digest::compute(b"")),
            row_count: 9,
            columns: &shown,
            hidden_columns: vec!["geometry_wkt"],
            rows: Vec::new(),
        };
        let cells = vec![Value::from("x".repeat(characters)); columns];
        let preview = preview.fill(std::iter::repeat_n(cells, rows).map(Ok)).unwrap();
        let text = serde_json::to_string(&preview).unwrap();
        let hidden: Vec<_> = names[preview.columns.len()..].iter().map(String::as_str).collect();
        assert_eq!(preview.hidden_columns[1..], hidden, "what is not shown is named");
        assert!(preview.rows.iter().all(|row| row.cells.len() == preview.columns.len()));
        (preview.rows.len(), preview.columns.len(), preview.hidden_columns.len() - 1, text.len())
    }

    #[test]
    fn rows_are_left_out_before_columns_and_columns_are_named_contract_4() {
        assert_eq!(fitted(10, 3, 10).0, 10);
        let (rows, columns, hidden, bytes) = fitted(10, 20, 1_000);
        assert_eq!((rows, columns, hidden), (3, 20, 0));
        assert!(bytes <= MAX_BYTES && bytes + 21_000 > MAX_BYTES, "{bytes}");
        let (rows, columns, hidden, bytes) = fitted(10, 200, 1_000);
        assert_eq!((rows, columns + hidden), (1, 200));
        assert!(
            columns > 50 && bytes <= MAX_BYTES && bytes + 2_000 > MAX_BYTES,
            "{columns} columns, {bytes} bytes"
        );
        let (rows, columns, hidden, bytes) = fitted(0, 2_000, 0);
        assert_eq!((rows, columns + hidden), (0, 2_000));
        assert!(
            columns > 0 && hidden > 0 && bytes <= MAX_BYTES,
            "{columns} columns, {bytes} bytes"
        );
    }
}
