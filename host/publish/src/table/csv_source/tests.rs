//! CSV packages from header to last row.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use yearbook_domain::{ColumnRole, ColumnType};

use super::*;
use crate::error::PublishError;

fn columns(types: &[(&str, ColumnType)]) -> Vec<Column> {
    let column = |(name, column_type): &(&str, ColumnType)| {
        Column::new(name, *column_type, ColumnRole::Attribute)
    };
    types.iter().map(column).collect()
}

/// Chunks and faults of a text with columns `code` (string) and `n` (integer).
fn read(text: &[u8]) -> (Vec<TableChunk>, Vec<String>) {
    let columns = columns(&[("code", ColumnType::String), ("n", ColumnType::Integer)]);
    let mut faults = FaultList::new(columns.iter().map(|column| column.name.clone()));
    let mut source = CsvSource::new(text, &columns, &mut faults).unwrap();
    let mut chunks = Vec::new();
    while let Some(chunk) = source.next(&mut faults).unwrap() {
        chunks.push(chunk);
    }
    let PublishError::Table { faults, .. } = faults.into_error(std::path::Path::new("x.csv"))
    else {
        panic!("faults make a table error")
    };
    (chunks, faults.iter().map(ToString::to_string).collect())
}

#[test]
fn leading_zeros_of_codes_stay_and_nulls_are_told_from_empty_strings() {
    let (chunks, faults) = read(b"code,n\n007,1\n\"\",\n,3\n");
    assert!(faults.is_empty(), "{faults:?}");
    let batch = &chunks[0].batch;
    let codes: Vec<Option<&str>> = batch.column(0).as_string::<i32>().iter().collect();
    assert_eq!(codes, [Some("007"), Some(""), None]);
    assert_eq!(
        batch.column(1).as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
        [Some(1), None, Some(3)]
    );
}

#[test]
fn ragged_rows_are_named_and_the_rows_behind_keep_their_numbers() {
    let (chunks, faults) = read(b"code,n\na,1\nb\n\nc,2,x\nd,y\ne,5\n");
    assert_eq!(
        faults,
        [
            "row 2: has 1 field where the header has 2; write a comma for every empty field",
            "row 3: is blank; remove the line",
            "row 4: has 3 fields where the header has 2; quote commas inside a field",
            "row 5, column n: \"y\" is not an integer",
        ]
    );
    let rows: Vec<(u64, usize)> =
        chunks.iter().map(|chunk| (chunk.first_row, chunk.batch.num_rows())).collect();
    assert_eq!(rows, [(1, 1), (5, 2)]);
}

#[test]
fn the_header_must_name_the_columns_in_their_order() {
    for (text, expected) in [
        (&b""[..], "the file is empty; its first line must name the columns"),
        (
            b"n,code\n",
            "column 1 of the file is \"n\" where the schema has \"code\"; list each once, in the same order",
        ),
        (
            b"code\n",
            "column n: is in the schema but not in the file; add it, or take it out of the schema",
        ),
        (
            b"code,n,m\n",
            "column \"m\" is in the file but not in the schema; describe it, or remove it",
        ),
        (
            b"code,n,n\n",
            "column 3 of the file is \"n\" where the schema has \"none\"; list each once, in the same order",
        ),
        (b"code,\xFF\n", "the header is not UTF-8; convert the file"),
        (b"code,\"n\n", "in the header: opens a quote that is never closed"),
    ] {
        let (chunks, faults) = read(text);
        assert_eq!(faults, [expected]);
        assert!(chunks.is_empty());
    }
}

#[test]
fn broken_quotes_and_foreign_encodings_are_named_by_row_and_column() {
    let (_, faults) = read(b"code,n\na,1\n\xFF,2\nb\"c,3\nd,4\n");
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].starts_with("row 2, column code:")
            && faults[0].ends_with("is not UTF-8; convert the file"),
        "{faults:?}"
    );
    assert!(
        faults[1].starts_with("row 3, column code: has a quote inside an unquoted field"),
        "{faults:?}"
    );
}

#[test]
fn chunks_are_bounded_and_rows_counted_across_them() {
    let mut text = b"code,n\n".to_vec();
    for row in 0..=MAX_ROWS {
        text.extend(format!("x,{row}\n").into_bytes());
    }
    let (chunks, faults) = read(&text);
    assert!(faults.is_empty());
    let rows: Vec<(u64, usize)> =
        chunks.iter().map(|chunk| (chunk.first_row, chunk.batch.num_rows())).collect();
    assert_eq!(rows, [(1, MAX_ROWS), (MAX_ROWS as u64 + 1, 1)]);
}
