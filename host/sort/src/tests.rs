//! Rows come out in the same order and in the same blocks whatever the budget is.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use proptest::prelude::*;

use super::*;

/// Rows of a number, a text and the place at which they come, `rows` a batch.
fn batches(values: &[(Option<i64>, String)], rows: usize) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    let mut place = 0..;
    for values in values.chunks(rows) {
        let numbers: ArrayRef = Arc::new(values.iter().map(|row| row.0).collect::<Int64Array>());
        let texts = StringArray::from_iter_values(values.iter().map(|row| &row.1));
        let places = Int64Array::from_iter_values(place.by_ref().take(values.len()));
        let columns = [
            ("n", numbers, true),
            ("t", Arc::new(texts) as ArrayRef, true),
            ("p", Arc::new(places), true),
        ];
        batches.push(RecordBatch::try_from_iter_with_nullable(columns).unwrap());
    }
    batches
}

/// The sorted rows, and the numbers of rows and ends of their blocks.
fn sorted(
    batches: &[RecordBatch],
    sorted_by: &[usize],
    budget: usize,
    columns: &[usize],
) -> (RecordBatch, Vec<(usize, bool)>, usize) {
    let mut sorter = ExternalSorter::new(batches[0].schema(), sorted_by, budget).unwrap();
    for batch in batches {
        sorter.push(batch.clone());
        if sorter.is_full() {
            sorter.spill().unwrap();
        }
    }
    let runs = sorter.spilled_runs();
    let rows = sorter.finish().unwrap();
    assert_eq!(rows.rows(), batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>());
    // Reading it once leaves it there for the next time.
    for _ in 0..2 {
        read(&rows, columns);
    }
    let (rows, blocks) = read(&rows, columns);
    (rows, blocks, runs)
}

fn read(rows: &SortedRows, columns: &[usize]) -> (RecordBatch, Vec<(usize, bool)>) {
    let mut reader = rows.read(columns.to_vec(), BlockLimits::FILE).unwrap();
    let (mut found, mut blocks) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block().unwrap() {
        blocks.push((block.rows.num_rows(), block.ends_group));
        found.push(block.rows);
    }
    (concat_batches(&rows.schema().project(columns).unwrap().into(), &found).unwrap(), blocks)
}

fn row() -> impl Strategy<Value = (Option<i64>, String)> {
    (prop::option::of(-3_i64..4), "[a-zé]{0,40}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_order_is_that_of_a_stable_sort_whatever_the_budget(
        values in prop::collection::vec(row(), 1..400),
        in_a_batch in 1_usize..60,
        by in prop::sample::subsequence(vec![0_usize, 1], 0..=2),
        budget in 0_usize..20_000,
    ) {
        let input = batches(&values, in_a_batch);
        let mut expected: Vec<usize> = (0..values.len()).collect();
        expected.sort_by_key(|row| {
            let (number, text) = &values[*row];
            (by.contains(&0).then_some(*number), by.contains(&1).then_some(text.clone()))
        });
        let columns = [2, 1];
        let whole = sorted(&input, &by, usize::MAX, &columns);
        let found = whole.0.column(0).as_primitive::<Int64Type>().values();
        prop_assert!(found.iter().map(|place| usize::try_from(*place).unwrap()).eq(expected));
        let pieces = sorted(&input, &by, budget, &columns);
        prop_assert_eq!((&whole.0, &whole.1), (&pieces.0, &pieces.1));
    }
}

#[test]
fn more_runs_than_one_merge_takes_are_merged_in_turns() {
    let values: Vec<(Option<i64>, String)> =
        (0..3_000_i64).rev().map(|n| (Some(n % 1_000), "x".repeat(200))).collect();
    let input = batches(&values, 10);
    let whole = sorted(&input, &[0], usize::MAX, &[0, 1, 2]);
    let pieces = sorted(&input, &[0], 1, &[0, 1, 2]);
    assert_eq!((whole.2, pieces.2), (0, 300), "a run for each batch");
    assert_eq!((whole.0, whole.1), (pieces.0, pieces.1));
}

#[test]
fn row_groups_are_bounded_by_rows_and_bytes_however_the_input_was_cut() {
    let of_lengths = |lengths: &[usize], in_a_batch: usize, budget: usize| {
        let values: Vec<(Option<i64>, String)> =
            lengths.iter().map(|length| (None, "x".repeat(*length))).collect();
        sorted(&batches(&values, in_a_batch), &[], budget, &[1, 0]).1
    };
    let groups = |blocks: &[(usize, bool)]| {
        let mut groups = vec![0];
        for (rows, ends_group) in blocks {
            *groups.last_mut().unwrap() += rows;
            if *ends_group {
                groups.push(0);
            }
        }
        assert_eq!(groups.pop(), Some(0), "the last block ends a group");
        groups
    };
    // 3 MiB each: five fit a group of 16 MiB, one fits a block of 4 MiB.
    let large = vec![3 << 20; 12];
    let blocks = of_lengths(&large, 5, usize::MAX);
    assert_eq!(groups(&blocks), [5, 5, 2]);
    assert!(blocks.iter().all(|(rows, _)| *rows == 1));
    for (in_a_batch, budget) in [(12, usize::MAX), (1, 8 << 20), (3, 1)] {
        assert_eq!(of_lengths(&large, in_a_batch, budget), blocks);
    }
    let small = vec![0; GROUP_ROWS + 3];
    let blocks = of_lengths(&small, 40_000, usize::MAX);
    assert_eq!(groups(&blocks), [GROUP_ROWS, 3]);
    assert!(blocks.iter().all(|(rows, _)| *rows <= 16_384));
    for (in_a_batch, budget) in [(7_000, usize::MAX), (40_000, 1)] {
        assert_eq!(of_lengths(&small, in_a_batch, budget), blocks);
    }
    // A row beyond every bound stands alone.
    assert_eq!(groups(&of_lengths(&[1, GROUP_BYTES + 1, 1], 3, usize::MAX)), [1, 1, 1]);
}
