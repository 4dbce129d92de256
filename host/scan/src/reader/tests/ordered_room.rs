//! Memory of order and series: what is held while rows are found, and of rows of uneven size.

use std::sync::atomic::Ordering;
use std::time::Duration;

use arrow::array::RecordBatch;
use futures::TryStreamExt;
use yearbook_domain::SeriesRows;
use yearbook_domain::read_plan::{RowOrder, SortKey};
use yearbook_shares::{CallerRegistry, SharePercent};

use super::super::*;
use super::fixture::{StoredFixture, plan, read};
use super::less::counting_reader;
use super::ordered_reads::{counts_of, stored};

/// Long enough for whatever does not wait.
const SOON: Duration = Duration::from_millis(300);

/// The first `rows` rows by `column`, the greatest first.
fn greatest(stored: &StoredFixture, column: usize, rows: u64) -> ReadPlan {
    let mut plan = plan(&stored.snapshot);
    plan.order = RowOrder::By(vec![SortKey { column, descending: true }]);
    plan.max_rows = Some(rows);
    plan
}

#[tokio::test]
async fn a_selection_waits_for_room_before_it_reads_contract_15() {
    let stored = stored(20_000, 10, |row| format!("r{}", row % 10), |row| row as i64).await;
    let reader = stored.afresh(None).with_selection_budget(64 << 10);
    let all = reader.selections.take(64 << 10).await.unwrap();
    let sorted = greatest(&stored, 4, 100);
    let mut last = plan(&stored.snapshot);
    last.series_rows = Some(SeriesRows::Last(1));
    for plan in [&sorted, &last] {
        let scan = Box::pin(reader.scan(plan));
        // The scan ends with its time.
        assert!(tokio::time::timeout(SOON, scan).await.is_err(), "{plan:?}");
        // Plain scans take no room.
        let natural = super::fixture::plan(&stored.snapshot);
        assert_eq!(read(&reader, &natural).await.unwrap().0.num_rows(), 20_000);
    }
    let mut waits = std::pin::pin!(reader.scan(&sorted));
    assert!(tokio::time::timeout(SOON, waits.as_mut()).await.is_err());
    drop(all);
    let scan = waits.await.unwrap();
    assert_eq!(reader.selections.free(), 64 << 10, "keys are given back before rows are sent");
    let rows: Vec<RecordBatch> = scan.batches.try_collect().await.unwrap();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 100);
}

#[tokio::test]
async fn who_waits_for_much_room_keeps_nobody_waiting_contract_15() {
    let stored = stored(20_000, 10, |row| format!("r{}", row % 10), |row| row as i64).await;
    let reader = stored.afresh(None).with_selection_budget(1 << 20);
    let some = reader.selections.take(512 << 10).await.unwrap();
    let mut much = std::pin::pin!(reader.selections.take(1 << 20));
    assert!(tokio::time::timeout(SOON, much.as_mut()).await.is_err());
    let sorted = greatest(&stored, 4, 100);
    let rows = tokio::time::timeout(Duration::from_secs(60), read(&reader, &sorted)).await;
    assert_eq!(rows.expect("nobody queues").unwrap().0.num_rows(), 100);
    assert!(tokio::time::timeout(SOON, much.as_mut()).await.is_err());
    drop(some);
    assert!(much.await.is_ok());
    let refused = reader.selections.take((1 << 20) + 1).await;
    assert!(matches!(refused, Err(StorageFailure::SelectionTooLarge)), "at once");
}

#[tokio::test]
async fn a_caller_holds_its_share_of_selections_contract_15() {
    let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1);
    let address = Some([192, 0, 2, 1].into());
    let [greedy, again] = [1, 2].map(|_| callers.holder(Some("greedy"), address));
    let stranger = callers.holder(Some("stranger"), None);
    let neighbour = callers.holder(Some("neighbour"), address);
    let stored = stored(20_000, 10, |row| format!("r{}", row % 10), |row| row as i64).await;
    let reader = stored.afresh(None).with_selection_budget(4 << 20);
    let [greedy, again, stranger, neighbour] =
        [greedy, again, stranger, neighbour].map(|holder| reader.for_caller(&holder));
    let small = greatest(&stored, 4, 100);
    let answers = async |reader: &Reader| {
        let rows = tokio::time::timeout(Duration::from_secs(60), read(reader, &small)).await;
        rows.expect("nobody waits for others").unwrap().0.num_rows()
    };

    // The share of a key, of which half stays free of rows that wait for their client.
    let sorts = [greedy.selections.take(512 << 10).await, again.selections.take(512 << 10).await];
    for reader in [&greedy, &again] {
        assert!(tokio::time::timeout(SOON, reader.selections.take(1)).await.is_err());
        assert!(reader.selections.take_spare(1).is_none());
    }
    assert!(tokio::time::timeout(SOON, read(&again, &small)).await.is_err());
    for reader in [&stranger, &neighbour, &reader] {
        assert_eq!(answers(reader).await, 100);
    }
    // Keys of one address share what is its own.
    let more = neighbour.selections.take(1 << 20).await.unwrap();
    let third = reader.for_caller(&callers.holder(Some("third"), address));
    assert!(tokio::time::timeout(SOON, third.selections.take(1)).await.is_err());
    drop((sorts, more));
    assert_eq!((answers(&again).await, reader.selections.free()), (100, 4 << 20));

    // Who holds nothing else may hold one selection of half of all room, and no larger one.
    let large = greedy.selections.take(2 << 20).await.unwrap();
    assert!(tokio::time::timeout(SOON, read(&again, &small)).await.is_err());
    assert!(tokio::time::timeout(SOON, stranger.selections.take(2 << 20)).await.is_err());
    assert_eq!(answers(&stranger).await, 100);
    drop(large);
    assert!(stranger.selections.take(2 << 20).await.is_ok());
    let refused = greedy.selections.take((2 << 20) + 1).await.map(drop);
    assert!(matches!(refused, Err(StorageFailure::SelectionTooLarge)), "{refused:?}");
}

#[tokio::test]
async fn keys_are_counted_by_their_own_bytes_contract_15() {
    // A hundred keys of 30 kB, which averages do not tell.
    let region = |row: usize| match row % 200 {
        7 => format!("z{row:05}{}", "long".repeat(7_500)),
        _ => format!("r{row}"),
    };
    let stored = stored(20_000, 10, region, |row| row as i64).await;
    let reader = stored.afresh(None).with_selection_budget(2 << 20);
    let mut few = greatest(&stored, 1, 20);
    few.columns = vec![4];
    let (rows, _) = read(&reader, &few).await.unwrap();
    let expected: Vec<i64> = (0..20).map(|row| 19_807 - row * 200).collect();
    assert_eq!(counts_of(&rows, 0), expected);
    let many = ReadPlan { max_rows: Some(100), ..few.clone() };
    let refused = reader.scan(&many).await.map(drop);
    assert!(matches!(refused, Err(StorageFailure::SelectionTooLarge)), "{refused:?}");
    let others = reader.selections.take(3 << 19).await.unwrap();
    let refused = reader.scan(&few).await.map(drop);
    assert!(matches!(refused, Err(StorageFailure::SelectionBusy)), "{refused:?}");
    drop(others);
    assert_eq!(reader.selections.free(), 2 << 20);
}

/// The batches of `plan`, and what is free while the first of them is held.
async fn batches(reader: &Reader, plan: &ReadPlan) -> (Vec<RecordBatch>, u64) {
    let mut scan = reader.scan(plan).await.unwrap().batches;
    let first = scan.try_next().await.unwrap().unwrap();
    let free = reader.selections.free();
    let mut batches = vec![first];
    batches.extend(scan.try_collect::<Vec<_>>().await.unwrap());
    (batches, free)
}

#[tokio::test]
async fn rows_of_uneven_size_are_read_few_at_a_time_contract_15() {
    // Sixty rows of a mebibyte each, far from each other, come first.
    let region = |row: usize| match row % 50 {
        7 => format!("{row}").repeat((1 << 20) / row.to_string().len()),
        _ => format!("r{row}"),
    };
    let count = |row: usize| if row % 50 == 7 { row as i64 } else { -(row as i64) };
    let stored = stored(3_000, 10, region, count).await;
    let plan = greatest(&stored, 4, 200);
    let (first, _) = batches(&stored.reader, &plan).await;
    let counts: Vec<i64> = first.iter().flat_map(|batch| counts_of(batch, 4)).collect();
    let large = (0..60).map(|row| 2_957 - row * 50);
    let small = (0..3_000).filter(|row| row % 50 != 7).map(|row: i64| -row).take(140);
    assert_eq!(counts, large.chain(small).collect::<Vec<i64>>());
    let (rows, _) = stored.read(&plan).await.unwrap();
    let of: Vec<u64> = counts.iter().map(|count| count.unsigned_abs()).collect();
    let all: Vec<usize> = (0..7).collect();
    assert_eq!(rows.columns(), super::laws::expected(&stored.table, &of, &all).columns());
    for batch in &first {
        let bytes = batch.get_array_memory_size();
        assert!(batch.num_rows() == 1 || bytes < 6 << 20, "{} rows", batch.num_rows());
    }
}

#[tokio::test]
async fn a_page_of_large_rows_is_read_once_and_its_batches_are_the_same_without_room_contract_15() {
    let region = |row: usize| format!("{:0900}", row.wrapping_mul(2_654_435_761));
    let scattered = |row: usize| (row * 7_919 % 20_000) as i64;
    let stored = stored(20_000, 10, region, scattered).await;
    let (reader, bytes) = counting_reader(&stored);
    let mut plan = greatest(&stored, 4, 10_000);
    plan.columns = vec![1, 4];
    reader.statistics(&plan.snapshot).await.unwrap();
    bytes.store(0, Ordering::SeqCst);
    let all = reader.selections.free();
    let (with_room, free) = batches(&reader, &plan).await;
    assert!(free < all, "rows that are held take room");
    assert_eq!(reader.selections.free(), all);
    let once = bytes.swap(0, Ordering::SeqCst);
    assert!(with_room.len() > 10, "{} batches", with_room.len());
    assert!(once < stored.snapshot.file.bytes * 2, "{once} of {}", stored.snapshot.file.bytes);
    // Half of all room stays free of rows.
    let _others = reader.selections.take(all / 2).await.unwrap();
    let (without, free) = batches(&reader, &plan).await;
    assert_eq!(free, all - all / 2);
    assert!(bytes.load(Ordering::SeqCst) > once * 4, "each batch reads");
    assert_eq!(with_room, without);
    let counts: Vec<i64> = without.iter().flat_map(|batch| counts_of(batch, 1)).collect();
    assert_eq!(counts, (10_000..20_000).rev().collect::<Vec<i64>>());
}
