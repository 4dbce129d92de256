//! Bytes of rows do not depend on what is in memory, nor on the room that there is for it.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use yearbook_domain::read_plan::{RowOrder, SortKey};

use super::super::*;
use super::fixture::{FixtureOptions, StoredFixture, plan};
use super::kept_columns::batches;

/// Rows from `first` on, without geometry.
fn window(stored: &StoredFixture, first: u64, rows: u64) -> ReadPlan {
    let mut plan = plan(&stored.snapshot);
    plan.columns = vec![0, 1, 2, 3, 4, 5];
    (plan.first_row, plan.max_rows) = (Some(first), Some(rows));
    plan
}

/// Buffers of a column.
type Buffers = Vec<Vec<u8>>;

/// Buffers of a column as they cross to a plugin: whole bytes, without other rows.
fn buffers(column: &ArrayRef) -> Buffers {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0);
    let nulls = nulls.map(|nulls| nulls.inner().sliced().to_vec());
    let mut buffers = vec![nulls.unwrap_or_default()];
    if let Some(flags) = column.as_boolean_opt() {
        buffers.push(flags.values().sliced().to_vec());
    } else if let Some(texts) = column.as_string_opt::<i32>() {
        let length = |row: usize| texts.value_length(row).to_le_bytes().to_vec();
        buffers.extend((0..texts.len()).map(length));
        buffers.extend(texts.iter().map(|text| text.unwrap_or_default().as_bytes().to_vec()));
    } else if let Some(keyed) = column.as_dictionary_opt::<Int32Type>() {
        buffers.push(keyed.keys().to_data().buffers()[0].to_vec());
        buffers.extend(self::buffers(keyed.values()));
    } else {
        buffers.push(column.to_data().buffers()[0].to_vec());
    }
    buffers
}

/// Everything that crosses of a plan.
async fn crossing(reader: &Reader, plan: &ReadPlan) -> Vec<(usize, Vec<Buffers>)> {
    let batches = batches(reader, plan).await;
    assert!(!batches.is_empty());
    let batch = |batch: &RecordBatch| {
        (batch.num_rows(), batch.columns().iter().map(buffers).collect::<Vec<_>>())
    };
    batches.iter().map(batch).collect()
}

#[tokio::test]
async fn pages_are_the_same_whatever_was_decoded_with_them_contract_3_same_bytes() {
    for (page, dictionary) in
        [(1_000, Some(1 << 20)), (999, Some(1 << 20)), (1_000, Some(200)), (999, None)]
    {
        let options =
            FixtureOptions { group: 10_000, page, dictionary, ..FixtureOptions::rows(10_000) };
        let stored = StoredFixture::new(&options).await;
        let edge = page as u64;
        // Across an edge of pages, before it, behind it, and several pages.
        for (first, rows) in [(950, 150), (edge - 15, 15), (edge, 13), (0, 3_000)] {
            let wanted = window(&stored, first, rows);
            let expected = crossing(&stored.afresh(None), &wanted).await;
            for (before, more) in [(0, 100), (1_500, 100), (0, 10_000)] {
                let reader = stored.afresh(None);
                crossing(&reader, &window(&stored, before, more)).await;
                let what = format!("{page} {dictionary:?}: {rows} from {first} after {before}");
                assert!(crossing(&reader, &wanted).await == expected, "{what}");
                assert!(crossing(&reader, &wanted).await == expected, "again: {what}");
            }
        }
    }
}

#[tokio::test]
async fn sorted_rows_are_the_same_whatever_is_read_at_once_contract_3_same_bytes() {
    let options = FixtureOptions { group: 30_000, page: 1_000, ..FixtureOptions::rows(30_000) };
    let stored = StoredFixture::new(&options).await;
    for rows in [3_000, 30_000] {
        let mut sorted = window(&stored, 0, rows);
        sorted.first_row = None;
        sorted.order = RowOrder::By(vec![SortKey { column: 3, descending: true }]);
        let expected = crossing(&stored.afresh(None), &sorted).await;
        // Room for keys, and for rows of one batch at a time.
        let tight = stored.afresh(None).with_selection_budget(8 << 20);
        assert!(tight.selections.take_spare(16 << 20).is_none());
        let warm = stored.afresh(None);
        crossing(&warm, &window(&stored, 0, 10_000)).await;
        for (name, reader) in [("tight", tight), ("warm", warm)] {
            assert!(crossing(&reader, &sorted).await == expected, "{rows} rows, {name}");
        }
    }
}

#[tokio::test]
async fn rows_of_two_pages_have_one_dictionary_though_it_was_gone_contract_3_same_bytes() {
    for values in [30, 120] {
        let options = FixtureOptions { group: 10_000, page: 1_000, ..FixtureOptions::rows(10_000) };
        let table = StoredFixture::new(&options).await.table;
        let mut columns = table.columns().to_vec();
        let texts = (0..10_000).map(|row| format!("r{}", row % values));
        columns[1] = Arc::new(StringArray::from_iter_values(texts));
        let table = RecordBatch::try_new(table.schema(), columns).unwrap();
        let stored = StoredFixture::of_table(table, &options).await;
        let across = window(&stored, 950, 100);
        let expected = crossing(&stored.afresh(None), &across).await;
        for settles in [true, false] {
            let mut reader = stored.afresh(None);
            // No dictionary fits, and each is gone sooner or later.
            reader.parts_mut().cache = Arc::new(PageCache::with_dictionary_bytes(1));
            for first in [0, 1_000] {
                crossing(&reader, &window(&stored, first, 100)).await;
                if settles {
                    reader.parts.cache.settle();
                }
            }
            assert!(crossing(&reader, &across).await == expected, "{values} values, {settles}");
        }
    }
}
