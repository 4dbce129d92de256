//! The snapshot id: same data and words, same id, whatever the input's form; anything that a client
//! can see, another id.

use std::collections::HashSet;
use std::io::Write;

use arrow::array::{ArrayRef, AsArray, Date32Array, DictionaryArray, LargeStringArray};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use yearbook_domain::Date;

use super::*;

const FIELDS: [&str; 5] = ["date:date", "region:string", "n:integer", "x:number", "b:boolean"];
const ROWS: &str = "2020-02-01,Ōtago,,0.1,true\n2020-01-01,\"\",-5,NaN,\n2020-01-01,,9223372036854775807,-0.0,false\n";

fn fixture() -> Fixture {
    Fixture::new(&FIELDS, ROWS)
}

/// The same table, in other Arrow types and batches, with numbers of the type `float`.
fn foreign(float: &DataType) -> Vec<RecordBatch> {
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![18_293, 18_262, 18_262]));
    let regions = vec![Some("Ōtago"), Some(""), None];
    let numbers: ArrayRef =
        Arc::new(arrow::array::Int64Array::from(vec![None, Some(-5), Some(i64::MAX)]));
    let floats: ArrayRef = Arc::new(arrow::array::Float64Array::from(vec![
        0.1,
        f64::from_bits(0x7FF8_0000_0000_0042),
        -0.0,
    ]));
    let floats = arrow::compute::cast(&floats, float).unwrap();
    let booleans: ArrayRef =
        Arc::new(arrow::array::BooleanArray::from(vec![Some(true), None, Some(false)]));
    let regions: ArrayRef = Arc::new(LargeStringArray::from(regions));
    let all = RecordBatch::try_from_iter([
        ("date", dates),
        ("region", regions),
        ("n", numbers),
        ("x", floats),
        ("b", booleans),
    ])
    .unwrap();
    vec![all.slice(0, 1), all.slice(1, 2)]
}

#[tokio::test]
async fn the_same_table_has_the_same_id_and_file_from_every_input_format_contract_7() {
    let csv = fixture().publish().await.unwrap().snapshot;
    for (name, float) in [
        ("t.csv.gz", DataType::Float64),
        ("t.parquet", DataType::Float64),
        ("t.parquet", DataType::Float32),
        ("t.parquet", DataType::Float16),
        ("t.arrow", DataType::Float64),
        ("t.arrow", DataType::Float32),
        ("t.arrows", DataType::Float16),
    ] {
        let batches = foreign(&float);
        let schema = batches[0].schema();
        let other = fixture().with("/resources/0/path", json!(name));
        let file = std::fs::File::create(other.path(name)).unwrap();
        match name {
            "t.csv.gz" => {
                // Two gzip members one after the other, as `cat` makes them.
                let text = std::fs::read(other.path("table.csv")).unwrap();
                let mut file = file;
                for part in [&text[..20], &text[20..]] {
                    let mut gzip =
                        flate2::write::GzEncoder::new(&mut file, flate2::Compression::fast());
                    gzip.write_all(part).unwrap();
                    gzip.finish().unwrap();
                }
            }
            "t.parquet" => {
                let mut writer = ArrowWriter::try_new(file, schema.clone(), None).unwrap();
                batches.iter().for_each(|batch| writer.write(batch).unwrap());
                writer.close().unwrap();
            }
            "t.arrow" => {
                let mut writer = FileWriter::try_new(file, &schema).unwrap();
                batches.iter().for_each(|batch| writer.write(batch).unwrap());
                writer.finish().unwrap();
            }
            _ => {
                let mut writer = StreamWriter::try_new(file, &schema).unwrap();
                batches.iter().for_each(|batch| writer.write(batch).unwrap());
                writer.finish().unwrap();
            }
        }
        let snapshot = other.publish().await.unwrap().snapshot;
        assert_eq!((&snapshot.id, &snapshot.file), (&csv.id, &csv.file), "{name}, {float}");
    }
}

#[tokio::test]
async fn the_values_survive_to_the_last_bit() {
    let fixture = fixture();
    let snapshot = fixture.publish().await.unwrap().snapshot;
    let rows = fixture.rows(&snapshot);
    assert_eq!(
        rows.column(1).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some(""), None, Some("Ōtago")]
    );
    assert_eq!(
        rows.column(2).as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
        [Some(-5), Some(i64::MAX), None]
    );
    let bits: Vec<u64> =
        rows.column(3).as_primitive::<Float64Type>().values().iter().map(|x| x.to_bits()).collect();
    assert_eq!(bits, [f64::NAN.to_bits(), (-0.0_f64).to_bits(), 0.1_f64.to_bits()]);
    assert_eq!(
        rows.column(4).as_boolean().iter().collect::<Vec<_>>(),
        [None, Some(false), Some(true)]
    );
    assert_eq!(snapshot.date_range, Date::parse("2020-01-01").zip(Date::parse("2020-02-01")));
}

#[tokio::test]
async fn whatever_a_client_can_see_is_part_of_the_id() {
    let fields = json!([{"name": "date", "type": "date"}, {"name": "region", "type": "string"}, {"name": "n", "type": "integer"},
        {"name": "x", "type": "number"}, {"name": "b", "type": "boolean"}]);
    let described = |at: usize, key: &str, value: Value| {
        let mut fields = fields.clone();
        fields[at][key] = value;
        ("/resources/0/schema/fields", fields)
    };
    let changes = [
        ("/name", json!("b_table")),
        ("/title", json!("A title")),
        ("/keywords", json!(["prices"])),
        ("/keywords", json!(["prices", "land"])),
        ("/description", json!("A description")),
        ("/licenses", json!([{"name": "CC0-1.0"}])),
        ("/licenses", json!([{"name": "CC-BY-4.0", "title": "Attribution"}])),
        ("/licenses", json!([{"name": "CC-BY-4.0", "path": "https://licence.example/"}])),
        (
            "/sources",
            json!([{"title": "Stats NZ", "path": "https://stats.govt.nz/a"}, {"title": "LINZ"}]),
        ),
        ("/sources", json!([{"title": "LINZ", "path": "https://stats.govt.nz/a"}])),
        ("/sources", json!([{"title": "Stats NZ", "path": "https://stats.govt.nz/b"}])),
        described(1, "unit", json!("km")),
        described(1, "description", json!("Region")),
        described(3, "constraints", json!({"required": true})),
        ("/resources/0/schema/primaryKey", json!(["date", "n"])),
        ("/yearbook/namespace", json!("others")),
        ("/yearbook/source", json!("Somebody")),
        ("/yearbook/attribution_text", json!("Thanks")),
        ("/yearbook/source_url_precision", json!("source")),
        ("/yearbook/refresh_cadence", json!("daily")),
        ("/yearbook/date_filter_column", Value::Null),
        ("/yearbook/dimensions", json!(["region"])),
        ("/yearbook/bulk_redistribution", json!(false)),
        ("/yearbook/layout", json!("long")),
        ("/yearbook/value_columns", json!(["x"])),
    ];
    // A row less than `ROWS`, so that the key may hold no null.
    let rows = "2020-01-01,a,1,0.1,true\n2020-01-02,b,2,0.2,false\n";
    let plain = || Fixture::new(&FIELDS, rows);
    let mut ids = HashSet::from([plain().publish().await.unwrap().snapshot.id]);
    for (pointer, value) in changes {
        let id = plain().with(pointer, value.clone()).publish().await.unwrap().snapshot.id;
        assert!(ids.insert(id), "{pointer} = {value} leaves the id as it was");
    }
}

#[tokio::test]
async fn what_no_client_can_see_is_not_part_of_the_id() {
    let id = fixture().publish().await.unwrap().snapshot.id;
    for (pointer, value) in [
        ("/resources/0/name", json!("another")),
        ("/contributors", json!([{"title": "A person"}])),
        ("/yearbook/proportions", json!([])),
        ("/yearbook/layout", json!("wide")),
        ("/yearbook/bulk_redistribution", json!(true)),
        ("/yearbook/value_columns", json!(["x", "n"])),
    ] {
        assert_eq!(
            fixture().with(pointer, value).publish().await.unwrap().snapshot.id,
            id,
            "{pointer}"
        );
    }
}

#[tokio::test]
async fn a_cell_moved_between_columns_or_rows_is_another_table() {
    let mut ids = HashSet::new();
    for rows in
        ["a,\n", ",a\n", "a,a\n", "\"\",a\n", "aa,\n", "a,\n,a\n", ",a\na,\n", "a,\n\"\",a\n", ""]
    {
        let id = Fixture::new(&["s:string", "t:string"], rows).publish().await.unwrap().snapshot.id;
        assert!(ids.insert(id), "{rows:?}");
    }
}

#[tokio::test]
async fn the_same_again_writes_nothing_and_keeps_the_snapshot() {
    let fixture = fixture();
    let first = fixture.publish().await.unwrap();
    assert!(!first.unchanged);
    let path = fixture.stored(&first.snapshot);
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    let again = fixture.publish_after(Some(&first.snapshot)).await.unwrap();
    assert!(again.unchanged);
    assert_eq!(again.snapshot, first.snapshot, "created_at included");
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
}

#[tokio::test]
async fn publishing_again_repairs_a_damaged_file() {
    let fixture = fixture();
    let first = fixture.publish().await.unwrap();
    let path = fixture.stored(&first.snapshot);
    let good = std::fs::read(&path).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for damage in [&flipped[..], &good[..10]] {
        std::fs::write(&path, damage).unwrap();
        let again = fixture.publish_after(Some(&first.snapshot)).await.unwrap();
        assert_eq!(again.snapshot, first.snapshot);
        assert_eq!(std::fs::read(&path).unwrap(), good);
    }
    std::fs::remove_file(&path).unwrap();
    assert!(fixture.publish_after(Some(&first.snapshot)).await.unwrap().unchanged);
    assert_eq!(std::fs::read(&path).unwrap(), good);
}

#[tokio::test]
async fn dictionaries_of_the_input_do_not_show() {
    let plain = Fixture::new(&["s:string"], "a\nb\na\n").publish().await.unwrap().snapshot;
    let fixture = Fixture::new(&["s:string"], "").with("/resources/0/path", json!("t.arrow"));
    let values: ArrayRef =
        Arc::new(vec!["a", "b", "a"].into_iter().collect::<DictionaryArray<Int32Type>>());
    let batch = RecordBatch::try_from_iter([("s", values)]).unwrap();
    let mut writer = FileWriter::try_new(
        std::fs::File::create(fixture.path("t.arrow")).unwrap(),
        &batch.schema(),
    )
    .unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    assert_eq!(fixture.publish().await.unwrap().snapshot.id, plain.id);
}
