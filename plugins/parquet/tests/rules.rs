//! The rules for Parquet of spec-4.1-typed and contract-3-credit-in-files, read back with the
//! parquet crate.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{AsArray as _, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use bytes::Bytes;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use yearbook_parquet::ParquetEncoder;
use yearbook_parquet_writer::{ROW_GROUP_BYTES, ROW_GROUP_ROWS};
use yearbook_sdk::testing::{Table, conformance, encode, encode_parts};
use yearbook_sdk::{Error, Value};

fn read(bytes: &[u8]) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::copy_from_slice(bytes))
        .unwrap()
        .build()
        .unwrap();
    reader.map(Result::unwrap).collect()
}

fn metadata(bytes: &[u8]) -> std::sync::Arc<ParquetMetaData> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    ArrowReaderMetadata::load(&Bytes::copy_from_slice(bytes), options).unwrap().metadata().clone()
}

#[test]
fn conforms() {
    conformance::check::<ParquetEncoder>(|bytes| {
        read(bytes).iter().map(RecordBatch::num_rows).sum()
    });
}

#[test]
fn columns_are_typed_spec_4_1() {
    let table = Table::new()
        .text("region", &[Some("north"), None, Some("")])
        .dictionary("kind", &[Some("a"), None, Some("b")])
        .integers("year", &[None, Some(-7), Some(1)])
        .numbers("value", &[Some(1.0), None, Some(0.25)])
        .booleans("final", &[Some(false), None, Some(true)])
        .batches_of(2);
    let batches = read(&encode::<ParquetEncoder>(&table, &[]).unwrap());
    let [batch] = batches.as_slice() else { panic!("{} batches", batches.len()) };
    assert_eq!(batch.schema().field(1).data_type(), &DataType::Utf8);
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
fn an_empty_result_is_a_schema_without_rows_contract_3() {
    let bytes = encode::<ParquetEncoder>(&Table::new().numbers("value", &[]), &[]).unwrap();
    let schema = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes.clone()))
        .unwrap()
        .schema()
        .clone();
    assert_eq!(schema.field(0).name(), "value");
    assert_eq!(read(&bytes).len(), 0);
}

#[test]
fn credit_stands_in_the_key_value_metadata_contract_3() {
    let table = Table::new()
        .numbers("value", &[Some(1.0)])
        .metadata("yearbook.licence", "CC-BY-4.0")
        .metadata("yearbook.source", "Office");
    let metadata = metadata(&encode::<ParquetEncoder>(&table, &[]).unwrap());
    let pairs = metadata.file_metadata().key_value_metadata().unwrap();
    let value =
        |key: &str| pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
    assert_eq!(value("yearbook.licence").unwrap(), "CC-BY-4.0");
    assert_eq!(value("yearbook.source").unwrap(), "Office");
}

#[test]
fn a_part_is_a_row_group_and_more_where_it_has_too_many_rows() {
    let values: Vec<_> = (0..ROW_GROUP_ROWS + 10).map(|row| i64::try_from(row).ok()).collect();
    let row_groups = |batch_rows| {
        let table = Table::new().integers("n", &values).batches_of(batch_rows);
        let encoded = encode_parts::<ParquetEncoder>(&table, &[]).unwrap();
        assert_eq!(encoded.head, b"PAR1");
        assert!(encoded.parts.iter().all(|part| !part.is_empty()), "nothing is held back");
        let metadata = metadata(&encoded.response(Some(b"")));
        metadata
            .row_groups()
            .iter()
            .map(|group| usize::try_from(group.num_rows()).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(row_groups(values.len()), [ROW_GROUP_ROWS, 10]);
    assert_eq!(row_groups(100_000), [100_000, ROW_GROUP_ROWS + 10 - 100_000]);
}

#[test]
fn row_groups_are_bounded_in_bytes() {
    let mut state = 1_u32;
    let mut cell = || {
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + u8::try_from(state >> 24).unwrap() % 90)
        });
        Some(noise.take(1_000_000).collect::<String>())
    };
    let cells: Vec<_> = (0..40).map(|_| cell()).collect();
    let table = Table::new().text("wkt", &cells);
    let metadata = metadata(
        &encode::<ParquetEncoder>(&table, &[("compression", Value::Text("none".to_owned()))])
            .unwrap(),
    );
    let limit = i64::try_from(ROW_GROUP_BYTES).unwrap() + 10_000;
    assert!(metadata.num_row_groups() >= 3, "{}", metadata.num_row_groups());
    assert!(metadata.row_groups().iter().all(|group| group.total_byte_size() <= limit));
}

#[test]
fn pages_are_indexed_so_that_readers_skip_them() {
    let values: Vec<_> = (0..100_000).map(Some).collect();
    let metadata =
        metadata(&encode::<ParquetEncoder>(&Table::new().integers("n", &values), &[]).unwrap());
    let index = metadata.page_index_for_row_group(0);
    assert!(index.num_data_pages(0).unwrap() > 1);
    assert!(index.column_index(0).is_some());
}

#[test]
fn compression_is_chosen() {
    let table = Table::new().text("a", &[Some("x"); 1000]);
    for (name, expected) in [
        ("none", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("lz4_raw", Compression::LZ4_RAW),
    ] {
        let bytes =
            encode::<ParquetEncoder>(&table, &[("compression", Value::Text(name.to_owned()))])
                .unwrap();
        assert_eq!(metadata(&bytes).row_group(0).column(0).compression(), expected);
        assert_eq!(read(&bytes)[0].num_rows(), 1000);
    }
}

#[test]
fn the_arrow_schema_is_encoded_as_the_parquet_crate_encodes_it() {
    let table = Table::new()
        .text("a", &[Some("x")])
        .dictionary("kind", &[Some("y")])
        .integers("n", &[Some(1)])
        .numbers("value", &[Some(0.5)])
        .booleans("flag", &[Some(true)])
        .metadata("yearbook.licence", "CC0-1.0");
    let bytes = Bytes::from(encode::<ParquetEncoder>(&table, &[]).unwrap());
    let file = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).unwrap();
    let pairs = file.metadata().file_metadata().key_value_metadata().unwrap();
    let encoded = pairs.iter().find(|pair| pair.key == ARROW_SCHEMA_META_KEY).unwrap();
    let expected = parquet::arrow::encode_arrow_schema(file.schema());
    assert_eq!(encoded.value.as_ref(), Some(&expected));
}

#[test]
fn a_type_that_parquet_lacks_is_declined_by_name() {
    for table in [
        Table::new().fixed("span", "tin", 16, vec![Some(vec![0; 16])]),
        Table::new().fixed("span", "i", 4, vec![Some(vec![0; 4])]),
        Table::new().lists("span", &[Some(vec![1, 2])]),
    ] {
        match encode::<ParquetEncoder>(&table, &[]) {
            Err(Error::UnsupportedSchema(sentence)) => {
                assert!(sentence.contains("`span`"), "{sentence}")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn without_the_tail_there_is_no_footer_contract_3() {
    let encoded =
        encode_parts::<ParquetEncoder>(&Table::new().integers("n", &[Some(1)]), &[]).unwrap();
    let cut = [encoded.head.as_slice(), &encoded.parts.concat()].concat();
    assert!(ParquetRecordBatchReaderBuilder::try_new(Bytes::from(cut)).is_err());
}

#[test]
fn columns_that_compression_does_not_make_smaller_stay_plain() {
    let noise = |row: i64| Some(row.wrapping_mul(-0x61c8_8646_80b5_83eb));
    let table = Table::new()
        .integers("n", &(0..50_000).map(noise).collect::<Vec<_>>())
        .text("a", &[Some("x"); 50_000]);
    let metadata = metadata(&encode::<ParquetEncoder>(&table, &[]).unwrap());
    let compressions: Vec<_> =
        metadata.row_group(0).columns().iter().map(|column| column.compression()).collect();
    assert_eq!(compressions, [Compression::UNCOMPRESSED, Compression::SNAPPY]);
}

#[test]
fn repeated_values_have_a_dictionary() {
    let table = Table::new()
        .dictionary(
            "few",
            &(0..1000).map(|row| Some(format!("area {}", row % 9))).collect::<Vec<_>>(),
        )
        .text(
            "repeats",
            &(0..1000).map(|row| Some(format!("name {}", row % 90))).collect::<Vec<_>>(),
        )
        .integers("year", &(0..1000).map(|row| Some(1900 + row / 10)).collect::<Vec<_>>())
        .numbers("rate", &(0..1000).map(|row| Some(f64::from(row % 70) / 10.0)).collect::<Vec<_>>())
        .dictionary("id", &(0..1000).map(|row| Some(row.to_string())).collect::<Vec<_>>())
        .integers("n", &(0..1000).map(Some).collect::<Vec<_>>());
    let metadata = metadata(&encode::<ParquetEncoder>(&table, &[]).unwrap());
    let keyed: Vec<_> = metadata
        .row_group(0)
        .columns()
        .iter()
        .map(|column| column.dictionary_page_offset().is_some())
        .collect();
    assert_eq!(keyed, [true, true, true, true, false, false]);
}
