//! Rows are cut into row groups by rows and by bytes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use super::*;

/// A table of texts of these lengths, `chunk` rows a chunk.
fn table(lengths: &[usize], chunk: usize) -> PackageTable {
    let mut chunks = Vec::new();
    let mut first_row = 1;
    for lengths in lengths.chunks(chunk) {
        let text: ArrayRef = Arc::new(StringArray::from_iter_values(
            lengths.iter().map(|length| "x".repeat(*length)),
        ));
        let number: ArrayRef =
            Arc::new(Int64Array::from_iter_values((first_row..).take(lengths.len())));
        let batch = RecordBatch::try_from_iter([("text", text), ("n", number)]).unwrap();
        chunks.push(TableChunk { first_row: u64::try_from(first_row).unwrap(), batch });
        first_row += i64::try_from(lengths.len()).unwrap();
    }
    PackageTable { schema: chunks[0].batch.schema(), chunks }
}

fn cut_up(lengths: &[usize], chunk: usize) -> Vec<RowBlock> {
    let table = table(lengths, chunk);
    cut(&table, &RowOrder::sort_by(&table, &[]).unwrap())
}

fn groups(blocks: &[RowBlock]) -> Vec<usize> {
    let mut groups = vec![0];
    for block in blocks {
        *groups.last_mut().unwrap() += block.rows.len();
        if block.ends_group {
            groups.push(0);
        }
    }
    assert_eq!(groups.pop(), Some(0), "the last block ends a group");
    groups
}

#[test]
fn row_groups_are_bounded_by_rows_and_bytes_however_the_input_was_cut() {
    // 3 MiB each: five fit a group of 16 MiB, one fits a block of 4 MiB.
    let large = vec![3 << 20; 12];
    assert_eq!(groups(&cut_up(&large, 5)), [5, 5, 2]);
    assert_eq!(cut_up(&large, 5), cut_up(&large, 12));
    assert!(cut_up(&large, 5).iter().all(|block| block.rows.len() == 1));
    let small = vec![0; GROUP_ROWS + 3];
    assert_eq!(groups(&cut_up(&small, 40_000)), [GROUP_ROWS, 3]);
    assert_eq!(cut_up(&small, 40_000), cut_up(&small, 7_000));
    assert!(cut_up(&small, 7_000).iter().all(|block| block.rows.len() <= BLOCK_ROWS));
    // A row beyond every bound stands alone.
    assert_eq!(groups(&cut_up(&[1, GROUP_BYTES + 1, 1], 3)), [1, 1, 1]);
}

#[test]
fn blocks_hold_every_row_once_in_order() {
    let table = table(&[1; 40_000], 999);
    let order = RowOrder::sort_by(&table, &[]).unwrap();
    let mut expected = 1;
    for block in cut(&table, &order) {
        let batch = gather_rows(&table, &order, &block).unwrap();
        for value in batch.column(1).as_primitive::<arrow::datatypes::Int64Type>().values() {
            assert_eq!(*value, expected);
            expected += 1;
        }
    }
    assert_eq!(expected, 40_001);
}
