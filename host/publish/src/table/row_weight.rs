//! Rows that weigh so much that no built-in format could send them: refused, because they would be
//! 500 for ever.

use arrow::array::{Array, AsArray, StringArray};
use arrow::datatypes::DataType;
use yearbook_domain::json_size;
use yearbook_scan::schema::stored_type;

use super::TableChunk;
use crate::faults::FaultList;
use crate::package::DataPackage;

/// Weighs rows.
pub(crate) struct RowWeightCheck {
    /// Weight of a row without its text.
    fixed: usize,
    /// Positions of the text columns.
    texts: Vec<usize>,
    /// Weight of a row at most.
    limit: usize,
}

impl RowWeightCheck {
    pub(crate) fn new(package: &DataPackage) -> Self {
        Self::with_limit(package, json_size::ROW_BYTES)
    }

    fn with_limit(package: &DataPackage, limit: usize) -> Self {
        let (mut fixed, mut texts) = (0, Vec::new());
        for (index, column) in package.columns.iter().enumerate() {
            fixed += column.name.len() + json_size::CELL_BYTES;
            match stored_type(column.column_type) {
                DataType::Utf8 => texts.push(index),
                DataType::Boolean => fixed += json_size::BOOLEAN_BYTES,
                _ => fixed += json_size::NUMBER_BYTES,
            }
        }
        Self { fixed, texts, limit }
    }

    /// Names each row of `chunk` that weighs too much, by its longest text.
    pub(crate) fn check(&self, chunk: &TableChunk, faults: &mut FaultList) {
        let texts: Vec<(usize, &StringArray)> = self
            .texts
            .iter()
            .filter_map(|&index| Some((index, chunk.batch.columns().get(index)?.as_string_opt()?)))
            .collect();
        let longest = |text: &StringArray| {
            text.value_offsets().windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
        };
        let longest: usize =
            texts.iter().map(|(_, text)| usize::try_from(longest(text)).unwrap_or(0)).sum();
        // Almost every chunk ends here, without a look at a single byte.
        if self.fixed.saturating_add(longest.saturating_mul(json_size::LONGEST_ESCAPE))
            <= self.limit
        {
            return;
        }
        for (row, number) in (0..chunk.batch.num_rows()).zip(chunk.first_row..) {
            let cells = texts.iter().filter(|(_, text)| text.is_valid(row));
            let cells: Vec<(usize, usize)> = cells
                .map(|(index, text)| (*index, json_size::json_bytes(text.value(row))))
                .collect();
            let row = self.fixed + cells.iter().map(|(_, bytes)| bytes).sum::<usize>();
            if row <= self.limit {
                continue;
            }
            let limit = self.limit;
            match cells.into_iter().max_by_key(|(_, bytes)| *bytes) {
                Some((column, bytes)) => faults.cell(number, column, || {
                    format!("takes {bytes} of its row's {row} bytes as JSON; a row may take {limit}, more could be sent in no format: split or simplify it")
                }),
                None => faults.row(number, || format!("takes {row} bytes as JSON and may take {limit}: no format could send more; split the table")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};

    use super::*;

    /// Rows and columns at fault where a row of `id`, `name` and `note` may weigh `limit`.
    fn faulty(limit: usize, rows: &[(Option<&str>, Option<&str>)]) -> Vec<String> {
        // Names and 16 each, and a number.
        let scales = RowWeightCheck {
            fixed: 10 + 3 * json_size::CELL_BYTES + json_size::NUMBER_BYTES,
            texts: vec![1, 2],
            limit,
        };
        let column = |texts: Vec<Option<&str>>| Arc::new(StringArray::from(texts)) as ArrayRef;
        let ids = Arc::new(Int64Array::from_iter_values((0..).take(rows.len()))) as ArrayRef;
        let (names, notes) = rows.iter().copied().unzip();
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("id", ids, false),
            ("name", column(names), true),
            ("note", column(notes), true),
        ]);
        let mut faults = FaultList::new(["id", "name", "note"].map(str::to_owned));
        scales.check(&TableChunk { first_row: 5, batch: batch.unwrap() }, &mut faults);
        if faults.is_empty() {
            return Vec::new();
        }
        match faults.into_error(std::path::Path::new("t.csv")) {
            crate::PublishError::Table { faults, .. } => {
                faults.iter().map(ToString::to_string).collect()
            }
            error => panic!("{error}"),
        }
    }

    #[test]
    fn a_row_that_no_format_could_send_is_named_with_its_longest_cell() {
        let long = "x".repeat(60);
        let escaped = "\u{1}".repeat(20);
        let rows = [
            (Some("a"), Some("b")),
            (None, Some(long.as_str())),
            (Some(long.as_str()), Some("y")),
            (Some(&escaped), None),
        ];
        let found = faulty(82 + 60, &rows);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with(
                "row 7, column name: takes 60 of its row's 143 bytes as JSON; a row may take 142"
            ),
            "{found:?}"
        );
        assert!(
            found[1].starts_with("row 8, column name: takes 120 of its row's 202 bytes as JSON"),
            "{found:?}"
        );
        assert_eq!(faulty(82 + 120, &rows), [""; 0]);
        assert_eq!(
            faulty(81, &[(None, None)]),
            [
                "row 5: takes 82 bytes as JSON and may take 81: no format could send more; split the table"
            ],
            "names alone may be too much"
        );
    }
}
