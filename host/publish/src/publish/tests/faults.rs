//! Faults that refuse a table, and their names in the report (contract-7-faults).

use arrow::array::{ArrayRef, StringArray};
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use yearbook_domain::Date;

use super::*;
use crate::faults::MAX_LISTED;

/// The faults of one table.
async fn faults(fields: &[&str], rows: &str) -> Vec<String> {
    Fixture::new(fields, rows).faults().await.0
}

#[tokio::test]
async fn each_rule_of_spec_2_2_names_row_and_column() {
    for (field, rows, expected) in [
        (
            "d:date",
            "2020-01-01\n2020-02-30\n",
            "row 2, column d: \"2020-02-30\" is not a date: the month has no such day",
        ),
        (
            "d:date",
            "01/02/2020\n",
            "row 1, column d: \"01/02/2020\" is not a date of the form YYYY-MM-DD",
        ),
        ("d:date", "\"\"\n", "row 1, column d: \"\" is not a date of the form YYYY-MM-DD"),
        (
            "date:date",
            "2020-01-01\n\n2020-01-02\n",
            "row 2, column date: is null; the date column, the primary key and required columns need a value",
        ),
        (
            "period:string",
            "2020-Q1\n2020-Q5\n",
            "row 2, column period: \"2020-Q5\" is not a period code: write YYYY-Qn, YYYY-MM, YYYY or YYYY/YY",
        ),
        (
            "b:boolean",
            "true\nyes\n",
            "row 2, column b: \"yes\" is not a boolean; write true or false",
        ),
        (
            "d:date",
            "0001-01-01\n0000-02-29\n",
            "row 2, column d: \"0000-02-29\" is outside the years 0001 to 9999",
        ),
        (
            "period:string",
            "0001-Q1\n0000-Q1\n",
            "row 2, column period: \"0000-Q1\" is outside the years 0001 to 9999",
        ),
        ("n:integer", "1\n1.5\n", "row 2, column n: \"1.5\" is not an integer"),
        ("x:number", "1\nN/A\n", "row 2, column x: \"N/A\" is not a number"),
        (
            "s:string!",
            "a\n\nb\n",
            "row 2, column s: is null; the date column, the primary key and required columns need a value",
        ),
        (
            "geometry_wkt:string",
            "POINT (1 2)\n",
            "row 1, column geometry_wkt: is not WKT of a MULTI form: it starts \"POINT (1 2)\"; write MULTIPOINT, MULTILINESTRING or MULTIPOLYGON without Z, M or SRID",
        ),
        (
            "geometry_wkt:string",
            "MULTIPOINT ((174 -91))\n",
            "row 1, column geometry_wkt: has latitude -91 outside -90..90; coordinates are degrees (EPSG:4326), longitude first",
        ),
    ] {
        assert_eq!(faults(&[field], rows).await, [expected], "{field}");
    }
}

#[tokio::test]
async fn proportions_lie_between_0_and_1() {
    let fixture = Fixture::new(&["rate:number"], "0\n1\n0.5\n\n1.0000001\n-0.1\nNaN\n55\n")
        .with("/yearbook/proportions", json!(["rate"]));
    let (faults, total) = fixture.faults().await;
    assert_eq!(total, 4);
    assert_eq!(
        faults[0],
        "row 5, column rate: 1.0000001 is not a proportion: it must lie in 0..1; divide percentages by 100"
    );
    assert!(faults[2].starts_with("row 7, column rate: NaN"), "{faults:?}");
}

#[tokio::test]
async fn a_repeated_primary_key_names_both_rows() {
    let fixture = Fixture::new(
        &["date:date", "code:string", "n:integer"],
        "2020-01-02,a,1\n2020-01-01,b,2\n2020-01-02,a,3\n2020-01-02,a,4\n",
    );
    let (faults, total) =
        fixture.with("/resources/0/schema/primaryKey", json!(["date", "code"])).faults().await;
    assert_eq!(total, 2);
    assert_eq!(
        faults[0],
        "row 3, column date, code: repeats the primary key (2020-01-02, a) of row 1"
    );
    assert_eq!(
        faults[1],
        "row 4, column date, code: repeats the primary key (2020-01-02, a) of row 1"
    );
}

#[tokio::test]
async fn a_key_without_the_date_is_unique_over_all_dates() {
    let fixture =
        Fixture::new(&["date:date", "code:integer"], "2020-01-01,7\n2020-01-02,8\n2020-01-03,7\n");
    let (faults, _) = fixture.with("/resources/0/schema/primaryKey", json!("code")).faults().await;
    assert_eq!(faults, ["row 3, column code: repeats the primary key (7) of row 1"]);
}

#[tokio::test]
async fn keys_compare_numbers_by_value_and_text_by_bytes_contract_7() {
    let keyed = |fields: &[&str], rows: &str| {
        Fixture::new(fields, rows).with("/resources/0/schema/primaryKey", json!(["k"]))
    };
    // The repeat is found whatever the order, and within a date.
    for fields in [["k:number", "n:number"], ["n:number", "k:number"]] {
        let rows = if fields[0] == "k:number" { "0,1\n-0,2\n" } else { "1,0\n2,-0\n" };
        let (faults, _) = keyed(&fields, rows).faults().await;
        assert_eq!(faults, ["row 2, column k: repeats the primary key (0.0) of row 1"]);
    }
    // A key has no -0; a value keeps its sign, as the source wrote it.
    let fixture = keyed(&["k:number", "n:number"], "1,-0.0\n-0.0,0\n-1,7\n");
    let snapshot = fixture.publish().await.unwrap().snapshot;
    assert_eq!(show(&fixture.rows(&snapshot)), ["-1.0,7.0", "0.0,0.0", "1.0,-0.0"]);
    // Composed and decomposed letters are different texts.
    let fixture = keyed(&["k:string", "n:number"], "Caf\u{e9},1\nCafe\u{301},2\n");
    let snapshot = fixture.publish().await.unwrap().snapshot;
    assert_eq!(show(&fixture.rows(&snapshot)), ["Cafe\u{301},2.0", "Caf\u{e9},1.0"]);
}

#[tokio::test]
async fn fifty_faults_are_listed_in_row_order_and_all_are_counted() {
    let rows: String = (0..200).map(|row| format!("x,2020-13-{row}\n")).collect();
    let (faults, total) = Fixture::new(&["n:integer", "d:date"], &rows).faults().await;
    assert_eq!((faults.len(), total), (400, 400), "machines get all of them");
    let error =
        Fixture::new(&["n:integer", "d:date"], &rows).publish().await.unwrap_err().to_string();
    assert!(
        error.contains("table.csv: 400 faults\n  row 1, column n: ")
            && error.ends_with("… and 350 more"),
        "{error}"
    );
    let rows = "a,1\n".repeat(100);
    let fixture = Fixture::new(&["k:string", "n:integer"], &rows)
        .with("/resources/0/schema/primaryKey", json!(["k"]));
    let (faults, total) = fixture.faults().await;
    assert_eq!((faults.len(), total), (99, 99));
}

#[tokio::test]
async fn the_list_of_faults_has_a_bound_and_their_number_none() {
    let rows = "x\n".repeat(MAX_LISTED + 7);
    let (faults, total) = Fixture::new(&["n:integer"], &rows).faults().await;
    assert_eq!((faults.len(), total), (MAX_LISTED, MAX_LISTED as u64 + 7));
}

/// The faults of a table that is this text column, as CSV, Parquet and Arrow.
async fn text_faults(name: &str, values: &[&str]) -> Vec<Vec<String>> {
    let column: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let batch = RecordBatch::try_from_iter([(name, column)]).unwrap();
    let mut found = Vec::new();
    for file in ["table.csv", "t.parquet", "t.arrow"] {
        let field = format!("{name}:string");
        let fixture = Fixture::new(&[&field], &(values.join("\n") + "\n"))
            .with("/resources/0/path", json!(file));
        match file {
            "t.parquet" => {
                let mut writer = ArrowWriter::try_new(
                    std::fs::File::create(fixture.path(file)).unwrap(),
                    batch.schema(),
                    None,
                )
                .unwrap();
                writer.write(&batch).unwrap();
                writer.close().unwrap();
            }
            "t.arrow" => {
                let mut writer = FileWriter::try_new(
                    std::fs::File::create(fixture.path(file)).unwrap(),
                    &batch.schema(),
                )
                .unwrap();
                writer.write(&batch).unwrap();
                writer.finish().unwrap();
            }
            _ => {}
        }
        found.push(fixture.faults().await.0);
    }
    found
}

#[tokio::test]
async fn text_called_date_or_period_is_checked_in_every_input_format_contract_7() {
    for (name, values, expected) in [
        (
            "date",
            ["2020-02-01", "01/02/2020"],
            "row 2, column date: \"01/02/2020\" is not a date of the form YYYY-MM-DD",
        ),
        (
            "period",
            ["2020-Q1", "Q1 2020"],
            "row 2, column period: \"Q1 2020\" is not a period code: write YYYY-Qn, YYYY-MM, YYYY or YYYY/YY",
        ),
    ] {
        for faults in text_faults(name, &values).await {
            assert_eq!(faults, [expected]);
        }
    }
}

#[tokio::test]
async fn text_called_date_is_the_date_axis_contract_7() {
    let fixture = Fixture::new(&["date:string", "n:integer"], "2020-02-01,1\n2020-01-01,2\n");
    let snapshot = fixture.publish().await.unwrap().snapshot;
    assert_eq!(snapshot.date_column.as_deref(), Some("date"));
    assert_eq!(snapshot.date_range, Date::parse("2020-01-01").zip(Date::parse("2020-02-01")));
    let declared = Fixture::new(&["date:date", "n:integer"], "2020-02-01,1\n2020-01-01,2\n")
        .publish()
        .await
        .unwrap()
        .snapshot;
    assert_eq!(snapshot.id, declared.id);
}

/// A number column `share` of this type and unit.
fn in_percent(kind: &str, unit: &str, rows: &str) -> Fixture {
    let fields =
        json!([{"name": "code", "type": "string"}, {"name": "share", "type": kind, "unit": unit}]);
    Fixture::new(&["code:string", "share:number"], rows).with("/resources/0/schema/fields", fields)
}

#[tokio::test]
async fn a_number_column_in_percent_is_refused_with_advice_contract_7() {
    let advice = "and clients get proportions: divide the column by 100 and change the unit, or name the column in \
                  `yearbook.proportions` if it holds proportions";
    for (kind, unit, value) in [
        ("number", "%", "55.0"),
        ("integer", "%", "55"),
        ("number", "percent", "55.0"),
        ("integer", "Percent of GDP", "55"),
    ] {
        let (faults, total) = in_percent(kind, unit, "a,\nb,55\nc,60\n").faults().await;
        let expected = format!(
            "row 2, column share: {value} is a percentage, as the unit {unit:?} says, {advice}"
        );
        assert_eq!((faults, total), (vec![expected], 1), "once a column, at its first value");
    }
    let (faults, _) = in_percent("number", "%", "a,\n").faults().await;
    assert_eq!(
        faults,
        [format!("column share: holds percentages, as the unit \"%\" says, {advice}")],
        "no value names the row"
    );
    // Other faults are named beside it.
    let (faults, total) = in_percent("number", "%", "a,55\nb,x\n").faults().await;
    assert_eq!((total, &faults[1][..]), (2, "row 2, column share: \"x\" is not a number"));
}

#[tokio::test]
async fn proportions_and_percentage_points_are_no_percentages_contract_7() {
    let named =
        in_percent("number", "%", "a,0.55\n").with("/yearbook/proportions", json!(["share"]));
    named.publish().await.unwrap();
    let named = in_percent("number", "%", "a,55\n").with("/yearbook/proportions", json!(["share"]));
    assert!(named.faults().await.0[0].starts_with("row 1, column share: 55 is not a proportion"));
    for unit in ["percentage points", "proportion of the labour force", "index"] {
        in_percent("number", unit, "a,55\n").publish().await.unwrap();
    }
}

#[tokio::test]
async fn a_faulty_cell_is_told_once_and_does_not_hide_others() {
    let fixture = Fixture::new(&["k:integer!", "rate:number"], "x,2\n1,y\n")
        .with("/yearbook/proportions", json!(["rate"]));
    let (faults, _) = fixture.with("/resources/0/schema/primaryKey", json!(["k"])).faults().await;
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert_eq!(faults[0], "row 1, column k: \"x\" is not an integer");
    assert!(faults[1].starts_with("row 1, column rate: 2 is not a proportion"), "{faults:?}");
    assert_eq!(faults[2], "row 2, column rate: \"y\" is not a number");
}

#[tokio::test]
async fn a_row_that_no_format_could_send_is_refused_with_row_and_column() {
    let longest = yearbook_domain::json_size::ROW_BYTES
        - "sn".len()
        - 2 * yearbook_domain::json_size::CELL_BYTES
        - yearbook_domain::json_size::NUMBER_BYTES;
    let rows = |length: usize| format!("a,1\n{},2\n", "x".repeat(length));
    let found = faults(&["s:string", "n:integer"], &rows(longest + 1)).await;
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("row 2, column s: takes 33554375 of its row's 33554433 bytes as JSON; a row may take 33554432"),
        "{found:?}"
    );
    Fixture::new(&["s:string", "n:integer"], &rows(longest)).publish().await.unwrap();
}

#[tokio::test]
async fn a_refused_table_leaves_nothing_in_the_store() {
    let fixture = Fixture::new(&["n:integer"], "x\n");
    fixture.faults().await;
    let left: Vec<_> = walk(&fixture.path("store"));
    assert!(left.is_empty(), "{left:?}");
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()))
        } else {
            found.push(entry.path())
        }
    }
    found
}

#[tokio::test]
async fn a_file_that_is_not_what_its_name_says_is_named() {
    for (name, expected) in [
        ("table.parquet", "as Parquet"),
        ("table.arrow", "as an Arrow IPC file or stream"),
        ("table.csv.gz", "as gzipped CSV"),
    ] {
        let fixture = Fixture::new(&["n:integer"], "").with("/resources/0/path", json!(name));
        for bytes in [&b""[..], b"n\n1\n", b"ARROW1 and then nonsense", b"PAR1....PAR1"] {
            std::fs::write(fixture.path(name), bytes).unwrap();
            let error = fixture.publish().await.unwrap_err();
            let named =
                matches!(error, PublishError::Unreadable { .. } | PublishError::Table { .. });
            assert!(named && error.to_string().contains(name), "{name}: {error}");
            if bytes.starts_with(b"n") {
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn a_size_that_a_compressed_batch_claims_is_not_allocated_contract_7() {
    let column: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![7; 1000]));
    let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
    let options = IpcWriteOptions::default()
        .try_with_compression(Some(arrow::ipc::CompressionType::LZ4_FRAME))
        .unwrap();
    let mut file =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone()).unwrap();
    file.write(&batch).unwrap();
    let mut stream =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    stream.write(&batch).unwrap();
    for honest in [file.into_inner().unwrap(), stream.into_inner().unwrap()] {
        let fixture =
            Fixture::new(&["n:integer"], "").with("/resources/0/path", json!("table.arrow"));
        std::fs::write(fixture.path("table.arrow"), &honest).unwrap();
        assert_eq!(fixture.publish().await.unwrap().snapshot.rows, 1000);
        let size = 8000_i64.to_le_bytes();
        let at = honest.windows(size.len()).position(|bytes| bytes == size).unwrap();
        for claimed in [9 << 30, 1 << 45, i64::MAX] {
            let mut hostile = honest.clone();
            hostile[at..at + size.len()].copy_from_slice(&i64::to_le_bytes(claimed));
            std::fs::write(fixture.path("table.arrow"), hostile).unwrap();
            let error = fixture.publish().await.unwrap_err().to_string();
            assert!(error.contains("and 8589934592 are allowed"), "{claimed}: {error}");
        }
    }
}
