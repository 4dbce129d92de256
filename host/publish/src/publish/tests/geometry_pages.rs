//! A hundred areas are read without inflating much else, once, and without a copy.

use std::fmt::Write as _;

use arrow::array::AsArray;
use futures::TryStreamExt;
use yearbook_domain::ReadPlan;
use yearbook_scan::{ReadMetricsSnapshot, Reader};

use super::*;

/// Areas of a page of a client.
const AREAS: u64 = 100;

/// Bytes of a data page.
const PAGE_BYTES: u64 = 256 << 10;

/// An area of 250 corners, of 5.5 kB.
fn area(row: usize) -> String {
    let mut text = String::from("MULTIPOLYGON (((");
    for corner in 0..=250 {
        // The last corner is the first one.
        let angle = f64::from(corner % 250) * std::f64::consts::TAU / 250.0;
        let east = 100.0 + f64::from(u32::try_from(row % 600).unwrap()) / 10.0;
        let _ = write!(
            text,
            "{}{:.6} {:.6}",
            if corner == 0 { "" } else { ", " },
            east + angle.cos(),
            angle.sin() - 40.0
        );
    }
    text + ")))"
}

async fn areas() -> (Fixture, Snapshot) {
    let mut rows = String::new();
    for row in 0..600 {
        let _ = writeln!(rows, "{row},area {row},\"{}\"", area(row));
    }
    let fixture = Fixture::new(&["id:integer", "name:string", "geometry:string"], &rows)
        .with("/resources/0/schema/primaryKey", json!(["id"]));
    let snapshot = fixture.publish().await.unwrap().snapshot;
    (fixture, snapshot)
}

/// Reads `AREAS` rows from `first` on; returns them and what the reader has counted so far.
async fn read(
    reader: &Reader,
    snapshot: &Snapshot,
    first: u64,
) -> (Vec<RecordBatch>, ReadMetricsSnapshot) {
    let (name, namespace) =
        (DatasetName::parse("a_table").unwrap(), Namespace::parse("tests").unwrap());
    let mut plan = ReadPlan::full_scan(name, namespace, Arc::new(snapshot.clone()));
    (plan.first_row, plan.max_rows) = (Some(first), Some(AREAS));
    let batches = reader.scan(&plan).await.unwrap().batches.try_collect().await.unwrap();
    (batches, reader.counts())
}

#[tokio::test]
async fn a_hundred_areas_inflate_little_else_and_are_decoded_and_copied_once() {
    let (fixture, snapshot) = areas().await;
    let expected = fixture.rows(&snapshot);
    let reader = Reader::new(fixture.files.clone(), Arc::clone(&fixture.workers));
    let mut before = 0;
    for first in [0, 250, 437] {
        let (batches, counts) = read(&reader, &snapshot, first).await;
        let rows = usize::try_from(first).unwrap();
        let wanted = expected.slice(rows, usize::try_from(AREAS).unwrap());
        let column = |batch: &RecordBatch| batch.column_by_name("geometry").unwrap().clone();
        let parts: Vec<_> = batches.iter().map(column).collect();
        let parts: Vec<_> = parts.iter().map(|part| &**part).collect();
        assert_eq!(
            &arrow::compute::concat(&parts).unwrap(),
            wanted.column_by_name("geometry").unwrap()
        );

        // The pages at both ends hold other rows too, and so do those of the small columns.
        let of_rows = AREAS * 5_700;
        let inflated = counts.page_bytes - before;
        println!("{inflated} bytes decoded for {of_rows} at row {first}");
        assert!(inflated < of_rows + 2 * PAGE_BYTES + 64_000, "{inflated} bytes at row {first}");

        let (again, same) = read(&reader, &snapshot, first).await;
        assert_eq!(same.page_bytes, counts.page_bytes, "the second time nothing is decoded");
        assert_eq!(same.pages, counts.pages);
        let values = |batches: &[RecordBatch]| -> Vec<*const u8> {
            let text = |batch: &RecordBatch| column(batch).as_string::<i32>().values().as_ptr();
            batches.iter().map(text).collect()
        };
        assert_eq!(values(&batches), values(&again), "batches are windows of the pages in memory");
        before = counts.page_bytes;
    }
}
