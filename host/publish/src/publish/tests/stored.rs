//! The stored file: order, layout, metadata (contract-3-order, contract-3-credit-in-files).

use arrow::datatypes::DataType;
use parquet::basic::Compression;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use yearbook_domain::values::ValuesPage;
use yearbook_domain::{BoundingBox, Column, Date, TextTraits};
use yearbook_scan::Reader;
use yearbook_scan::schema::change_file_columns;
use yearbook_sort::GROUP_ROWS;

use super::*;

#[tokio::test]
async fn rows_are_sorted_by_date_then_key_then_file_order_contract_3() {
    let fixture = Fixture::new(
        &["code:string", "n:integer", "date:date", "note:string"],
        "b,2,2020-01-02,p\né,1,2020-01-01,q\nB,1,2020-01-01,r\nb,10,2020-01-01,s\nb,-3,2020-01-01,t\n",
    );
    let snapshot = fixture.publish().await.unwrap().snapshot;
    let notes = |rows: &RecordBatch| {
        show(rows).iter().map(|row| row.chars().last().unwrap()).collect::<String>()
    };
    assert_eq!(
        notes(&fixture.rows(&snapshot)),
        "qrstp",
        "without a key: by date, then as in the file"
    );
    let keyed = fixture.with("/resources/0/schema/primaryKey", json!(["code", "n"]));
    let snapshot = keyed.publish().await.unwrap().snapshot;
    assert_eq!(notes(&keyed.rows(&snapshot)), "rtsqp", "text by UTF-8 bytes, numbers by value");
    let undated = keyed.with("/yearbook/date_filter_column", Value::Null);
    let snapshot = undated.publish().await.unwrap().snapshot;
    assert_eq!(notes(&undated.rows(&snapshot)), "rtpsq");
    assert_eq!(snapshot.date_range, None);
}

#[tokio::test]
async fn traits_of_many_valued_text_are_kept_and_changes_have_none() {
    let rows = |last: &str| -> String {
        (0..5_000).map(|row| format!("{row},same,a {row}\n")).chain([last.to_owned()]).collect()
    };
    let fields = ["id:string", "few:string", "note:string"];
    let fixture = Fixture::new(&fields, &rows("5000,same,\"a,b\"\n"));
    let first = fixture.publish().await.unwrap().snapshot;
    let traits = |columns: &[Column]| -> Vec<TextTraits> {
        columns.iter().map(|column| column.text_traits).collect()
    };
    let noted = TextTraits::all() - TextTraits::NO_COMMA;
    assert_eq!(traits(&first.columns), [TextTraits::all(), TextTraits::empty(), noted]);
    assert!(first.columns[1].few_values);

    std::fs::write(fixture.path("table.csv"), format!("id,few,note\n{}", rows("5000,same,b\n")))
        .unwrap();
    let draft = fixture.publish_after(Some(&first)).await.unwrap();
    assert_eq!(traits(&draft.snapshot.columns)[2], TextTraits::all());
    // The row that went has the comma.
    let changed = change_file_columns(&draft.changes.unwrap().columns);
    assert_eq!(traits(&changed), [TextTraits::empty(); 5]);
}

#[tokio::test]
async fn values_of_columns_that_have_few_are_stored_beside_the_file_contract_15() {
    let row = |row: usize| {
        let (date, code) = (2000 + row % 20, ["2020", "2020-Q1", "2020-01"][row % 3]);
        format!(
            "{date}-01-01,{code},r{},{},{row},{row}.5,{}\n",
            row % 4,
            row % 2,
            row.is_multiple_of(3)
        )
    };
    let rows: String = (0..12_000).map(row).collect();
    let fields = [
        "date:date",
        "period:string",
        "region:string",
        "kind:integer",
        "id:integer",
        "value:number",
        "open:boolean",
    ];
    let fixture = Fixture::new(&fields, &rows)
        .with("/yearbook/date_filter_column", json!("date"))
        .with("/resources/0/schema/primaryKey", json!(["id", "kind"]))
        .with("/yearbook/dimensions", json!(["region"]));
    let draft = fixture.publish().await.unwrap();
    let snapshot = &draft.snapshot;
    let reader = Reader::new(fixture.files.clone(), Arc::clone(&fixture.workers));
    let stored = reader.stored_values(snapshot).await.unwrap().unwrap();
    let path = fixture.stored(snapshot).with_extension("values");
    let bytes = std::fs::metadata(path).unwrap().len();
    assert!(bytes * 2 < stored.to_json().len() as u64, "{bytes} bytes are compressed");
    let page = ValuesPage { limit: 3, after: None };
    let distinct: Vec<Option<u64>> = (0..fields.len())
        .map(|column| stored.column(column).and_then(|column| column.page(&page).distinct))
        .collect();
    // Of `id` there are too many, and value columns are counted when they are asked for.
    assert_eq!(distinct, [Some(20), Some(3), Some(4), Some(2), None, None, Some(2)]);
    let (first, rows) = stored.column(2).unwrap().page(&page).values.remove(0);
    assert_eq!((first.to_string(), rows.rows), ("r0".to_owned(), 3_000));
    assert_eq!((rows.first, rows.last), (Date::parse("2000-01-01"), Date::parse("2016-01-01")));
    // The key has no date, so series are those of the dimensions, and of the form of the code.
    assert_eq!(draft.facts.unwrap().series_number, Some(12));

    // A snapshot that was published before values were stored gets them from the next publication.
    let path = fixture.stored(snapshot).with_extension("values");
    std::fs::remove_file(&path).unwrap();
    let again = fixture.publish_after(Some(snapshot)).await.unwrap();
    assert!(again.unchanged && again.facts.is_some() && path.exists());
    let third = fixture.publish_after(Some(snapshot)).await.unwrap();
    assert!(third.unchanged && third.facts.is_none(), "nothing is left to do");
}

#[tokio::test]
async fn the_file_carries_the_credit_and_the_page_index_and_is_bounded() {
    let rows: String = (0..GROUP_ROWS + 10)
        .map(|row| format!("{},{},{row}\n", 1950 + row % 70, ["a", "b", "c"][row % 3]))
        .collect();
    let fixture = Fixture::new(&["period:string", "group:string!", "code:string"], &rows)
        .with("/title", json!("Många tal"))
        .with("/licenses", json!([{"name": "CC-BY-4.0", "title": "Attribution 4.0", "path": "https://licence.example/by"}]))
        .with("/sources", json!([{"title": "Stats NZ", "path": "https://stats.govt.nz/a"}, {"title": "Ångström"}]));
    let snapshot = fixture.publish().await.unwrap().snapshot;
    let file = std::fs::File::open(fixture.stored(&snapshot)).unwrap();
    let options = ReadOptionsBuilder::new().with_page_index().build();
    let reader = SerializedFileReader::new_with_options(file, options).unwrap();
    let metadata = reader.metadata();
    let words: Vec<(String, String)> = metadata
        .file_metadata()
        .key_value_metadata()
        .unwrap()
        .iter()
        .map(|kv| (kv.key.clone(), kv.value.clone().unwrap()))
        .collect();
    for (key, value) in [
        ("yearbook.dataset", "a_table"),
        ("yearbook.namespace", "tests"),
        ("yearbook.snapshot_id", snapshot.id.as_str()),
        ("yearbook.source", "Stats NZ"),
        ("yearbook.source_url", "https://stats.govt.nz/a"),
        ("yearbook.licence", "CC-BY-4.0"),
        ("yearbook.licence_title", "Attribution 4.0"),
        ("yearbook.licence_url", "https://licence.example/by"),
        (
            "yearbook.sources",
            r#"[{"title":"Stats NZ","path":"https://stats.govt.nz/a"},{"title":"Ångström","path":null}]"#,
        ),
        (
            "yearbook.attribution",
            "Stats NZ, Många tal, https://stats.govt.nz/a. Licence: Attribution 4.0.",
        ),
    ] {
        assert!(words.contains(&(key.to_owned(), value.to_owned())), "{key}: {words:?}");
    }
    let groups: Vec<i64> = metadata
        .row_groups()
        .iter()
        .map(parquet::file::metadata::RowGroupMetaData::num_rows)
        .collect();
    assert_eq!(groups, [GROUP_ROWS as i64, 10]);
    let index = metadata.page_index_for_row_group(0);
    for column in 0..3 {
        let pages = index.offset_index(column).unwrap().page_locations().len();
        assert!(pages >= GROUP_ROWS / 8_192, "{pages}");
        assert!(index.column_index(column).is_some());
    }
    for column in
        metadata.row_groups().iter().flat_map(parquet::file::metadata::RowGroupMetaData::columns)
    {
        assert_eq!(column.compression(), Compression::SNAPPY);
        assert!(
            column.statistics().is_some_and(|statistics| statistics.null_count_opt() == Some(0))
        );
    }
    let few: Vec<bool> = snapshot.columns.iter().map(|column| column.few_values).collect();
    assert_eq!(few, [true, true, false], "131,082 codes are not few");
    let rows = fixture.rows(&snapshot);
    let schema = rows.schema();
    let shape: Vec<(&DataType, bool)> =
        schema.fields().iter().map(|field| (field.data_type(), field.is_nullable())).collect();
    assert_eq!(shape, [(&DataType::Utf8, true), (&DataType::Utf8, false), (&DataType::Utf8, true)]);
    assert_eq!(snapshot.rows, rows.num_rows() as u64);
}

#[tokio::test]
async fn the_declared_order_is_in_the_file_and_stops_before_floats() {
    let fixture = Fixture::new(&["x:number", "k:string", "date:date"], "1,a,2020-01-01\n")
        .with("/resources/0/schema/primaryKey", json!(["k", "x"]));
    let snapshot = fixture.publish().await.unwrap().snapshot;
    let reader =
        SerializedFileReader::new(std::fs::File::open(fixture.stored(&snapshot)).unwrap()).unwrap();
    let sorting: Vec<i32> = reader
        .metadata()
        .row_group(0)
        .sorting_columns()
        .unwrap()
        .iter()
        .map(|column| column.column_idx)
        .collect();
    assert_eq!(sorting, [2, 1]);
}

#[tokio::test]
async fn large_geometry_makes_small_row_groups_and_a_box_across_180() {
    // About 400 kB a row: 60 rows exceed 16 MiB.
    let ring = |west: f64| {
        let points: Vec<String> = (0..20_000)
            .map(|step| format!("{:.6} {:.6}", west + f64::from(step) / 10_000.0, -40.0))
            .collect();
        format!("\"MULTIPOLYGON ((({}, {west:.6} -40.000000)))\"\n", points.join(", "))
    };
    let rows: String = (0..60)
        .map(|row| format!("{row},{}", ring(if row % 2 == 0 { 177.0 } else { -180.0 })))
        .collect();
    let fixture = Fixture::new(&["n:integer", "geometry_wkt:string"], &rows);
    let snapshot = fixture.publish().await.unwrap().snapshot;
    let BoundingBox([west, south, east, north]) = snapshot.bbox.unwrap();
    assert!((west, east, south, north) == (177.0, -178.0001, -40.0, -40.0), "{:?}", snapshot.bbox);
    let reader =
        SerializedFileReader::new(std::fs::File::open(fixture.stored(&snapshot)).unwrap()).unwrap();
    for group in reader.metadata().row_groups() {
        assert!(group.total_byte_size() <= 17 << 20, "{}", group.total_byte_size());
    }
    assert!(reader.metadata().num_row_groups() >= 2);
    assert!(!snapshot.columns[1].few_values || snapshot.file.bytes < 1 << 20);
}

#[tokio::test]
async fn a_table_without_rows_is_a_table() {
    let fixture = Fixture::new(&["date:date", "n:integer"], "");
    let snapshot = fixture.publish().await.unwrap().snapshot;
    assert_eq!((snapshot.rows, snapshot.date_range.as_ref()), (0, None));
    assert_eq!(fixture.rows(&snapshot).num_rows(), 0);
}

#[tokio::test]
async fn the_draft_says_what_the_descriptor_said() {
    let fixture = Fixture::new(&["date:date", "region:string", "value:number"], "2020-01-01,a,1\n")
        .with("/yearbook/dimensions", json!(["region"]))
        .with("/yearbook/bulk_redistribution", json!(false))
        .with("/yearbook/refresh_cadence", json!("weekly"));
    let draft = fixture.publish().await.unwrap();
    let snapshot = &draft.snapshot;
    assert_eq!((draft.name.as_str(), draft.namespace.as_str()), ("a_table", "tests"));
    assert_eq!(snapshot.layout, yearbook_domain::TableLayout::Long);
    assert_eq!(snapshot.dimensions, ["region"]);
    assert_eq!(snapshot.refresh_cadence.as_deref(), Some("weekly"));
    assert!(!snapshot.bulk_redistribution);
}

/// Records stages with their totals and sums.
#[derive(Default)]
struct Memory(std::sync::Mutex<Vec<(String, Option<u64>, u64)>>);

impl ProgressReporter for Memory {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.0.lock().unwrap().push((name.to_owned(), total, 0));
    }

    fn advance(&self, by: u64) {
        self.0.lock().unwrap().last_mut().unwrap().2 += by;
    }
}

#[tokio::test]
async fn progress_reaches_its_totals() {
    let fixture = Fixture::new(&["n:integer"], "1\n2\n3\n");
    std::fs::write(fixture.path("datapackage.json"), fixture.descriptor.to_string()).unwrap();
    let package = DataPackage::open(&fixture.path("datapackage.json")).unwrap();
    let memory = Memory::default();
    publish(&fixture.files, &fixture.workers, &package, None, &memory).await.unwrap();
    let told = memory.0.into_inner().unwrap();
    let stages: Vec<&str> = told.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(
        stages,
        ["reading and checking", "sorting", "identifying", "writing", "summarising", "storing"]
    );
    for (name, total, sum) in told {
        assert!(total.is_none_or(|total| total == sum), "{name}: {sum} of {total:?}");
    }
}
