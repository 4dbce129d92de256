//! Work is counted: what was decoded once is not decoded again, and what cannot match is not
//! decoded at all.

use std::collections::HashSet;

use arrow::array::{Array, AsArray};
use futures::TryStreamExt;
use yearbook_domain::Date;

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan, read};
use super::laws::folded;

const ROWS: usize = 20_000;
const GROUP: usize = 2_000;
const PAGE: usize = 200;

async fn stored(dictionary: Option<usize>) -> StoredFixture {
    StoredFixture::new(&FixtureOptions {
        rows: ROWS,
        group: GROUP,
        page: PAGE,
        dictionary,
        ..FixtureOptions::default()
    })
    .await
}

/// Pages decoded, dictionary values searched, rows decoded for a search.
fn read_counts(reader: &Reader) -> (u64, u64, u64) {
    let counts = reader.counts();
    (counts.pages, counts.values_searched, counts.rows_searched)
}

/// Text of a column by row.
fn texts(stored: &StoredFixture, column: usize) -> Vec<Option<String>> {
    stored.table.column(column).as_string::<i32>().iter().map(|text| text.map(folded)).collect()
}

#[tokio::test]
async fn a_slice_of_dates_decodes_its_pages_and_only_once() {
    let stored = stored(Some(1 << 20)).await;
    let mut plan = plan(&stored.snapshot);
    let dates = texts(&stored, 0);
    let (first, last) = (dates[7_777].clone().unwrap(), dates[8_000].clone().unwrap());
    let inside: Vec<usize> = (0..ROWS)
        .filter(|&row| dates[row].as_ref().is_some_and(|date| (&first..=&last).contains(&date)))
        .collect();
    (plan.start, plan.end, plan.columns) =
        (Date::parse(&first), Date::parse(&last), (0..6).collect());
    let (rows, _) = stored.read(&plan).await.unwrap();
    assert_eq!(rows.num_rows(), inside.len());
    let pages: HashSet<usize> = inside.iter().map(|row| row / PAGE).collect();
    let (decoded, ..) = read_counts(&stored.reader);
    // Those of six columns, and of the dates those on either side of a boundary.
    let all = pages.len() as u64 * 6;
    assert!((all..=all + 2).contains(&decoded), "{decoded} pages decoded, the slice has {all}");
    assert_eq!(stored.read(&plan).await.unwrap().0, rows);
    assert_eq!(read_counts(&stored.reader).0, decoded, "the second time everything is there");

    plan.columns = vec![3];
    stored.read(&plan).await.unwrap();
    assert_eq!(read_counts(&stored.reader).0, decoded, "columns are kept each for itself");
}

#[tokio::test]
async fn large_scans_leave_nothing_in_memory() {
    let mut stored = stored(Some(1 << 20)).await;
    let mut plan = plan(&stored.snapshot);
    plan.columns = (0..6).collect();
    stored.read(&plan).await.unwrap();
    assert_eq!(read_counts(&stored.reader), (0, 0, 0), "short cells, and too many rows");
    plan.columns = (0..7).collect();
    stored.reader.parts_mut().task_limits.kept_scan_bytes = 8 << 20;
    stored.read(&plan).await.unwrap();
    assert_eq!(read_counts(&stored.reader), (0, 0, 0), "long text, and too much of it");
}

#[tokio::test]
async fn a_table_of_long_text_that_memory_can_hold_is_decoded_once() {
    let mut stored = stored(Some(1 << 20)).await;
    stored.reader.parts_mut().task_limits.kept_bytes = 1 << 20;
    let plan = plan(&stored.snapshot);
    let sizes = async |reader: &Reader| -> Vec<usize> {
        let batches = reader.scan(&plan).await.unwrap().batches;
        batches.map_ok(|batch| batch.num_rows()).try_collect().await.unwrap()
    };
    let first = sizes(&stored.reader).await;
    let (decoded, ..) = read_counts(&stored.reader);
    assert_eq!(decoded, (ROWS / PAGE * 7) as u64, "each page once, though there are many steps");
    std::fs::rename(stored.object(), stored.folder.path().join("away")).unwrap();
    assert_eq!(sizes(&stored.reader).await, first, "the second time everything is there");
    assert_eq!(read_counts(&stored.reader).0, decoded);
    std::fs::rename(stored.folder.path().join("away"), stored.object()).unwrap();
    let mut afresh = stored.afresh(None);
    afresh.parts_mut().task_limits = stored.reader.parts.task_limits;
    stored
        .read(&ReadPlan { max_rows: Some(5_000), first_row: Some(3_000), ..plan.clone() })
        .await
        .unwrap();
    assert_eq!(sizes(&afresh).await, first, "batches do not depend on what is kept");
}

#[tokio::test]
async fn a_needle_is_looked_for_once_in_each_value_of_a_dictionary_and_nowhere_else() {
    let stored = stored(Some(1 << 20)).await;
    let distinct = |column: usize| -> usize {
        let table = &stored.table;
        let text = |row: usize| {
            table
                .column(column)
                .is_valid(row)
                .then(|| table.column(column).as_string::<i32>().value(row))
        };
        (0..ROWS)
            .step_by(GROUP)
            .map(|start| (start..start + GROUP).filter_map(text).collect::<HashSet<_>>().len())
            .sum()
    };
    let values = (distinct(1) + distinct(2)) as u64;
    let mut plan = plan(&stored.snapshot);
    plan.search_text = Some("nowhere".to_owned());
    for (times, max_rows) in [(1, None), (2, Some(10))] {
        plan.max_rows = max_rows;
        assert_eq!(stored.read(&plan).await.unwrap().0.num_rows(), 0);
        assert_eq!(
            read_counts(&stored.reader),
            (0, values * times, 0),
            "no key is decoded where no value matches"
        );
    }
    // Nothing but dictionaries was read, and these are in memory now.
    std::fs::remove_file(stored.object()).unwrap();
    assert_eq!(stored.read(&plan).await.unwrap().0.num_rows(), 0);
}

#[tokio::test]
async fn a_row_group_whose_dictionary_holds_no_match_is_skipped_whole() {
    let stored = stored(Some(1 << 20)).await;
    let (regions, places) = (texts(&stored, 1), texts(&stored, 2));
    let row = (ROWS - 300..ROWS).find(|&row| places[row].is_some()).unwrap();
    let needle = places[row].clone().unwrap();
    let matches = |row: &usize| {
        [&regions, &places]
            .iter()
            .any(|column| column[*row].as_ref().is_some_and(|text| text.contains(&needle)))
    };
    let matching: Vec<usize> = (0..ROWS).filter(matches).collect();
    let groups: HashSet<usize> = matching.iter().map(|row| row / GROUP).collect();
    assert!(groups.len() < ROWS / GROUP, "some row group must be free of {needle}");
    let mut plan = plan(&stored.snapshot);
    plan.search_text = Some(needle);
    assert_eq!(stored.read(&plan).await.unwrap().0.num_rows(), matching.len());
    assert_eq!(read_counts(&stored.reader).2, (groups.len() * GROUP) as u64);
}

#[tokio::test]
async fn text_without_a_dictionary_is_searched_row_by_row() {
    let stored = stored(None).await;
    let mut plan = plan(&stored.snapshot);
    plan.search_text = Some("nowhere".to_owned());
    assert_eq!(read(&stored.reader, &plan).await.unwrap().0.num_rows(), 0);
    assert_eq!(read_counts(&stored.reader), (0, 0, ROWS as u64));
}
