//! Laws that hold for every table, file and plan: a scan is a filter over the whole table, and
//! pages add up.

use arrow::array::{AsArray, RecordBatch, UInt64Array};
use arrow::compute::take_record_batch;
use proptest::prelude::*;

use super::super::*;
use super::fixture::{FixtureOptions, LETTERS, StoredFixture, plan};

/// Simple case folding of the fixture's letters, written down independently of the code under test.
pub(super) fn folded(text: &str) -> String {
    let fold = |letter| match letter {
        'A' => 'a',
        'K' | '\u{212a}' => 'k',
        'ſ' => 's',
        'ς' => 'σ',
        other => other,
    };
    text.chars().map(fold).collect()
}

/// Rows that a plan asks for, found the slow way.
pub(super) fn matching(table: &RecordBatch, plan: &ReadPlan) -> Vec<u64> {
    let text = |column: usize, row: usize| {
        table.column(column).as_string::<i32>().iter().nth(row).flatten()
    };
    let contains = |row| {
        plan.search_text.as_ref().is_none_or(|needle| {
            [1, 2]
                .into_iter()
                .filter_map(|column| text(column, row))
                .any(|text| folded(text).contains(&folded(needle)))
        })
    };
    let dated = |row| {
        let date = text(0, row);
        plan.start.is_none_or(|start| date.is_some_and(|date| date >= start.as_str()))
            && plan.end.is_none_or(|end| date.is_some_and(|date| date <= end.as_str()))
    };
    let rows = 0..table.num_rows();
    rows.filter(|&row| row as u64 >= plan.first_row.unwrap_or(0) && dated(row) && contains(row))
        .map(|row| row as u64)
        .collect()
}

pub(super) fn expected(table: &RecordBatch, rows: &[u64], columns: &[usize]) -> RecordBatch {
    take_record_batch(&table.project(columns).unwrap(), &UInt64Array::from(rows.to_vec())).unwrap()
}

async fn check(shape: FixtureOptions, ask: Ask) {
    let mut stored = StoredFixture::new(&shape).await;
    stored.reader.parts_mut().task_limits = ask.task_limits;
    stored.reader.parts_mut().budget = FetchBudget::new(ask.room);
    let mut plan = plan(&stored.snapshot);
    let date = |(year, month): (u32, u32)| format!("{year}-{month:02}-15").parse().unwrap();
    (plan.start, plan.end) = (ask.start.map(date), ask.end.map(date));
    plan.search_text =
        ask.needle.map(|letters| letters.into_iter().map(|letter| LETTERS[letter]).collect());
    plan.columns = ask.columns;
    plan.first_row = Some(ask.first_row);

    // Without a maximum: everything, and nothing remains.
    let all = matching(&stored.table, &plan);
    let (rows, next) = stored.read(&plan).await.unwrap();
    assert_eq!(rows.columns(), expected(&stored.table, &all, &plan.columns).columns());
    assert_eq!(next, None);
    check_counts(&stored, &plan, &all).await;

    // Page by page: every row exactly once, `next` names the first row not returned.
    let mut seen = 0;
    loop {
        plan.max_rows = Some(ask.max_rows);
        let (rows, next) = stored.read(&plan).await.unwrap();
        check_counts(&stored, &plan, &all[seen..]).await;
        let page = &all[seen..all.len().min(seen + usize::try_from(ask.max_rows).unwrap())];
        assert_eq!(rows.columns(), expected(&stored.table, page, &plan.columns).columns());
        seen += page.len();
        let Some(next) = next else { break };
        if plan.search_text.is_some() {
            assert_eq!(next, all[seen], "the first match that was not returned");
        }
        plan.first_row = Some(next);
    }
    assert_eq!(seen, all.len());
}

/// A plan's statements about its rows, before they are read and while they are, are true;
/// `remaining` are the rows from its first on.
async fn check_counts(stored: &StoredFixture, plan: &ReadPlan, remaining: &[u64]) {
    let whole = ReadPlan { first_row: None, ..plan.clone() };
    let rows =
        plan.max_rows.map_or(remaining.len() as u64, |rows| rows.min(remaining.len() as u64));
    let scanned = stored.reader.scan(plan).await.unwrap().counts;
    let told = stored.reader.row_counts(plan).await.unwrap();
    if plan.search_text.is_none() {
        assert_eq!(
            (scanned.rows, scanned.total),
            (Some(rows), Some(matching(&stored.table, &whole).len() as u64))
        );
        assert_eq!(told, scanned);
    } else {
        assert_eq!((scanned.rows, scanned.total), (plan.max_rows.map(|_| rows), None));
        assert_eq!(told, RowCounts::default());
    }
}

#[derive(Clone, Debug)]
struct Ask {
    start: Option<(u32, u32)>,
    end: Option<(u32, u32)>,
    needle: Option<Vec<usize>>,
    columns: Vec<usize>,
    first_row: u64,
    max_rows: u64,
    task_limits: ReadTaskLimits,
    room: u64,
}

fn asks() -> impl Strategy<Value = Ask> {
    let month = || prop::option::weighted(0.5, (1999_u32..2003, 1_u32..13));
    let needle = prop::option::weighted(0.6, prop::collection::vec(0..LETTERS.len(), 1..3));
    let columns = prop::collection::vec(0_usize..7, 1..8);
    let bytes = || prop_oneof![1_u64..3000, Just(8 << 20)];
    let kept_scan_bytes = prop_oneof![Just(0_u64), Just(32 << 20)];
    let task_limits = (bytes(), 1_usize..100, bytes(), kept_scan_bytes).prop_map(
        |(bytes, rows, kept_bytes, kept_scan_bytes)| ReadTaskLimits {
            bytes,
            rows,
            kept_bytes,
            kept_scan_bytes,
        },
    );
    let room = prop_oneof![Just(0_u64), Just(1 << 30)];
    (
        month(),
        month(),
        needle,
        columns,
        prop_oneof![Just(0), 0_u64..300],
        prop_oneof![1_u64..5, 1_u64..400],
        task_limits,
        room,
    )
        .prop_map(|(start, end, needle, columns, first_row, max_rows, task_limits, room)| {
            let mut columns = columns;
            let mut seen = std::collections::HashSet::new();
            columns.retain(|column| seen.insert(*column));
            Ask { start, end, needle, columns, first_row, max_rows, task_limits, room }
        })
}

pub(super) fn shapes() -> impl Strategy<Value = FixtureOptions> {
    let dictionary = prop_oneof![Just(None), Just(Some(1 << 20)), Just(Some(200))];
    (0_usize..300, any::<u64>(), 1_usize..150, 1_usize..60, dictionary, prop::bool::weighted(0.9))
        .prop_map(|(rows, seed, group, page, dictionary, statistics)| FixtureOptions {
            rows,
            seed,
            group,
            page,
            dictionary,
            statistics,
            ..FixtureOptions::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_scan_is_a_filter_over_the_whole_table_and_pages_add_up(shape in shapes(), ask in asks()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(shape, ask));
    }
}

#[tokio::test]
async fn no_rows_at_most_still_says_where_to_go_on() {
    let stored = StoredFixture::new(&FixtureOptions::rows(100)).await;
    let mut plan = plan(&stored.snapshot);
    (plan.max_rows, plan.first_row) = (Some(0), Some(7));
    assert_eq!(stored.read(&plan).await.unwrap().1, Some(7));
    plan.search_text = Some("k".to_owned());
    let first = matching(&stored.table, &plan)[0];
    let (rows, next) = stored.read(&plan).await.unwrap();
    assert_eq!((rows.num_rows(), next), (0, Some(first)));
}
