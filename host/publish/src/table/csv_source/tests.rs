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

/// Rows and faults of a text whose only column is `code`.
fn read_single(text: &str, nullable: bool) -> (usize, Vec<String>) {
    let mut columns = columns(&[("code", ColumnType::String)]);
    columns[0].nullable = nullable;
    let mut faults = FaultList::new(["code".to_owned()]);
    let mut source = CsvSource::new(text.as_bytes(), &columns, &mut faults).unwrap();
    let mut rows = 0;
    while let Some(chunk) = source.next(&mut faults).unwrap() {
        rows += chunk.batch.num_rows();
    }
    let PublishError::Table { faults, .. } = faults.into_error(std::path::Path::new("x.csv"))
    else {
        panic!("faults make a table error")
    };
    (rows, faults.iter().map(ToString::to_string).collect())
}

#[test]
fn blank_lines_at_the_end_make_no_rows_contract_7() {
    for end in ["", "\n", "\n\n\n", "\r\n", "\r\n\r\n", "\n\r\n"] {
        let (chunks, faults) = read(format!("code,n\na,1\n{end}").as_bytes());
        assert_eq!((chunks.len(), chunks[0].batch.num_rows(), faults.len()), (1, 1, 0), "{end:?}");
        let text = format!("code\n\na\n\nb\n{end}");
        assert_eq!(read_single(&text, false).1.len(), 0, "{end:?}: cannot be a null");
        let (rows, faults) = read_single(&text, true);
        assert_eq!(rows, 4, "{end:?}: nulls between others stay");
        if end.is_empty() {
            assert_eq!(faults, [""; 0]);
        } else {
            assert_eq!(faults.len(), 1);
            assert!(faults[0].starts_with("row 5: is a blank line at the end"), "{faults:?}");
        }
    }
}

#[test]
fn content_of_another_kind_is_named_with_what_to_do_contract_7() {
    let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(order).collect::<Vec<u8>>()
    };
    let utf32 = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let texts: [(Vec<u8>, &str); 12] = [
        (utf16("\u{feff}code\tn\r\na\t1\r\n", u16::to_le_bytes), "UTF-16"),
        (utf16("\u{feff}code,n\r\na,1\r\n", u16::to_be_bytes), "UTF-16"),
        (utf16("code,n\r\na,1\r\n", u16::to_le_bytes), "UTF-16"),
        (utf32("\u{feff}code,n\n"), "UTF-32"),
        (utf32("code,n\n"), "UTF-32"),
        (b"PK\x03\x04\x14\0\x06\0".to_vec(), "a zip archive"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec(), "workbook of old Excel"),
        (b"\x1F\x8B\x08\0".to_vec(), "gzip"),
        (b"\xEF\xBB\xBF\r\n <!DOCTYPE html><html>".to_vec(), "HTML"),
        (b"<?xml version=\"1.0\"?>".to_vec(), "XML"),
        (b"PAR1\x15\0".to_vec(), "Parquet"),
        (b"ARROW1\0\0".to_vec(), "Arrow"),
    ];
    let columns = columns(&[("code", ColumnType::String), ("n", ColumnType::Integer)]);
    for (text, expected) in texts {
        let mut faults = FaultList::new(columns.iter().map(|column| column.name.clone()));
        let why = CsvSource::new(&text[..], &columns, &mut faults).err().unwrap().0;
        assert!(why.starts_with("it is ") && why.contains(expected), "{expected}: {why}");
    }
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
        (
            b"code,\xFF\n",
            "the header is not UTF-8, perhaps Latin-1 or Windows-1252; save the file as UTF-8",
        ),
        (b"code,\"n\n", "in the header: opens a quote that is never closed"),
    ] {
        let (chunks, faults) = read(text);
        assert_eq!(faults, [expected]);
        assert!(chunks.is_empty());
    }
}

#[test]
fn broken_quotes_and_foreign_encodings_are_named_by_row_and_column_contract_7() {
    let (_, faults) = read(b"code,n\na,1\n\xFF,2\nb\"c,3\nd,4\n");
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].starts_with("row 2, column code:")
            && faults[0]
                .ends_with("is not UTF-8, perhaps Latin-1 or Windows-1252; save the file as UTF-8"),
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
