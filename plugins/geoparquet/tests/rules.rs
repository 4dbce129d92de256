//! GeoParquet 1.1, as far as datasets meet it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{Array as _, AsArray as _};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use yearbook_geoparquet::GeoParquetEncoder;
use yearbook_sdk::Error;
use yearbook_sdk::testing::{Table, conformance, encode, encode_apart};

fn reader(bytes: &[u8]) -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(bytes)).unwrap()
}

fn geo(bytes: &[u8]) -> Value {
    let reader = reader(bytes);
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    serde_json::from_str(
        pairs.iter().find(|pair| pair.key == "geo").unwrap().value.as_ref().unwrap(),
    )
    .unwrap()
}

/// The geometry column, value by value.
fn values(bytes: &[u8], name: &str) -> Vec<Option<Vec<u8>>> {
    let mut found = Vec::new();
    for batch in reader(bytes).build().unwrap() {
        let batch = batch.unwrap();
        let column = batch.column_by_name(name).unwrap().as_binary::<i32>();
        found.extend(
            (0..column.len()).map(|row| column.is_valid(row).then(|| column.value(row).to_vec())),
        );
    }
    found
}

#[test]
fn conforms() {
    conformance::check::<GeoParquetEncoder>(|bytes| {
        reader(bytes).build().unwrap().map(|batch| batch.unwrap().num_rows()).sum()
    });
}

#[test]
fn the_file_says_what_and_where_its_geometries_are() {
    let shapes = [
        Some("MULTIPOINT (174.5 -36.5)"),
        None,
        Some("MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0)))"),
        Some("MULTIPOINT EMPTY"),
    ];
    for table in
        [Table::new().text("shape_wkt", &shapes), Table::new().dictionary("shape_wkt", &shapes)]
    {
        let table =
            table.about("shape_wkt", "yearbook.role", "geometry").integers("n", &[Some(1); 4]);
        let whole = encode::<GeoParquetEncoder>(&table, &[]).unwrap();
        let expected = json!({
            "version": "1.1.0",
            "primary_column": "geometry",
            "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["MultiPoint", "MultiPolygon"], "bbox": [0.0, -36.5, 174.5, 1.0]}},
        });
        assert_eq!(geo(&whole), expected);
        let found = values(&whole, "geometry");
        assert_eq!(
            found.iter().map(Option::is_some).collect::<Vec<_>>(),
            [true, false, true, true]
        );
        assert_eq!(found[3].as_deref(), Some(&[1, 4, 0, 0, 0, 0, 0, 0, 0][..]));
        // By an instance a part, the tail knows all of them.
        let cut = table.batches_of(1);
        let apart = encode_apart::<GeoParquetEncoder>(&cut, &[]).unwrap().response(Some(b""));
        assert_eq!((geo(&apart), values(&apart, "geometry")), (expected, found));
    }
}

#[test]
fn a_dictionary_s_values_count_only_where_rows_have_them() {
    let shapes = [Some("MULTIPOINT (1 1)"), Some("MULTIPOINT (2 2)"), Some("MULTIPOINT (2 2)")];
    let table = Table::new()
        .dictionary("shape", &shapes)
        .about("shape", "yearbook.role", "geometry")
        .batches_of(1);
    let parts = encode_apart::<GeoParquetEncoder>(&table, &[]).unwrap();
    // The first part's note: west, south, east and north of its one row, though its dictionary has
    // two values.
    let bounds: Vec<_> = parts.notes[0]
        .bytes
        .chunks(8)
        .take(4)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(bounds, [1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn plain_geometries_are_those_of_a_dictionary_whether_they_repeat_or_not() {
    let polygon = |row: usize, corners: usize| {
        let corner = |at: usize| format!("{}.25 -{at}.5", row % 150);
        let ring: Vec<_> = (0..corners).chain([0]).map(corner).collect();
        format!("POLYGON (({}))", ring.join(", "))
    };
    // Few shapes, and many that fill several pages; a tenth of the rows has none.
    for (rows, shapes, corners) in [(20_000, 7, 4), (3_000, 3_000, 150)] {
        let texts: Vec<_> =
            (0..rows).map(|row| polygon(row % shapes, corners + row % shapes)).collect();
        let texts: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(row, text)| (row % 10 > 0).then_some(text.as_str()))
            .collect();
        let geometry = |table: Table| table.about("shape", "yearbook.role", "geometry");
        let plain = encode::<GeoParquetEncoder>(&geometry(Table::new().text("shape", &texts)), &[])
            .unwrap();
        let keyed =
            encode::<GeoParquetEncoder>(&geometry(Table::new().dictionary("shape", &texts)), &[])
                .unwrap();
        let found = values(&plain, "geometry");
        assert!(found == values(&keyed, "geometry"), "{rows} rows of {shapes} shapes");
        assert_eq!((found.len(), geo(&plain)), (rows, geo(&keyed)));
        let size = found.iter().flatten().map(Vec::len).sum::<usize>();
        assert_eq!(plain.len() < size / 4, shapes == 7, "repeated ones are there once");
    }
}

#[test]
fn text_that_is_no_geometry_fails_the_part_wherever_it_stands() {
    for bad in [0, 1, 4_000] {
        let texts: Vec<_> = (0..=4_000).map(|row| format!("POINT ({row} {row}.5)")).collect();
        let texts: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(row, text)| Some(if row == bad { "POINT (1" } else { text }))
            .collect();
        let table = Table::new().text("shape", &texts).about("shape", "yearbook.role", "geometry");
        let failed = encode::<GeoParquetEncoder>(&table, &[]);
        assert!(matches!(failed, Err(Error::Internal(_))), "row {bad}");
    }
}

#[test]
fn a_column_that_is_called_geometry_keeps_its_name() {
    let table = Table::new()
        .text("geometry", &[Some("x")])
        .text("shape", &[Some("POINT (1 2)")])
        .about("shape", "yearbook.role", "geometry");
    let bytes = encode::<GeoParquetEncoder>(&table, &[]).unwrap();
    assert_eq!(geo(&bytes)["primary_column"], "shape");
    assert!(values(&bytes, "shape")[0].is_some());
}

#[test]
fn no_rows_have_no_kinds_and_no_bounding_box() {
    let table =
        Table::new().text("shape", &[None::<&str>; 0]).about("shape", "yearbook.role", "geometry");
    let bytes = encode::<GeoParquetEncoder>(&table, &[]).unwrap();
    assert_eq!(
        geo(&bytes)["columns"]["geometry"],
        json!({"encoding": "WKB", "geometry_types": []})
    );
}

#[test]
fn a_table_without_geometry_is_declined_with_what_to_do() {
    let declined = encode::<GeoParquetEncoder>(&Table::new().integers("a", &[Some(1)]), &[]);
    assert!(
        matches!(declined, Err(Error::UnsupportedSchema(said)) if said.contains("geometry=false") && said.contains("format=parquet"))
    );
}
