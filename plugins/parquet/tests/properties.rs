//! Whatever is written comes back from the parquet crate's reader value by value, and statistics
//! and page index say the truth about it (spec-4.1-typed).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{AsArray as _, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::statistics::Statistics;
use proptest::collection::vec;
use proptest::prelude::*;
use yearbook_parquet::ParquetEncoder;
use yearbook_sdk::Value;
use yearbook_sdk::testing::{Table, encode, encode_apart};

/// A column's values. Numbers are bits, so that NaN and the zeros are distinguished.
#[derive(Debug, Clone)]
enum Cells {
    Text(Vec<Option<String>>),
    Keyed(Vec<Option<String>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<u64>>),
    Booleans(Vec<Option<bool>>),
}

fn numbers(bits: &[Option<u64>]) -> Vec<Option<f64>> {
    bits.iter().map(|bits| bits.map(f64::from_bits)).collect()
}

fn table(columns: &[Cells], batch_rows: usize) -> Table {
    let table = columns.iter().enumerate().fold(Table::new(), |table, (position, cells)| {
        let name = format!("c{position}");
        match cells {
            Cells::Text(values) => table.text(&name, values),
            Cells::Keyed(values) => table.dictionary(&name, values),
            Cells::Integers(values) => table.integers(&name, values),
            Cells::Numbers(values) => table.numbers(&name, &numbers(values)),
            Cells::Booleans(values) => table.booleans(&name, values),
        }
    });
    table.batches_of(batch_rows)
}

fn read(bytes: &[u8]) -> (Vec<RecordBatch>, std::sync::Arc<ParquetMetaData>) {
    let bytes = Bytes::copy_from_slice(bytes);
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = ArrowReaderMetadata::load(&bytes, options).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata.clone())
        .with_batch_size(1000)
        .build()
        .unwrap();
    (reader.map(Result::unwrap).collect(), metadata.metadata().clone())
}

/// Values of a column once read back.
fn column(batches: &[RecordBatch], position: usize, like: &Cells) -> Cells {
    let arrays = || batches.iter().map(|batch| batch.column(position));
    match like {
        Cells::Text(_) | Cells::Keyed(_) => {
            let cells = arrays().flat_map(|array| {
                array.as_string::<i32>().iter().map(|cell| cell.map(str::to_owned))
            });
            if matches!(like, Cells::Text(_)) {
                Cells::Text(cells.collect())
            } else {
                Cells::Keyed(cells.collect())
            }
        }
        Cells::Integers(_) => Cells::Integers(
            arrays().flat_map(|array| array.as_primitive::<Int64Type>().iter()).collect(),
        ),
        Cells::Numbers(_) => {
            let cells = arrays().flat_map(|array| {
                array.as_primitive::<Float64Type>().iter().map(|cell| cell.map(f64::to_bits))
            });
            Cells::Numbers(cells.collect())
        }
        Cells::Booleans(_) => {
            Cells::Booleans(arrays().flat_map(|array| array.as_boolean().iter()).collect())
        }
    }
}

/// The values as the format orders them: bytes that compare as they do. NaN has no place in the
/// order.
fn ordered(cells: &Cells) -> Vec<Option<Option<Vec<u8>>>> {
    match cells {
        Cells::Text(values) | Cells::Keyed(values) => {
            values.iter().map(|cell| cell.clone().map(|text| Some(text.into_bytes()))).collect()
        }
        Cells::Integers(values) => {
            values.iter().map(|cell| cell.map(|value| Some(integer(value)))).collect()
        }
        Cells::Numbers(values) => {
            values.iter().map(|cell| cell.map(|bits| number(f64::from_bits(bits)))).collect()
        }
        Cells::Booleans(values) => {
            values.iter().map(|cell| cell.map(|value| Some(vec![u8::from(value)]))).collect()
        }
    }
}

fn integer(value: i64) -> Vec<u8> {
    (value.cast_unsigned() ^ 1 << 63).to_be_bytes().to_vec()
}

fn number(value: f64) -> Option<Vec<u8>> {
    // Both zeros are one value in this order.
    let bits = (value + 0.0).to_bits();
    let key = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    (!value.is_nan()).then(|| key.to_be_bytes().to_vec())
}

/// Bytes of a bound, in the same order as [`ordered`].
fn bound(bytes: &[u8], cells: &Cells) -> Vec<u8> {
    match cells {
        Cells::Integers(_) => integer(i64::from_le_bytes(bytes.try_into().unwrap())),
        Cells::Numbers(_) => number(f64::from_le_bytes(bytes.try_into().unwrap())).unwrap(),
        _ => bytes.to_vec(),
    }
}

fn has_nan(values: &[Option<Option<Vec<u8>>>]) -> bool {
    values.iter().flatten().any(Option::is_none)
}

/// Checks bounds against the values that they are said to bound.
fn check_bounds(
    values: &[Option<Option<Vec<u8>>>],
    min: Option<Vec<u8>>,
    max: Option<Vec<u8>>,
    exact: bool,
) {
    let known: Vec<&Vec<u8>> = values.iter().flatten().flatten().collect();
    if has_nan(values) {
        // A reader that sorts NaN above all else would skip it.
        return assert_eq!((min, max), (None, None));
    }
    let (least, greatest) = (known.iter().min(), known.iter().max());
    assert_eq!(
        (min.is_some(), max.is_some()),
        (least.is_some(), greatest.is_some()),
        "bounds of values only, and of all that have some"
    );
    if let (Some(min), Some(max), Some(least), Some(greatest)) = (min, max, least, greatest) {
        assert!(min <= **least && **greatest <= max);
        assert!(!exact || (min == **least && max == **greatest));
    }
}

fn check_statistics(metadata: &ParquetMetaData, columns: &[Cells]) {
    let mut first = 0;
    for (position_of_group, group) in metadata.row_groups().iter().enumerate() {
        let rows = usize::try_from(group.num_rows()).unwrap();
        let index = metadata.page_index_for_row_group(position_of_group);
        for (position, cells) in columns.iter().enumerate() {
            let values = &ordered(cells)[first..first + rows];
            let nulls =
                |values: &[Option<_>]| values.iter().filter(|value| value.is_none()).count() as u64;
            let chunk = group.column(position);
            let statistics = chunk.statistics().unwrap();
            assert_eq!(statistics.null_count_opt(), Some(nulls(values)));
            let of = |bytes: Option<&[u8]>| bytes.map(|bytes| bound(bytes, cells));
            let exact = statistics.min_is_exact() && statistics.max_is_exact();
            check_bounds(
                values,
                of(statistics.min_bytes_opt()),
                of(statistics.max_bytes_opt()),
                exact,
            );
            assert!(
                exact
                    || statistics.min_bytes_opt().is_none()
                    || matches!(statistics, Statistics::ByteArray(_))
            );

            let locations = index.page_locations(position).unwrap();
            let starts: Vec<usize> = locations
                .iter()
                .map(|page| usize::try_from(page.first_row_index).unwrap())
                .collect();
            assert_eq!(starts[0], 0);
            let ends = starts[1..].iter().copied().chain([rows]);
            let pages: Vec<_> =
                starts.iter().zip(ends).map(|(start, end)| &values[*start..end]).collect();
            let Some(column) = index.column_index(position) else {
                assert!(has_nan(values), "an index is missing");
                continue;
            };
            assert_eq!(column.num_pages(), pages.len() as u64);
            for (page, values) in pages.iter().enumerate() {
                assert_eq!(column.null_count(page), Some(i64::try_from(nulls(values)).unwrap()));
                assert_eq!(column.is_null_page(page), nulls(values) == values.len() as u64);
                let (min, max) = page_bounds(column, page);
                check_bounds(values, of(min.as_deref()), of(max.as_deref()), false);
            }
        }
        first += rows;
    }
}

fn page_bounds(
    index: &parquet::file::page_index::column_index::ColumnIndexMetaData,
    page: usize,
) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    use parquet::file::page_index::column_index::ColumnIndexMetaData as Index;
    match index {
        Index::BOOLEAN(index) => {
            let of = |value: Option<&bool>| value.map(|value| vec![u8::from(*value)]);
            (of(index.min_value(page)), of(index.max_value(page)))
        }
        Index::INT64(index) => {
            let of = |value: Option<&i64>| value.map(|value| value.to_le_bytes().to_vec());
            (of(index.min_value(page)), of(index.max_value(page)))
        }
        Index::DOUBLE(index) => {
            let of = |value: Option<&f64>| value.map(|value| value.to_le_bytes().to_vec());
            (of(index.min_value(page)), of(index.max_value(page)))
        }
        Index::BYTE_ARRAY(index) => {
            (index.min_value(page).map(<[u8]>::to_vec), index.max_value(page).map(<[u8]>::to_vec))
        }
        other => panic!("{other:?}"),
    }
}

fn check(columns: &[Cells], batch_rows: usize, compression: &str) {
    let table = table(columns, batch_rows);
    let options = [("compression", Value::Text(compression.to_owned()))];
    let bytes = encode::<ParquetEncoder>(&table, &options).unwrap();
    assert_eq!(
        encode_apart::<ParquetEncoder>(&table, &options).unwrap().response(Some(b"")),
        bytes,
        "parts do not depend on each other"
    );
    let (batches, metadata) = read(&bytes);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), table.rows());
    for (position, cells) in columns.iter().enumerate() {
        assert_eq!(
            format!("{:?}", column(&batches, position, cells)),
            format!("{cells:?}"),
            "column {position}"
        );
    }
    check_statistics(&metadata, columns);
}

/// Some of the values, often one several times in a row, with nulls of a kind that a shape says.
fn cells<T: Clone + std::fmt::Debug + 'static>(
    rows: usize,
    pool: BoxedStrategy<T>,
) -> impl Strategy<Value = Vec<Option<T>>> {
    let picks =
        vec((any::<prop::sample::Index>(), 1..30_usize, any::<bool>()), rows.div_ceil(4) + 1);
    (vec(pool, 1..40), picks, 0..5_u8).prop_map(move |(pool, picks, shape)| {
        let runs = picks.into_iter().cycle().flat_map(|(pick, run, null)| {
            let value = pick.get(&pool).clone();
            let cell = match shape {
                0 => None,
                1 | 2 => Some(value),
                _ => (!null).then_some(value),
            };
            std::iter::repeat_n(cell, if shape == 2 || shape == 4 { run } else { 1 })
        });
        runs.take(rows).collect()
    })
}

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        Just(String::new()),
        "[a-c]{1,3}",
        "\\PC{0,40}",
        "[aé日🦉\u{10ffff}]{10,60}",
        Just("POLYGON ((".repeat(500))
    ]
    .boxed()
}

fn columns() -> impl Strategy<Value = Vec<Cells>> {
    let float = prop_oneof![
        any::<u64>(),
        Just(f64::NAN.to_bits()),
        Just(0.0_f64.to_bits()),
        Just((-0.0_f64).to_bits()),
        (-50..50_i32).prop_map(|tenths| (f64::from(tenths) / 10.0).to_bits()),
    ];
    let integer = prop_oneof![any::<i64>(), -3..3_i64, Just(i64::MIN), Just(i64::MAX)];
    let (float, integer) = (float.boxed(), integer.boxed());
    (0..200_usize).prop_flat_map(move |rows| {
        let column = prop_oneof![
            cells(rows, text()).prop_map(Cells::Text),
            cells(rows, text()).prop_map(Cells::Keyed),
            cells(rows, integer.clone()).prop_map(Cells::Integers),
            cells(rows, float.clone()).prop_map(Cells::Numbers),
            cells(rows, any::<bool>().boxed()).prop_map(Cells::Booleans),
        ];
        vec(column, 1..6)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(columns in columns(), batch_rows in 1..250_usize, compression in prop::sample::select(vec!["none", "snappy", "lz4_raw"])) {
        check(&columns, batch_rows, compression);
    }
}

/// Many pages and two row groups of every kind of column, at sizes that no other test has.
#[test]
fn many_pages_and_row_groups_come_back() {
    let rows = 140_003;
    let some = |every: usize| move |row: &usize| !row.is_multiple_of(every);
    let cells = |every: usize| (0..rows).map(move |row| Some(row).filter(some(every)));
    let mixed = |row: usize| (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let columns = [
        Cells::Integers(cells(3).map(|row| row.map(|row| mixed(row).cast_signed())).collect()),
        Cells::Integers((0..rows).map(|row| i64::try_from(row / 100).ok()).collect()),
        Cells::Numbers(cells(50).map(|row| row.map(mixed)).collect()),
        Cells::Numbers(
            cells(7).map(|row| row.map(|row| (row % 1000) as u64 ^ 0.1_f64.to_bits())).collect(),
        ),
        // A page of nothing but nulls, and one of nothing but NaN.
        Cells::Numbers((0..rows).map(|row| (row >= 16_384).then_some(1.5_f64.to_bits())).collect()),
        Cells::Numbers(
            (0..rows)
                .map(|row| Some(if row < 16_384 { f64::NAN } else { -1.5 }.to_bits()))
                .collect(),
        ),
        Cells::Booleans(cells(5).map(|row| row.map(|row| row % 3 == 0)).collect()),
        Cells::Keyed(cells(11).map(|row| row.map(|row| format!("2{}", row / 40))).collect()),
        // Few and many distinct values that came plain, and too many for a dictionary that came
        // with one.
        Cells::Text(
            cells(9).map(|row| row.map(|row| format!("name {}", mixed(row) % 900))).collect(),
        ),
        Cells::Text(cells(1000).map(|row| row.map(|row| format!("{:x}", mixed(row)))).collect()),
        Cells::Keyed(cells(2).map(|row| row.map(|row| format!("id {row}"))).collect()),
    ];
    check(&columns, 140_003, "snappy");
}
