//! Reads of order and series: bytes are counted at the store.

use std::sync::atomic::Ordering;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::Int64Type;
use futures::TryStreamExt;
use yearbook_domain::SeriesRows;
use yearbook_domain::read_plan::RowOrder;

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan, read};
use super::less::counting_reader;

/// A table of `rows` rows, `of_date` of each date, whose regions and counts come of these.
pub(super) async fn stored(
    rows: usize,
    of_date: usize,
    region: impl Fn(usize) -> String,
    count: impl Fn(usize) -> i64,
) -> StoredFixture {
    let shape = FixtureOptions { group: 20_000, page: 2_000, ..FixtureOptions::rows(rows) };
    let date = |row: usize| {
        let day = row / of_date;
        format!("{:04}-{:02}-{:02}", 1000 + day / 336, day / 28 % 12 + 1, day % 28 + 1)
    };
    let text = |of: &dyn Fn(usize) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..rows).map(of)))
    };
    let counts = Int64Array::from_iter_values((0..rows).map(count));
    let regions = text(&region);
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("date", text(&date), false),
        ("region", Arc::clone(&regions), true),
        ("place", text(&|_| "here".to_owned()), true),
        ("value", Arc::new(Float64Array::from(vec![0.5; rows])), true),
        ("count", Arc::new(counts), true),
        ("flag", Arc::new(BooleanArray::from(vec![true; rows])), true),
        ("geometry_wkt", Arc::new(StringArray::new_null(rows)), true),
    ];
    let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    StoredFixture::of_table(table, &shape).await
}

pub(super) fn counts_of(batch: &RecordBatch, column: usize) -> Vec<i64> {
    batch.column(column).as_primitive::<Int64Type>().values().to_vec()
}

#[tokio::test]
async fn a_hundred_thousand_dates_of_few_rows_stream_newest_first_contract_15() {
    let rows = 200_000;
    let stored = stored(rows, 2, |row| format!("r{}", row % 2), |row| row as i64).await;
    let mut plan = plan(&stored.snapshot);
    (plan.order, plan.columns) = (RowOrder::NewestFirst, vec![4, 1]);
    let (batch, next) = stored.read(&plan).await.unwrap();
    let newest = |row: i64| (rows as i64 - 2 - row / 2 * 2) + row % 2;
    assert_eq!(counts_of(&batch, 0), (0..rows as i64).map(newest).collect::<Vec<_>>());
    assert_eq!(next, None);
    let scan = stored.reader.scan(&plan).await.unwrap();
    let batches: Vec<RecordBatch> = scan.batches.try_collect().await.unwrap();
    assert!(batches.len() < 60, "{} reads of a few rows", batches.len());
}

#[tokio::test]
async fn a_date_of_many_rows_streams_in_natural_order_contract_15() {
    let stored = stored(120_000, 60_000, |row| format!("r{row}"), |row| row as i64).await;
    let mut plan = plan(&stored.snapshot);
    (plan.order, plan.columns) = (RowOrder::NewestFirst, vec![4]);
    let whole: Vec<i64> = (60_000..120_000).chain(0..60_000).collect();
    assert_eq!(counts_of(&stored.read(&plan).await.unwrap().0, 0), whole);
    plan.max_rows = Some(50_000);
    let mut pages = Vec::new();
    loop {
        let (page, next) = stored.read(&plan).await.unwrap();
        pages.extend(counts_of(&page, 0));
        plan.first_row = next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(pages, whole);
}

#[tokio::test]
async fn the_newest_rows_are_read_from_the_end_of_the_file_contract_15() {
    let stored = stored(200_000, 7, |row| format!("r{}", row % 7), |row| row as i64).await;
    let (reader, bytes) = counting_reader(&stored);
    let mut plan = plan(&stored.snapshot);
    (plan.order, plan.max_rows, plan.columns) = (RowOrder::NewestFirst, Some(10), vec![0, 1, 4]);
    reader.statistics(&plan.snapshot).await.unwrap();
    let footer = bytes.swap(0, Ordering::SeqCst);
    let (batch, next) = read(&reader, &plan).await.unwrap();
    assert!(footer > 0 && batch.num_rows() == 10 && next.is_some());
    let read_bytes = bytes.load(Ordering::SeqCst);
    let all = stored.snapshot.file.bytes;
    assert!(read_bytes * 5 < all, "{read_bytes} of {all} bytes for ten rows");
}

#[tokio::test]
async fn the_last_row_of_each_series_is_read_from_the_end_and_holds_no_rows_contract_15() {
    let series = 50_000;
    let stored =
        stored(200_000, 50_000, |row| format!("r{}", row % series), |row| row as i64).await;
    let (reader, bytes) = counting_reader(&stored);
    let mut plan = plan(&stored.snapshot);
    (plan.series_rows, plan.columns) = (Some(SeriesRows::Last(1)), vec![4]);
    assert_eq!(reader.count_series(&plan.snapshot, None).await.unwrap(), series as u64);
    bytes.store(0, Ordering::SeqCst);
    let room = reader.selections.free();
    let scan = reader.scan(&plan).await.unwrap();
    assert_eq!(reader.selections.free(), room, "counts are given back before rows are sent");
    let batches: Vec<RecordBatch> = scan.batches.try_collect().await.unwrap();
    let last: Vec<i64> = batches.iter().flat_map(|batch| counts_of(batch, 0)).collect();
    assert_eq!(last, (150_000..200_000).collect::<Vec<i64>>());
    let read_bytes = bytes.load(Ordering::SeqCst);
    let all = stored.snapshot.file.bytes;
    assert!(read_bytes * 2 < all, "{read_bytes} of {all} bytes, though a quarter has the rows");
}

#[tokio::test]
async fn more_series_than_are_held_are_not_counted_to_their_end_contract_15() {
    let stored = stored(1_100_000, 1_000, |row| format!("r{row}"), |row| row as i64).await;
    let series = stored.reader.count_series(&stored.snapshot, None).await.unwrap();
    assert!((MAX_SERIES + 1..1_050_000).contains(&series), "{series}");
    let mut plan = plan(&stored.snapshot);
    plan.series_rows = Some(SeriesRows::First(1));
    let room = stored.reader.selections.free();
    assert!(stored.reader.scan(&plan).await.is_err(), "whoever plans has to check");
    assert_eq!(stored.reader.selections.free(), room);
}
