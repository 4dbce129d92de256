//! Arrow files that lie about their sizes, and those that are honest and large.

use std::time::Duration;

use arrow::array::{
    ArrayRef, AsArray, DictionaryArray, Int64Array, StringArray, StringViewBuilder,
};
use arrow::datatypes::Int32Type;
use arrow::ipc::root_as_footer;
use arrow::ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;

use super::*;
use crate::faults::FaultList;
use crate::table::{MAX_BYTES, open};
use crate::{MaxLoss, SourcePackage, SourceTable};

/// A stream of one message, whose body has a length of -40: that of the message.
const ENDLESS: [u8; 40] = [
    0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0, 0x10, 0, 0, 0, 0x0c, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x08,
    0, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0xd8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
];

/// Bytes of a text that many rows name.
const LONG: usize = 100_000;

/// The bytes of an Arrow file of one batch.
fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// The package of a fixture as a refresh takes it.
fn source_package(fixture: &Fixture, max_bytes: u64) -> DataPackage {
    fixture.write_descriptor();
    let path = fixture.path("datapackage.json");
    let source = SourcePackage::open(&path, max_bytes, MaxLoss::default()).unwrap();
    let SourceTable::File(package) = source.into_table() else { panic!("it has a file") };
    package
}

#[tokio::test]
async fn a_length_below_zero_does_not_lead_back_for_ever_contract_7() {
    let fixture = Fixture::new(&["n:integer"], "").with("/resources/0/path", json!("table.arrow"));
    std::fs::write(fixture.path("table.arrow"), ENDLESS).unwrap();
    let published = tokio::time::timeout(Duration::from_secs(60), fixture.publish()).await;
    let error = published.unwrap().unwrap_err();
    assert!(matches!(error, PublishError::Unreadable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_block_that_is_not_in_its_file_is_refused_contract_7() {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![7; 1000]));
    let honest = arrow_file(&RecordBatch::try_from_iter([("n", column)]).unwrap());
    let end = honest.len() - 10;
    let length = i32::from_le_bytes(honest[end..end + 4].try_into().unwrap());
    let footer = &honest[end - usize::try_from(length).unwrap()..end];
    let block = *root_as_footer(footer).unwrap().recordBatches().unwrap().get(0);
    let bytes = |offset: i64, metadata: i32, body: i64| {
        let [offset, body] = [offset, body].map(i64::to_le_bytes);
        [&offset[..], &metadata.to_le_bytes(), &[0; 4], &body].concat()
    };
    let (offset, metadata, body) = (block.offset(), block.metaDataLength(), block.bodyLength());
    let written = bytes(offset, metadata, body);
    let at = honest.windows(written.len()).position(|found| found == written).unwrap();
    let fixture = Fixture::new(&["n:integer"], "").with("/resources/0/path", json!("table.arrow"));
    for hostile in [
        bytes(-offset, metadata, body),
        bytes(offset, -metadata, body),
        bytes(offset, 2, body),
        bytes(offset, metadata, -body),
        bytes(offset, metadata, i64::MAX),
    ] {
        let mut file = honest.clone();
        file[at..at + hostile.len()].copy_from_slice(&hostile);
        std::fs::write(fixture.path("table.arrow"), file).unwrap();
        let error = fixture.publish().await.unwrap_err();
        assert!(matches!(error, PublishError::Unreadable { .. }), "{error:?}");
        assert!(error.to_string().contains("a block that is not in the file"), "{error}");
    }
    std::fs::write(fixture.path("table.arrow"), honest).unwrap();
    assert_eq!(fixture.publish().await.unwrap().snapshot.rows, 1000);
}

#[tokio::test]
async fn a_large_batch_is_counted_once_contract_8() {
    let names: Vec<String> = (0..10).map(|column| format!("c{column}")).collect();
    let fields: Vec<String> = names.iter().map(|name| format!("{name}:integer")).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let row = |row: i64| format!("{}\n", [row.to_string().as_str(); 10].join(","));
    let fixture = Fixture::new(&fields, &(0..100_000).map(row).collect::<String>());
    let expected = fixture.publish().await.unwrap().snapshot.id;
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
    let columns = names.iter().map(|name| (name.as_str(), Arc::clone(&column)));
    let file = arrow_file(&RecordBatch::try_from_iter(columns).unwrap());
    let fixture = fixture.with("/resources/0/path", json!("table.arrow"));
    std::fs::write(fixture.path("table.arrow"), &file).unwrap();
    let package = source_package(&fixture, 4 * file.len() as u64);
    let published =
        publish(&fixture.files, &fixture.workers, &package, None, &SilentReporter).await.unwrap();
    assert_eq!(published.snapshot.id, expected);
}

/// Many rows that name one text, in two columns.
fn repeated(column: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("x", Arc::clone(&column)), ("y", column)]).unwrap()
}

/// A column of keys into texts.
fn keyed(keys: Vec<i32>, texts: Vec<String>) -> ArrayRef {
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    Arc::new(DictionaryArray::<Int32Type>::try_new(keys.into(), texts).unwrap())
}

#[tokio::test]
async fn a_text_that_many_rows_name_is_written_out_in_pieces_contract_8() {
    let text = "x".repeat(LONG);
    let mut views = StringViewBuilder::new().with_deduplicate_strings();
    (0..8_192).for_each(|_| views.append_value(&text));
    let dictionary = repeated(keyed(vec![0; 8_192], vec![text]));
    let mut parquet = ArrowWriter::try_new(Vec::new(), dictionary.schema(), None).unwrap();
    parquet.write(&dictionary).unwrap();
    for (name, file) in [
        ("t.arrow", arrow_file(&dictionary)),
        ("t.arrow", arrow_file(&repeated(Arc::new(views.finish())))),
        ("t.parquet", parquet.into_inner().unwrap()),
    ] {
        assert!(file.len() < 8 * LONG, "{} bytes of {name}", file.len());
        let fixture =
            Fixture::new(&["x:string", "y:string"], "").with("/resources/0/path", json!(name));
        std::fs::write(fixture.path(name), file).unwrap();
        let package = source_package(&fixture, 2 * MAX_BYTES as u64);
        let mut faults = FaultList::hiding_secrets(&package.columns);
        let mut input = open::open(&package, &mut faults).unwrap();
        let chunk = input.source.next(&mut faults).unwrap().unwrap();
        let bytes = |column: &ArrayRef| {
            let offsets = column.as_string::<i32>().value_offsets();
            usize::try_from(offsets[offsets.len() - 1] - offsets[0]).unwrap()
        };
        let bytes: usize = chunk.batch.columns().iter().map(bytes).sum();
        assert!((LONG..=MAX_BYTES).contains(&bytes), "{bytes} bytes of {name}");
        let refused =
            publish(&fixture.files, &fixture.workers, &package, None, &SilentReporter).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("expands to more than 33554432 bytes"), "{refused}");
    }
}

#[tokio::test]
async fn a_row_whose_text_no_format_could_send_is_named_before_it_is_written_out_contract_7() {
    let half = yearbook_domain::json_size::ROW_BYTES / 2;
    let column = keyed(vec![0, 1, 0], vec!["a".to_owned(), "x".repeat(half + 1)]);
    let fixture =
        Fixture::new(&["x:string", "y:string"], "").with("/resources/0/path", json!("table.arrow"));
    std::fs::write(fixture.path("table.arrow"), arrow_file(&repeated(column))).unwrap();
    let (faults, total) = fixture.faults().await;
    assert_eq!(total, 1, "{faults:?}");
    let expected =
        "row 2, column y: takes 16777217 of its row's 33554434 bytes of text; a row may take";
    assert!(faults[0].starts_with(expected), "{faults:?}");
    // To look behind each of very many would take hours.
    let column = keyed(vec![0; 101], vec!["x".repeat(half + 1)]);
    std::fs::write(fixture.path("table.arrow"), arrow_file(&repeated(column))).unwrap();
    let error = fixture.publish().await.unwrap_err();
    assert!(format!("{error:?}").contains("more than 100 rows have over"), "{error:?}");
}
