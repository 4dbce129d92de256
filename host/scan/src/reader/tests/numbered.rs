//! Laws of rows by number: a row alone, rows behind those that are skipped, and numbers as a
//! column are what the whole answer says of them.

use arrow::array::{AsArray, Int64Array};
use proptest::prelude::*;
use yearbook_domain::dataset::ROW_NUMBER_COLUMN;
use yearbook_domain::read_plan::RowOrder;

use super::super::*;
use super::bounds::{PART, boxed, squares};
use super::fixture::{FixtureOptions, StoredFixture, plan, read};
use super::laws::{expected, shapes};
use super::ordered::{Ask, asks, ordered, stored};

/// Numbers as the column has them.
fn numbers(rows: &[u64]) -> Int64Array {
    rows.iter().map(|row| i64::try_from(*row).unwrap()).collect()
}

async fn check(shape: FixtureOptions, ask: Ask, skip: u64, row: Option<u64>, limited: bool) {
    let (stored, mut plan) = stored(&shape, &ask).await;
    plan.row = row;
    if row.is_some() {
        plan.order = RowOrder::Natural;
    }
    let all = ordered(&stored.table, &plan);
    (plan.skip, plan.row_numbers) = (skip, true);
    plan.max_rows = limited.then_some(ask.max_rows);

    let most = plan.max_rows.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    let behind = all.get(usize::try_from(skip).unwrap()..).unwrap_or_default();
    let page = &behind[..behind.len().min(most)];
    let (rows, next) = stored.read(&plan).await.unwrap();
    let (sent, told) = rows.columns().split_at(plan.columns.len());
    assert_eq!(sent, expected(&stored.table, page, &plan.columns).columns());
    assert_eq!(told[0].as_ref(), &numbers(page) as &dyn arrow::array::Array);
    assert_eq!(next, behind.get(most.min(behind.len())).copied());

    let counts = stored.reader.scan(&plan).await.unwrap().counts;
    assert!(counts.rows.is_none_or(|rows| rows == page.len() as u64), "{counts:?}");
    assert_eq!(counts.total, (!plan.is_filtered()).then_some(all.len() as u64));
    let known = stored.reader.row_counts(&plan).await.unwrap();
    assert!(known.rows.is_none() || known == counts, "{known:?} is no more than {counts:?}");

    // The next page goes on behind this one.
    let next_page = ReadPlan { skip: 0, first_row: next, ..plan.clone() };
    if next.is_some() {
        let (rows, _) = stored.read(&next_page).await.unwrap();
        let page = &behind[most..behind.len().min(most * 2)];
        let column = rows.column(plan.columns.len());
        assert_eq!(column.as_ref(), &numbers(page) as &dyn arrow::array::Array);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_by_number_are_those_of_the_whole_answer_contract_17(
        shape in shapes(),
        ask in asks(),
        skip in prop_oneof![Just(0_u64), 1_u64..30, 1_u64..500],
        row in prop::option::weighted(0.3, 0_u64..300),
        limited in prop::bool::weighted(0.8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(shape, ask, skip, row, limited));
    }
}

#[tokio::test]
async fn rows_in_a_box_are_skipped_and_numbered_contract_17() {
    let stored = squares(50, 20).await;
    let plan = ReadPlan { row_numbers: true, ..boxed(&stored, PART) };
    let column = plan.columns.len();
    let (all, _) = stored.read(&plan).await.unwrap();
    assert_eq!(all.num_rows(), 100);
    let numbers = all.column(column).as_primitive::<arrow::datatypes::Int64Type>().clone();
    let rows: Vec<u64> = numbers.values().iter().map(|row| u64::try_from(*row).unwrap()).collect();
    assert_eq!(&all.columns()[..column], expected(&stored.table, &rows, &plan.columns).columns());
    for skip in [1, 7, all.num_rows() as u64 - 1, all.num_rows() as u64, 1_000] {
        let plan = ReadPlan { skip, max_rows: Some(5), ..plan.clone() };
        let (page, next) = stored.read(&plan).await.unwrap();
        let from = all.num_rows().min(usize::try_from(skip).unwrap());
        let expected = all.slice(from, 5.min(all.num_rows() - from));
        assert_eq!(page.columns(), expected.columns(), "{skip}");
        assert_eq!(next, rows.get(from + 5).copied(), "{skip}");
    }
    let one = ReadPlan { row: Some(rows[3]), ..plan.clone() };
    assert_eq!(stored.read(&one).await.unwrap().0.columns(), all.slice(3, 1).columns());
    let outside = (0..10_000).find(|row| !rows.contains(row));
    let none = ReadPlan { row: outside, ..plan };
    assert_eq!(stored.read(&none).await.unwrap().0.num_rows(), 0);
}

#[tokio::test]
async fn what_is_skipped_is_not_read_where_nothing_is_searched_contract_17() {
    let stored = StoredFixture::new(&FixtureOptions::rows(2_000)).await;
    let all = plan(&stored.snapshot);
    let plan = ReadPlan { skip: 1_990, max_rows: Some(5), row_numbers: true, ..all };
    let schema = Reader::schema(&plan).unwrap();
    assert_eq!(schema.fields().last().unwrap().name(), ROW_NUMBER_COLUMN);
    let reader = stored.afresh(None);
    let scan = reader.scan(&plan).await.unwrap();
    assert_eq!(scan.schema, schema);
    let before = reader.parts.files.counts().bytes;
    let rows = read(&reader, &plan).await.unwrap().0;
    assert_eq!(rows.num_rows(), 5);
    let fetched = reader.parts.files.counts().bytes - before;
    assert!(fetched * 50 < stored.snapshot.file.bytes, "{fetched}");
}
