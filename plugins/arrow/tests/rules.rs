//! The rules for Arrow of spec-4.1-typed and contract-3-credit-in-files, read back with arrow-rs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use arrow::ipc::reader::StreamReader;
use yearbook_arrow::ArrowEncoder;
use yearbook_sdk::Value;
use yearbook_sdk::testing::{Table, conformance, encode, encode_apart, encode_parts};

fn read(bytes: &[u8]) -> Vec<RecordBatch> {
    StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect()
}

#[test]
fn conforms() {
    conformance::check::<ArrowEncoder>(|bytes| read(bytes).iter().map(RecordBatch::num_rows).sum());
}

#[test]
fn columns_are_typed_and_plain_spec_4_1() {
    let table = Table::new()
        .text("region", &[Some("north"), None, Some("")])
        .dictionary("kind", &[Some("a"), None, Some("b")])
        .integers("year", &[None, Some(-7), Some(1)])
        .numbers("value", &[Some(1.0), None, Some(0.25)])
        .booleans("final", &[Some(false), None, Some(true)]);
    let batches = read(&encode::<ArrowEncoder>(&table, &[]).unwrap());
    let [batch] = batches.as_slice() else { panic!("{} batches", batches.len()) };
    let schema = batch.schema();
    let types: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| (field.name().as_str(), field.data_type().clone()))
        .collect();
    assert_eq!(
        types,
        [
            ("region", DataType::Utf8),
            ("kind", DataType::Utf8),
            ("year", DataType::Int64),
            ("value", DataType::Float64),
            ("final", DataType::Boolean)
        ]
    );
    assert_eq!(
        batch.column(0).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("north"), None, Some("")]
    );
    assert_eq!(
        batch.column(1).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("a"), None, Some("b")]
    );
    assert_eq!(
        batch.column(2).as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
        [None, Some(-7), Some(1)]
    );
    assert_eq!(
        batch.column(3).as_primitive::<Float64Type>().iter().collect::<Vec<_>>(),
        [Some(1.0), None, Some(0.25)]
    );
    assert_eq!(
        batch.column(4).as_boolean().iter().collect::<Vec<_>>(),
        [Some(false), None, Some(true)]
    );
}

#[test]
fn a_dictionary_becomes_the_bytes_that_plain_text_does_spec_4_1() {
    let texts = |longest: usize| -> Vec<Option<String>> {
        (0..60)
            .map(|row| if row % 7 == 3 { None } else { Some("é".repeat(row % 4 * longest / 8)) })
            .collect()
    };
    for longest in [8, 16, 31, 64, 65, 300] {
        let texts = texts(longest);
        for rows in [60, 20, 1] {
            let keyed = Table::new()
                .dictionary("kind", &texts)
                .integers("n", &[Some(1); 60])
                .batches_of(rows);
            let plain =
                Table::new().text("kind", &texts).integers("n", &[Some(1); 60]).batches_of(rows);
            assert!(
                encode::<ArrowEncoder>(&keyed, &[]).unwrap()
                    == encode::<ArrowEncoder>(&plain, &[]).unwrap(),
                "{longest} bytes, {rows} rows"
            );
        }
    }
}

#[test]
fn dictionaries_are_passed_on_where_the_client_asks_for_them() {
    let texts: Vec<_> =
        (0..60).map(|row| (row % 7 != 3).then(|| format!("kind {}", row % 4))).collect();
    let table = Table::new()
        .integers("n", &[Some(1); 60])
        .dictionary("kind", &texts)
        .text("note", &texts)
        .dictionary("other", &texts)
        .batches_of(20);
    let options = [("dictionaries", Value::Boolean(true))];
    let encoded = encode_parts::<ArrowEncoder>(&table, &options).unwrap();
    assert_eq!(encoded, encode_apart::<ArrowEncoder>(&table, &options).unwrap());
    let batches = read(&encoded.response(Some(b"")));
    let kept = |index: usize| -> Vec<Option<String>> {
        let columns = batches.iter().map(|batch| batch.column(index).as_dictionary::<Int32Type>());
        columns
            .flat_map(|keyed| {
                let values = keyed.values().as_string::<i32>();
                let text = |key: Option<usize>| key.map(|key| values.value(key).to_owned());
                keyed.keys_iter().map(text).collect::<Vec<_>>()
            })
            .collect()
    };
    assert_eq!((kept(1), kept(3)), (texts.clone(), texts));
    assert_eq!(batches[0].column(2).data_type(), &DataType::Utf8);
}

#[test]
fn an_empty_result_is_a_schema_without_rows_contract_3() {
    let table = Table::new().numbers("value", &[]).metadata("yearbook.licence", "CC-BY-4.0");
    let bytes = encode::<ArrowEncoder>(&table, &[]).unwrap();
    let reader = StreamReader::try_new(bytes.as_slice(), None).unwrap();
    assert_eq!(reader.schema().field(0).name(), "value");
    assert_eq!(reader.count(), 0);
}

#[test]
fn credit_stands_in_the_schema_contract_3() {
    let table = Table::new()
        .numbers("value", &[Some(1.0)])
        .metadata("yearbook.licence", "CC-BY-4.0")
        .metadata("yearbook.source", "Office");
    let bytes = encode::<ArrowEncoder>(&table, &[]).unwrap();
    let schema = StreamReader::try_new(bytes.as_slice(), None).unwrap().schema();
    assert_eq!(schema.metadata().get("yearbook.licence").unwrap(), "CC-BY-4.0");
    assert_eq!(schema.metadata().get("yearbook.source").unwrap(), "Office");
}

#[test]
fn only_the_tail_marks_the_end_of_the_stream_contract_3() {
    let table = Table::new().numbers("value", &[Some(1.0), Some(2.0)]).batches_of(1);
    let encoded = encode_parts::<ArrowEncoder>(&table, &[]).unwrap();
    assert_eq!(encoded.tail, [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    assert_eq!(encoded.parts.len(), 2);
    assert!(!encoded.head.ends_with(&encoded.tail) && !encoded.parts[1].ends_with(&encoded.tail));
}

#[test]
fn nested_columns_cross_whole() {
    let table = Table::new().lists("tags", &[Some(vec![1, 2]), None, Some(Vec::new())]).structs(
        "inner",
        Table::new().text("t", &[Some("x"), None, Some("z")]),
        &[true, true, false],
    );
    let batches = read(&encode::<ArrowEncoder>(&table, &[]).unwrap());
    let lists = batches[0].column(0).as_list::<i32>();
    assert_eq!(lists.value(0).as_primitive::<Int64Type>().values().to_vec(), [1, 2]);
    assert!(lists.is_null(1) && lists.value(2).is_empty());
    let inner = batches[0].column(1).as_struct();
    assert_eq!(inner.column(0).as_string::<i32>().value(0), "x");
    assert!(inner.is_null(2));
}
