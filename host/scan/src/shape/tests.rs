//! Shapes of computed rows against the same done to a list, for any batches.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Float64Array, Int64Array, StringArray,
};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Int64Type, Schema};
use futures::FutureExt;
use proptest::prelude::*;

use super::*;

/// Number, series, period code, value.
type Row = (i64, Option<u8>, &'static str, Option<i8>);

fn schema() -> SchemaRef {
    let keyed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    Arc::new(Schema::new(vec![
        Field::new("number", DataType::Int64, false),
        Field::new("series", keyed, true),
        Field::new("period", DataType::Utf8, false),
        Field::new("value", DataType::Float64, true),
    ]))
}

fn batch(rows: &[Row]) -> RecordBatch {
    let series: Vec<Option<String>> =
        rows.iter().map(|row| row.1.map(|series| series.to_string())).collect();
    let keyed: DictionaryArray<Int32Type> = series.iter().map(Option::as_deref).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>()),
        Arc::new(keyed),
        Arc::new(rows.iter().map(|row| Some(row.2)).collect::<StringArray>()),
        Arc::new(rows.iter().map(|row| row.3.map(f64::from)).collect::<Float64Array>()),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

/// Numbers of the rows that come out, and the counts.
async fn shaped(
    rows: &[Row],
    of_batch: usize,
    shape: &RowShape,
    room: u64,
) -> Result<(Vec<i64>, RowCounts), String> {
    let batches: Vec<_> = rows.chunks(of_batch).map(batch).map(Ok).collect();
    let budget = SelectionBudget::new(room);
    let rows = stream::iter(batches).boxed();
    let text = |error: Box<dyn std::error::Error + Send + Sync>| error.to_string();
    let shaped = shape_rows(&schema(), rows, shape, &budget).await.map_err(text)?;
    assert_eq!(shaped.schema.fields().len(), shape.columns.len());
    let batches: Vec<RecordBatch> = shaped.batches.try_collect().await.map_err(text)?;
    assert_eq!(budget.free(), room, "room is given back with the rows");
    let numbers = batches.iter().flat_map(|batch| {
        assert!(batch.num_rows() > 0 && batch.schema() == shaped.schema);
        batch.column(0).as_primitive::<Int64Type>().values().to_vec()
    });
    Ok((numbers.collect(), shaped.counts))
}

fn shape(series: Option<SeriesRows>, sort: Vec<SortKey>) -> RowShape {
    let series = series.map(|rows| SeriesShape { rows, columns: vec![1], period: Some(2) });
    RowShape { columns: vec![0], series, sort, first_row: 0, max_rows: None, known_rows: None }
}

/// The rows of `shape`, by the rule.
fn expected(rows: &[Row], shape: &RowShape) -> Vec<Row> {
    let mut kept = rows.to_vec();
    if let Some(series) = &shape.series {
        let backwards = matches!(series.rows, SeriesRows::Last(_));
        let mut counts: HashMap<_, u64> = HashMap::new();
        let mut is_kept = |row: &Row| {
            let count = counts.entry((row.1, row.2.len())).or_default();
            *count += 1;
            *count <= series.rows.rows()
        };
        if backwards {
            kept.reverse();
        }
        kept.retain(|row| is_kept(row));
        if backwards {
            kept.reverse();
        }
    }
    if let Some(key) = shape.sort.first() {
        kept.sort_by(|one, other| match (one.3, other.3) {
            (None, other) => other.is_some().cmp(&false),
            (Some(_), None) => std::cmp::Ordering::Less,
            (Some(one), Some(other)) if key.descending => other.cmp(&one),
            (Some(one), Some(other)) => one.cmp(&other),
        });
    }
    kept
}

proptest! {
    #[test]
    fn a_shape_is_the_same_for_any_batches_and_pages_contract_16(
        rows in prop::collection::vec((prop::option::of(0_u8..4), 0..2_usize, prop::option::of(-3_i8..3)), 0..60),
        of_batch in 1_usize..20,
        series in prop::option::of((any::<bool>(), 1_u64..4)),
        sort in prop::option::of(any::<bool>()),
        page in 1_u64..12,
    ) {
        let periods = ["2020", "2020-Q1"];
        let rows: Vec<Row> = rows
            .into_iter()
            .enumerate()
            .map(|(number, (series, period, value))| (number as i64, series, periods[period], value))
            .collect();
        let series = series.map(|(last, rows)| {
            if last { SeriesRows::Last(rows) } else { SeriesRows::First(rows) }
        });
        let sort = sort.map(|descending| SortKey { column: 3, descending }).into_iter().collect();
        let whole = shape(series, sort);
        let expected: Vec<i64> = expected(&rows, &whole).iter().map(|row| row.0).collect();
        let run = |shape: &RowShape| {
            let shaped = shaped(&rows, of_batch, shape, 1 << 20);
            shaped.now_or_never().unwrap().unwrap()
        };
        prop_assert_eq!(run(&whole), (expected.clone(), RowCounts::default()));
        let mut joined = Vec::new();
        let mut first_row = 0;
        loop {
            let shape = RowShape { first_row, max_rows: Some(page), ..whole.clone() };
            let (numbers, counts) = run(&shape);
            prop_assert_eq!((counts.rows, counts.total), (Some(numbers.len() as u64), None));
            joined.extend(numbers);
            let Some(next) = counts.next else { break };
            first_row = next;
        }
        prop_assert_eq!(joined, expected);
    }
}

fn many(rows: i64) -> Vec<Row> {
    (0..rows).map(|row| (row, Some((row % 7) as u8), "2020", Some((row % 100) as i8))).collect()
}

#[tokio::test]
async fn a_page_that_is_not_held_whole_is_refused_contract_16() {
    let rows = many(20_000);
    let plain = RowShape { columns: vec![0, 1, 2, 3], ..shape(None, Vec::new()) };
    let page = |most| RowShape { max_rows: Some(most), ..plain.clone() };
    let (numbers, counts) = shaped(&rows, 512, &page(15_000), 64 << 20).await.unwrap();
    assert_eq!((numbers.len(), counts.next), (15_000, Some(15_000)));
    let known = RowShape { known_rows: Some(20_000), ..page(15_000) };
    let (numbers, counts) = shaped(&rows, 512, &known, 0).await.unwrap();
    assert_eq!((numbers.len(), counts.next, counts.total), (15_000, Some(15_000), None));
    let (numbers, counts) = shaped(&rows, 512, &plain, 0).await.unwrap();
    assert_eq!((numbers.len(), counts), (20_000, RowCounts::default()));
    // More than 16 MiB, and more rows than are held whatever they weigh.
    let heavy: Vec<_> = std::iter::repeat_n(batch(&rows), 40).map(Ok).collect();
    let budget = SelectionBudget::new(256 << 20);
    let heavy = stream::iter(heavy).boxed();
    let refused = shape_rows(&schema(), heavy, &page(799_999), &budget).await.err().unwrap();
    assert_eq!(refused.downcast_ref(), Some(&ShapeFailure::TooManyRows));
}

#[tokio::test]
async fn what_is_held_of_computed_rows_is_counted_contract_16() {
    let rows = many(20_000);
    for (series, sort) in [
        (Some(SeriesRows::Last(1_000)), Vec::new()),
        (None, vec![SortKey { column: 3, descending: true }]),
    ] {
        let shape = shape(series, sort);
        let refused = shaped(&rows, 512, &shape, 64 << 10).await.unwrap_err();
        assert_eq!(refused, StorageFailure::SelectionTooLarge.to_string());
        shaped(&rows, 512, &shape, 8 << 20).await.unwrap();
    }
}

#[tokio::test]
async fn nan_and_null_come_last_and_equal_rows_as_they_come_contract_16() {
    let numbers: Int64Array = (0..6).collect();
    let values: Float64Array =
        [Some(f64::NAN), Some(2.0), None, Some(-0.0), Some(0.0), Some(2.0)].into_iter().collect();
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("number", DataType::Int64, false),
        Field::new("value", DataType::Float64, true),
    ]));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(numbers), Arc::new(values)])
            .unwrap();
    for (descending, expected) in [(false, [3, 4, 1, 5, 0, 2]), (true, [1, 5, 3, 4, 0, 2])] {
        let shape = shape(None, vec![SortKey { column: 1, descending }]);
        let rows = stream::iter([Ok(batch.clone())]).boxed();
        let budget = SelectionBudget::new(1 << 20);
        let shaped = shape_rows(&schema, rows, &shape, &budget).await.unwrap();
        let batches: Vec<RecordBatch> = shaped.batches.try_collect().await.unwrap();
        assert_eq!(batches[0].column(0).as_primitive::<Int64Type>().values()[..], expected);
        assert!(batch.column(1).as_primitive::<Float64Type>().is_null(2));
    }
}
