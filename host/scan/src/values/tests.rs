//! Counted values against a naive count, and the bounds of what counting holds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{BooleanArray, DictionaryArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::Int32Type;
use proptest::prelude::*;

use super::*;

/// A row: date, text, integer, number, boolean.
type Row = (Option<String>, Option<String>, Option<i64>, Option<f64>, Option<bool>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let date = prop::option::weighted(0.9, (1..29_u32).prop_map(|day| format!("2020-02-{day:02}")));
    let text = prop::option::weighted(0.9, "[ab ā]{0,2}");
    let numbers = vec![f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.5, -2.0];
    let number = prop::option::weighted(0.9, prop::sample::select(numbers));
    let row = (
        date,
        text,
        prop::option::weighted(0.9, -5..5_i64),
        number,
        prop::option::of(any::<bool>()),
    );
    prop::collection::vec(row, 0..60)
}

fn batch(rows: &[Row], keyed: bool) -> RecordBatch {
    let texts = |texts: Vec<Option<&str>>| -> ArrayRef {
        if keyed {
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>())
        } else {
            Arc::new(StringArray::from(texts))
        }
    };
    let columns: [(&str, ArrayRef); 5] = [
        ("date", texts(rows.iter().map(|row| row.0.as_deref()).collect())),
        ("text", texts(rows.iter().map(|row| row.1.as_deref()).collect())),
        ("integer", Arc::new(rows.iter().map(|row| row.2).collect::<Int64Array>())),
        ("number", Arc::new(rows.iter().map(|row| row.3).collect::<Float64Array>())),
        ("boolean", Arc::new(rows.iter().map(|row| row.4).collect::<BooleanArray>())),
    ];
    let columns = columns.map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// The values of a column in each row.
fn cells(rows: &[Row], column: usize) -> Vec<Option<ColumnValue>> {
    let cell = |row: &Row| match column {
        0 => row.0.clone().map(ColumnValue::Text),
        1 => row.1.clone().map(ColumnValue::Text),
        2 => row.2.map(ColumnValue::Integer),
        3 => row.3.map(|number| ColumnValue::Number(FloatKey::new(number))),
        _ => row.4.map(ColumnValue::Boolean),
    };
    rows.iter().map(cell).collect()
}

/// Values of a column in an answer, as a reader of the table would find it.
fn naive(rows: &[Row], column: usize, page: &ValuesPage) -> ColumnValues {
    let mut all: BTreeMap<ColumnValue, ValueRows> = BTreeMap::new();
    let cells = cells(rows, column);
    for (row, cell) in rows.iter().zip(&cells) {
        let Some(value) = cell else { continue };
        let known = all.entry(value.clone()).or_default();
        known.rows += 1;
        let date = row.0.as_deref().and_then(Date::parse);
        known.first = [known.first, date].into_iter().flatten().min();
        known.last = [known.last, date].into_iter().flatten().max();
    }
    let distinct = all.len() as u64;
    let behind = all.into_iter().filter(|(value, _)| Some(value) > page.after.as_ref());
    let behind: Vec<(ColumnValue, ValueRows)> = behind.collect();
    ColumnValues {
        column,
        distinct: Some(distinct),
        nulls: cells.iter().filter(|cell| cell.is_none()).count() as u64,
        has_more: behind.len() > page.limit,
        values: behind.into_iter().take(page.limit).collect(),
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_the_rows_whichever_way_they_come_contract_15(
        rows in rows(),
        cut in 1..20_usize,
        keyed in any::<bool>(),
        limit in 1..6_usize,
        after in any::<prop::sample::Index>(),
    ) {
        let whole = batch(&rows, keyed);
        for column in 0..5 {
            let mut known = cells(&rows, column);
            known.push(None);
            let page = ValuesPage { limit, after: known[after.index(known.len())].clone() };
            let mut counter = ValueCounter::new([(column, column)], Some(0), &page);
            for at in (0..rows.len()).step_by(cut) {
                counter.update(&whole.slice(at, cut.min(rows.len() - at))).unwrap();
            }
            let (count, found) = counter.finish();
            prop_assert_eq!(count, rows.len() as u64);
            prop_assert_eq!(&found, &[naive(&rows, column, &page)], "column {}", column);
            // Where all values are kept, pages of them are the same.
            let mut counter = ValueCounter::new([(column, column)], Some(0), &ValuesPage {
                limit: 100,
                after: None,
            });
            counter.update(&whole).unwrap();
            if column != 3 {
                let stored = StoredValues::new(counter.finish().1);
                let stored = StoredValues::from_json(&stored.to_json()).unwrap();
                prop_assert_eq!(&stored.column(column).unwrap().page(&page), &found[0]);
            }
        }
    }
}

/// Counts texts that come in batches of a thousand.
fn count_texts(texts: impl Iterator<Item = String>, limit: usize) -> ColumnValues {
    let page = ValuesPage { limit, after: None };
    let mut counter = ValueCounter::new([(0, 7)], None, &page);
    let mut texts = texts.peekable();
    while texts.peek().is_some() {
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts.by_ref().take(1_000)));
        counter.update(&RecordBatch::try_from_iter([("text", array)]).unwrap()).unwrap();
        let [column] = counter.columns.as_slice() else { panic!("there is one column") };
        let hashes = column.distinct.as_ref().map_or(0, HashSet::len);
        assert!(column.kept.len() <= limit && hashes <= MAX_COUNTED);
        assert!(column.text_bytes <= MAX_TEXT_BYTES || column.kept.len() == 1);
    }
    counter.finish().1.remove(0)
}

#[test]
fn a_million_values_hold_a_page_and_a_bounded_number_of_hashes_contract_15() {
    let shuffled = |index: u64| format!("{:06}", index * 514_229 % 1_000_000);
    let found = count_texts((0..1_000_000).map(shuffled), 3);
    assert_eq!((found.column, found.distinct, found.has_more), (7, None, true));
    let values: Vec<(String, u64)> =
        found.values.iter().map(|(value, rows)| (value.to_string(), rows.rows)).collect();
    assert_eq!(values, ["000000", "000001", "000002"].map(|text| (text.to_owned(), 1)));
    let exact = count_texts((0..200_000).map(|index| format!("{}", index % 100_000)), 1);
    assert_eq!((exact.distinct, exact.values[0].1.rows), (Some(100_000), 2));
}

#[test]
fn long_texts_make_a_page_shorter_as_they_do_where_they_are_stored_contract_15() {
    let long = |letter: &str| letter.repeat(MAX_TEXT_BYTES / 2);
    let texts = ["d", "b", "c", "a", "b"].map(long);
    let found = count_texts(texts.into_iter(), 10);
    let lengths: Vec<(bool, u64)> = found
        .values
        .iter()
        .map(|(value, rows)| (value.to_string() == long("a"), rows.rows))
        .collect();
    assert_eq!((found.distinct, found.has_more), (Some(4), true));
    assert_eq!(lengths, [(true, 1), (false, 2)]);
    let single =
        count_texts(["z", "y"].map(|letter| letter.repeat(MAX_TEXT_BYTES + 1)).into_iter(), 9);
    assert_eq!((single.values.len(), single.has_more), (1, true));
}

#[test]
fn columns_with_too_many_values_are_no_longer_counted() {
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..8).map(|index| index.to_string())));
    let few: ArrayRef = Arc::new(Int64Array::from_iter_values((0..8).map(|index| index % 4)));
    let batch = RecordBatch::try_from_iter([("texts", texts), ("few", few)]).unwrap();
    for (limit, bytes, left) in [(4, 100, &[1][..]), (8, 8, &[0, 1]), (8, 7, &[1]), (3, 100, &[])] {
        let page = ValuesPage { limit, after: None };
        let mut counter = ValueCounter::new([(0, 0), (1, 1)], None, &page);
        counter.update(&batch).unwrap();
        counter.drop_large_columns(bytes);
        let columns: Vec<usize> =
            counter.finish().1.into_iter().map(|column| column.column).collect();
        assert_eq!(columns, left, "{limit} {bytes}");
    }
}
