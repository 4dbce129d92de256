//! Rows that lie apart: taken from columns that are kept, they are what decoding them alone gives,
//! and what is kept stays within its bounds.

use std::collections::BTreeSet;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::DataType;
use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use yearbook_domain::read_plan::{ColumnTest, ColumnValue, Condition, FloatKey, Side};

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan};
use crate::decode::RowRange;

const ROWS: usize = 30_000;
const GROUP: usize = 10_000;

async fn stored(dictionary: Option<usize>) -> StoredFixture {
    let options =
        FixtureOptions { group: GROUP, page: 500, dictionary, ..FixtureOptions::default() };
    StoredFixture::new(&FixtureOptions { rows: ROWS, ..options }).await
}

/// A plan for the rows of one place, which lie on all pages: one row of 144 or so.
fn one_place(stored: &StoredFixture) -> ReadPlan {
    let mut plan = plan(&stored.snapshot);
    let place = stored.table.column(1).as_string::<i32>().iter().flatten().next().unwrap();
    let test = ColumnTest::AnyOf(vec![ColumnValue::Text(place.to_owned())]);
    plan.conditions = vec![Condition { column: 1, test }];
    plan.columns = vec![1, 0, 2, 5, 4, 3];
    plan
}

/// All batches of a plan.
pub(super) async fn batches(reader: &Reader, plan: &ReadPlan) -> Vec<RecordBatch> {
    reader.scan(plan).await.unwrap().batches.try_collect().await.unwrap()
}

/// Fails unless the batches are the same, buffer by buffer: some formats copy these.
fn assert_identical(found: &[RecordBatch], expected: &[RecordBatch], what: &str) {
    let rows =
        |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>();
    assert_eq!(rows(found), rows(expected), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        for (one, other) in found.columns().iter().zip(expected.columns()) {
            assert_eq!(one.data_type(), other.data_type(), "{what}");
            let [one, other] = [one, other].map(|column| column.to_data());
            assert_eq!(one.nulls(), other.nulls(), "{what}");
            assert_eq!(one.offset(), other.offset(), "{what}");
            for (one, other) in one.buffers().iter().zip(other.buffers()) {
                assert_eq!(one.as_slice(), other.as_slice(), "{what}");
            }
            for (one, other) in one.child_data().iter().zip(other.child_data()) {
                assert_eq!(one, other, "the same values of a dictionary: {what}");
            }
        }
    }
}

/// Rows that were decoded to be kept.
fn kept_rows(reader: &Reader) -> u64 {
    reader.counts().column_rows
}

#[tokio::test]
async fn rows_of_kept_columns_are_those_that_are_decoded_alone_contract_3() {
    for dictionary in [Some(1 << 20), Some(200), None] {
        let stored = stored(dictionary).await;
        let number = ColumnValue::Number(FloatKey::new(120.0));
        let conditions = [
            Condition { column: 3, test: ColumnTest::Bound(Side::AtLeast, number) },
            Condition { column: 4, test: ColumnTest::IsNull(true) },
            Condition { column: 2, test: ColumnTest::Contains(vec!["ak".to_owned()]) },
        ];
        let mut plans = vec![one_place(&stored)];
        for condition in conditions {
            let mut plan = one_place(&stored);
            plan.conditions.push(condition);
            plans.push(plan);
        }
        let mut searched = one_place(&stored);
        (searched.conditions, searched.search_text) = (vec![], Some("kk".to_owned()));
        plans.push(searched);
        let store = stored.folder.path().join("store");
        for base in plans {
            for max_rows in [None, Some(70), Some(7), Some(100_000)] {
                let plan = ReadPlan { max_rows, ..base.clone() };
                let what = format!("{dictionary:?} {:?} {max_rows:?}", plan.conditions);
                let plain = stored.afresh(None).with_column_cache(0);
                let expected = batches(&plain, &plan).await;
                assert!(!expected.is_empty() && kept_rows(&plain) == 0, "{what}");
                let remote = LocalFileSystem::new_with_prefix(&store).unwrap();
                for reader in [stored.afresh(None), stored.afresh(Some(Arc::new(remote)))] {
                    for _ in 0..3 {
                        assert_identical(&batches(&reader, &plan).await, &expected, &what);
                    }
                    assert!(max_rows.is_some() || kept_rows(&reader) > 0, "{what}");
                }
                // Nothing that is fetched has room: nothing is kept.
                let full = stored.afresh(None).with_fetch_budget(0);
                assert_identical(&batches(&full, &plan).await, &expected, &what);
                assert_eq!(kept_rows(&full), 0, "{what}");
            }
        }
    }
}

/// Conditions that 17 searches have made worth an index.
#[tokio::test]
async fn rows_that_are_looked_up_are_those_that_are_compared_contract_15() {
    for dictionary in [Some(1 << 20), None] {
        let stored = stored(dictionary).await;
        let places: BTreeSet<&str> =
            stored.table.column(1).as_string::<i32>().iter().flatten().collect();
        assert!(places.len() > 100, "{} values", places.len());
        let of = |places: &[&str]| {
            let values = places.iter().map(|place| ColumnValue::Text((*place).to_owned()));
            Condition { column: 1, test: ColumnTest::AnyOf(values.collect()) }
        };
        let all: Vec<&str> = places.iter().copied().collect();
        let number = ColumnValue::Number(FloatKey::new(120.0));
        let bound = Condition { column: 3, test: ColumnTest::Bound(Side::AtLeast, number) };
        let conditions = [
            vec![of(&all[..1])],
            vec![of(&[all[3], all[50], all[99]])],
            vec![of(&["nowhere"])],
            vec![of(&all[7..8]), bound.clone()],
            vec![bound, of(&all[20..22])],
            // More than are looked up.
            vec![of(&all[..40])],
        ];
        let plain = stored.afresh(None).with_column_cache(0);
        let reader = stored.afresh(None);
        let plan = one_place(&stored);
        for _ in 0..30 {
            batches(&reader, &plan).await;
        }
        let searched = reader.counts().rows_searched;
        let found = batches(&reader, &plan).await;
        let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
        let looked_at = reader.counts().rows_searched - searched;
        assert_eq!(looked_at, rows as u64, "no other row is looked at");
        for conditions in conditions {
            for max_rows in [None, Some(1), Some(30), Some(100_000)] {
                let plan = ReadPlan { conditions: conditions.clone(), max_rows, ..plan.clone() };
                let expected = batches(&plain, &plan).await;
                let what = format!("{dictionary:?} {conditions:?} {max_rows:?}");
                assert_identical(&batches(&reader, &plan).await, &expected, &what);
                let [one, other] = [&reader, &plain].map(|reader| reader.scan(&plan));
                let (one, other) = (one.await.unwrap(), other.await.unwrap());
                assert_eq!(one.counts, other.counts, "{what}");
            }
        }
        reader.parts.columns.settle().await;
        let with_places = reader.counts().kept_columns.bytes;
        let without = stored.afresh(None);
        for _ in 0..3 {
            batches(&without, &plan).await;
        }
        without.parts.columns.settle().await;
        assert!(with_places > without.counts().kept_columns.bytes, "they are weighed");

        // No room beside the columns themselves: they stay, and all rows are compared.
        let bytes = without.counts().kept_columns.bytes;
        let full = stored.afresh(None).with_column_cache(bytes);
        for _ in 0..30 {
            assert_identical(&batches(&full, &plan).await, &found, "without room");
        }
        full.parts.columns.settle().await;
        assert!(full.counts().kept_columns.bytes <= bytes);
    }
}

#[tokio::test]
async fn scattered_rows_are_read_of_the_file_once() {
    let stored = stored(Some(1 << 20)).await;
    let plan = one_place(&stored);
    let first = batches(&stored.reader, &plan).await;
    // Some pages have no such row.
    batches(&stored.reader, &plan).await;
    let decoded = kept_rows(&stored.reader);
    assert_eq!(decoded, (ROWS * plan.columns.len()) as u64, "each column once");
    std::fs::rename(stored.object(), stored.folder.path().join("away")).unwrap();
    assert_identical(&batches(&stored.reader, &plan).await, &first, "from memory");
    assert!(stored.reader.counts().kept_columns.hits >= 3 * plan.columns.len() as u64);
    assert_eq!(kept_rows(&stored.reader), decoded);
}

#[tokio::test]
async fn columns_that_many_want_at_once_are_decoded_once() {
    let stored = stored(Some(1 << 20)).await;
    let plan = one_place(&stored);
    let all = futures::future::join_all((0..20).map(|_| batches(&stored.reader, &plan))).await;
    all.iter().for_each(|found| assert_identical(found, &all[0], "at once"));
    assert_eq!(kept_rows(&stored.reader), (ROWS * plan.columns.len()) as u64);
}

#[tokio::test]
async fn columns_are_kept_once_rows_that_were_read_alone_have_cost_as_much() {
    let stored = stored(Some(1 << 20)).await;
    let source = stored.reader.open_file(&stored.snapshot).await.unwrap();
    // A row on one page of twenty.
    let wanted = BooleanBuffer::collect_bool(GROUP, |row| row == 3);
    let one = RowRange { group: 1, rows: 0..GROUP, wanted: Some(wanted) };
    let reads_of = async |leaves: &[usize], range: &RowRange| {
        let mut reads = 1;
        while source.kept_columns(leaves, range).await.unwrap().is_none() {
            reads += 1;
            assert!(reads < 60, "never kept");
        }
        reads
    };
    let reads = reads_of(&[3, 4], &one).await;
    assert!((15..=25).contains(&reads), "kept after {reads} reads of a twentieth");
    assert_eq!(kept_rows(&stored.reader), 2 * GROUP as u64);
    assert_eq!(reads_of(&[4], &one).await, 1, "it is here");
    let all = RowRange { wanted: None, ..one.clone() };
    assert_eq!(reads_of(&[2], &all).await, 1, "all of it is read anyway");
    let columns = source.kept_columns(&[2, 3, 4], &one).await.unwrap().unwrap();
    let columns: Vec<ArrayRef> = columns.into_iter().map(|column| column.rows).collect();
    let rows = stored.table.slice(GROUP, GROUP);
    assert_eq!(*arrow::compute::cast(&columns[0], &DataType::Utf8).unwrap(), **rows.column(2));
    assert_eq!(columns[1..], rows.columns()[3..5]);
}

#[tokio::test]
async fn what_is_kept_stays_within_its_bound_and_may_go_at_any_time() {
    let stored = stored(Some(1 << 20)).await;
    let plan = one_place(&stored);
    let plain = stored.afresh(None).with_column_cache(0);
    let expected = batches(&plain, &plan).await;
    let estimated = {
        let parquet = plain.open_file(&stored.snapshot).await.unwrap().parquet;
        parquet.kept_bytes(&[0, 1, 2, 3, 4, 5])
    };
    let reader = stored.afresh(None).with_column_cache(estimated - 1);
    for _ in 0..3 {
        assert_identical(&batches(&reader, &plan).await, &expected, "too small for all columns");
    }
    assert_eq!(kept_rows(&reader), ROWS as u64, "the column of the condition alone is kept");

    // Dictionaries are not estimated: what is estimated to fit drives itself out.
    let reader = stored.afresh(None).with_column_cache(estimated);
    let others = (0..6).map(|column| ReadPlan { columns: vec![column], ..plan.clone() });
    let others: Vec<_> = others.collect();
    for _ in 0..3 {
        assert_identical(&batches(&reader, &plan).await, &expected, "while columns go");
        let sets =
            futures::future::join_all(others.iter().map(|plan| batches(&reader, plan))).await;
        for (set, other) in sets.iter().zip(&others) {
            assert_identical(set, &batches(&plain, other).await, "while columns go");
        }
        reader.parts.columns.settle().await;
        assert!(reader.counts().kept_columns.bytes <= estimated);
    }
    assert!(kept_rows(&reader) > (ROWS * 6) as u64, "some were decoded again");
}

#[tokio::test]
async fn a_damaged_column_fails_each_time_and_leaves_nothing() {
    let stored = stored(Some(1 << 20)).await;
    let plan = one_place(&stored);
    let intact = std::fs::read(stored.object()).unwrap();
    let expected = batches(&stored.afresh(None).with_column_cache(0), &plan).await;
    let parquet = stored.reader.open_file(&stored.snapshot).await.unwrap().parquet;
    let (start, length) = parquet.metadata.row_group(1).column(4).byte_range();
    let mut damaged = intact.clone();
    damaged[usize::try_from(start + length / 2).unwrap()] ^= 8;
    std::fs::write(stored.object(), &damaged).unwrap();
    let reader = stored.afresh(None);
    for _ in 0..3 {
        let scan = reader.scan(&plan).await.unwrap();
        let failure = scan.batches.try_collect::<Vec<_>>().await.unwrap_err().to_string();
        assert!(failure.contains(&ObjectStorage::key(&stored.snapshot.file)), "{failure}");
    }
    std::fs::write(stored.object(), &intact).unwrap();
    assert_identical(&batches(&reader, &plan).await, &expected, "restored");
}

/// A page without a value says nothing of the dictionary of its column.
#[tokio::test]
async fn a_page_of_nulls_has_the_dictionary_of_its_column_contract_15() {
    let options = FixtureOptions { group: 3_000, page: 500, ..FixtureOptions::rows(3_000) };
    let table = StoredFixture::new(&options).await.table;
    let mut columns = table.columns().to_vec();
    let texts = (0..3_000).map(|row| (row >= 500).then(|| format!("r{}", row % 300)));
    columns[1] = Arc::new(texts.collect::<StringArray>());
    columns[2] = new_null_array(&DataType::Utf8, 3_000);
    let table = RecordBatch::try_new(table.schema(), columns).unwrap();
    let stored = StoredFixture::of_table(table, &options).await;
    // The page of nulls is read first.
    let mut head = plan(&stored.snapshot);
    (head.max_rows, head.columns) = (Some(100), vec![1, 2]);
    let mut found = plan(&stored.snapshot);
    let test = ColumnTest::AnyOf(vec![ColumnValue::Text("r7".to_owned())]);
    found.conditions = vec![Condition { column: 1, test }];
    found.columns = vec![0, 1, 2];
    let mut nulls = found.clone();
    nulls.conditions = vec![Condition { column: 1, test: ColumnTest::IsNull(true) }];
    for reader in [stored.afresh(None), stored.afresh(None).with_column_cache(0)] {
        for _ in 0..2 {
            let [head, found, nulls] = [&head, &found, &nulls].map(|plan| batches(&reader, plan));
            let rows = |batches: Vec<RecordBatch>| {
                batches.iter().map(RecordBatch::num_rows).sum::<usize>()
            };
            assert_eq!([rows(head.await), rows(found.await), rows(nulls.await)], [100, 8, 500]);
        }
    }
    for plan in [&found, &nulls] {
        let plain = batches(&stored.afresh(None).with_column_cache(0), plan).await;
        assert_identical(&batches(&stored.afresh(None), plan).await, &plain, "with nulls");
    }
}
