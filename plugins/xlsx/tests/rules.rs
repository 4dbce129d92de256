//! Tables in a workbook; `tests/external/readers` opens workbooks with other people's
//! libraries.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Cursor, Read as _};

use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value};
use yearbook_xlsx::XlsxEncoder;

/// A file of the workbook, checked against its checksum by the zip crate.
fn file(bytes: &[u8], path: &str) -> Option<String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    archive.by_name(path).ok()?.read_to_string(&mut text).unwrap();
    Some(text)
}

fn sheet(bytes: &[u8], number: usize) -> Option<String> {
    file(bytes, &format!("xl/worksheets/sheet{number}.xml"))
}

/// The cells of a sheet below its header.
fn cells(table: &Table, options: &[(&str, Value)]) -> String {
    let sheet = sheet(&encode::<XlsxEncoder>(table, options).unwrap(), 1).unwrap();
    let (_, rows) = sheet.split_once("</row>").unwrap();
    rows.strip_suffix("</sheetData></worksheet>").unwrap().to_owned()
}

fn text(place: &str, value: &str) -> String {
    format!(r#"<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>"#)
}

#[test]
fn conforms() {
    conformance::check::<XlsxEncoder>(|bytes| {
        sheet(bytes, 1).unwrap().matches("<row ").count() - 1
    });
}

#[test]
fn cells_have_the_types_of_their_values_and_nothing_where_null() {
    let table = Table::new()
        .text("a", &[Some("=1+1"), None])
        .dictionary("b", &[None, Some("<&>")])
        .integers("c", &[Some(-7), Some(1 << 53)])
        .numbers("d", &[Some(0.1), Some(1e300)])
        .booleans("e", &[Some(true), Some(false)])
        .text("f", &[Some("2000-02-29"), Some("1899-12-31")])
        .about("f", "yearbook.type", "date");
    let expected = format!(
        r#"<row r="2">{}<c r="C2"><v>-7</v></c><c r="D2"><v>0.1</v></c><c r="E2" t="b"><v>1</v></c><c r="F2" s="1"><v>36585</v></c></row><row r="3">{}<c r="C3"><v>9007199254740992</v></c><c r="D3"><v>1e+300</v></c><c r="E3" t="b"><v>0</v></c>{}</row>"#,
        text("A2", "=1+1"),
        text("B3", "&lt;&amp;&gt;"),
        text("F3", "1899-12-31"),
    );
    assert_eq!(cells(&table, &[]), expected);
    assert!(cells(&table, &[("dates", Value::Boolean(false))]).contains(&text("F2", "2000-02-29")));
}

#[test]
fn what_a_spreadsheet_cannot_hold_is_text() {
    let integers = Table::new().integers("a", &[Some((1 << 53) + 1), Some(i64::MIN)]);
    assert_eq!(
        cells(&integers, &[]),
        format!(
            r#"<row r="2">{}</row><row r="3">{}</row>"#,
            text("A2", "9007199254740993"),
            text("A3", "-9223372036854775808")
        )
    );
    let numbers = Table::new().numbers("a", &[Some(f64::NAN), Some(f64::NEG_INFINITY)]);
    assert_eq!(
        cells(&numbers, &[]),
        format!(r#"<row r="2">{}</row><row r="3">{}</row>"#, text("A2", "NaN"), text("A3", "-INF"))
    );
}

#[test]
fn a_text_that_is_too_long_is_cut_and_counted() {
    let (long, longest) = ("é".repeat(32_768), "é".repeat(32_767));
    let table = Table::new()
        .text("a", &[Some(&long), Some(&longest)])
        .text("b", &[Some("x"), None])
        .metadata("yearbook.licence", "CC-BY-4.0");
    let bytes = encode::<XlsxEncoder>(&table, &[]).unwrap();
    assert_eq!(
        sheet(&bytes, 1).unwrap().split("</row>").skip(1).take(2).collect::<String>(),
        format!(
            r#"<row r="2">{}{}<row r="3">{}"#,
            text("A2", &format!("{}…", "é".repeat(32_766))),
            text("B2", "x"),
            text("A3", &longest)
        )
    );
    let about = sheet(&bytes, 2).unwrap();
    assert!(
        about.contains("CC-BY-4.0") && about.contains("cut in a") && about.contains("1 cell, to"),
        "{about}"
    );
    assert!(!about.contains("cut in b"));
}

#[test]
fn a_geometry_is_declined_unless_it_may_be_cut() {
    let table = Table::new().text("shape", &[Some("POINT (1 2)")]).about(
        "shape",
        "yearbook.role",
        "geometry",
    );
    let declined = encode::<XlsxEncoder>(&table, &[]);
    assert!(
        matches!(declined, Err(Error::UnsupportedSchema(said)) if said.contains("`shape`") && said.contains("geometry=false"))
    );
    assert!(cells(&table, &[("cut_geometry", Value::Boolean(true))]).contains("POINT (1 2)"));
}

#[test]
fn more_columns_than_a_sheet_has_are_declined() {
    let wide =
        |columns| (0..columns).fold(Table::new(), |table, at| table.nulls(&format!("c{at}"), 0));
    assert!(encode::<XlsxEncoder>(&wide(16_384), &[]).is_ok());
    assert!(
        matches!(encode::<XlsxEncoder>(&wide(16_385), &[]), Err(Error::UnsupportedSchema(said)) if said.contains("16384"))
    );
}

#[test]
fn rows_beyond_a_sheet_go_on_on_the_next_one() {
    let rows = 1_048_577;
    let table = Table::new().booleans("a", &vec![Some(true); rows]).batches_of(100_000);
    let bytes = encode::<XlsxEncoder>(&table, &[]).unwrap();
    let count = |number| sheet(&bytes, number).unwrap().matches("<row ").count();
    assert_eq!((count(1), count(2)), (1_048_576, 3));
    let workbook = file(&bytes, "xl/workbook.xml").unwrap();
    assert!(
        workbook.contains(r#"<sheet name="data" "#)
            && workbook.contains(r#"<sheet name="data 2" "#)
            && workbook.contains(r#"<sheet name="about" "#)
    );
    assert!(sheet(&bytes, 3).unwrap().contains("1048577"));
}

#[test]
fn an_empty_table_is_a_header() {
    let bytes = encode::<XlsxEncoder>(&Table::new().text("a", &[None::<&str>; 0]), &[]).unwrap();
    assert_eq!(sheet(&bytes, 1).unwrap().matches("<row ").count(), 1);
    let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).unwrap();
    assert_eq!(archive.by_index(0).unwrap().name().unwrap(), "[Content_Types].xml");
}
