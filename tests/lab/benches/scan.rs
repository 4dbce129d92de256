//! `cargo bench -p yearbook-lab --bench scan [-- ROWS]`: the cost of scans, without HTTP or
//! encoders. Prints medians, and fails for nothing. The table is months by series, sorted by month,
//! as statistics are.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use yearbook_domain::{Date, ReadPlan};
use yearbook_publish::{DataPackage, SilentReporter, publish};
use yearbook_scan::Reader;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

/// Months in the table; the rest of the rows are further series.
const MONTHS: usize = 600;

/// Time for which each measurement is repeated.
const PATIENCE: Duration = Duration::from_millis(700);

const DESCRIPTOR: &str = r#"{
  "name": "bench", "title": "Bench", "description": "Made up.",
  "licenses": [{ "name": "CC0-1.0", "title": "CC0 1.0 Universal", "path": "https://creativecommons.org/publicdomain/zero/1.0/" }],
  "sources": [{ "title": "Nobody" }],
  "yearbook": { "namespace": "bench", "source": "Nobody", "attribution_text": "Nobody", "refresh_cadence": "weekly",
                "bulk_redistribution": true, "date_filter_column": "date",
                "dimensions": ["series", "region"], "layout": "long" },
  "resources": [{ "name": "bench", "path": "bench.csv", "format": "csv", "mediatype": "text/csv", "encoding": "utf-8", "schema": { "primaryKey": ["date", "series"], "fields": [
    { "name": "date", "type": "date" }, { "name": "series", "type": "string" }, { "name": "region", "type": "string" },
    { "name": "value", "type": "number" }, { "name": "count", "type": "integer" }, { "name": "note", "type": "string" } ] } }]
}"#;

fn main() {
    let rows = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(measure(rows));
}

async fn measure(rows: usize) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), rows);
    let workers = Workers::new(1);
    let files =
        ObjectStorage::open(&format!("file:{}", folder.path().join("store").display())).unwrap();
    let package = DataPackage::open(folder.path()).unwrap();
    let draft = publish(&files, &workers, &package, None, &SilentReporter).await.unwrap();
    let plan = |change: &dyn Fn(&mut ReadPlan)| {
        let mut plan = ReadPlan::full_scan(
            package.name().clone(),
            package.namespace().clone(),
            Arc::new(draft.snapshot.clone()),
        );
        change(&mut plan);
        Arc::new(plan)
    };
    let year = |plan: &mut ReadPlan| {
        (plan.start, plan.end) = (Date::parse("2010-01-01"), Date::parse("2010-12-31"))
    };
    let needle = |plan: &mut ReadPlan, text: &str| {
        (plan.search_text, plan.max_rows) = (Some(text.to_owned()), Some(100))
    };
    let cases = [
        ("first 100 rows", plan(&|plan| plan.max_rows = Some(100))),
        ("100 rows of a year", plan(&|plan| (year(plan), plan.max_rows = Some(100)).1)),
        ("1,000 rows of a year", plan(&|plan| (year(plan), plan.max_rows = Some(1_000)).1)),
        ("a search without a match", plan(&|plan| needle(plan, "nowhere"))),
        ("a search for one series", plan(&|plan| needle(plan, "s0000777"))),
        ("a search for what is everywhere", plan(&|plan| needle(plan, "SOUTH"))),
        ("everything", plan(&|_| ())),
        ("everything but text", plan(&|plan| plan.columns = vec![3, 4])),
    ];
    let reader = Reader::new(files.clone(), Arc::clone(&workers));
    println!(
        "{:34} {:>12} {:>12}   ({rows} rows, one worker, median; cold: nothing in memory but the operating system's)",
        "", "warm", "cold"
    );
    for (name, plan) in cases {
        let warm = median(async || scan(&workers, &reader, &plan).await).await;
        let cold = median(async || {
            scan(&workers, &Reader::new(files.clone(), Arc::clone(&workers)), &plan).await
        })
        .await;
        println!(
            "{name:34} {:>9.1} µs {:>9.1} µs",
            warm.as_secs_f64() * 1e6,
            cold.as_secs_f64() * 1e6
        );
    }
}

/// All batches of a plan, as the server reads them: on a worker throughout.
async fn scan(workers: &Workers, reader: &Reader, plan: &Arc<ReadPlan>) -> usize {
    let (reader, plan) = (reader.clone(), Arc::clone(plan));
    let work = async move {
        let mut batches = reader.scan(&plan).await.unwrap().batches;
        let mut rows = 0;
        while let Some(batch) = batches.next().await {
            rows += batch.unwrap().num_rows();
        }
        rows
    };
    workers.drive(yearbook_shares::CallerShare::default(), work).await.unwrap()
}

async fn median(mut run: impl AsyncFnMut() -> usize) -> Duration {
    run().await;
    let (begun, mut times) = (Instant::now(), Vec::new());
    while begun.elapsed() < PATIENCE || times.len() < 5 {
        let begun = Instant::now();
        std::hint::black_box(run().await);
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn write(folder: &Path, rows: usize) {
    let series = rows.div_ceil(MONTHS);
    let mut text = String::from("date,series,region,value,count,note\n");
    for row in 0..rows {
        let (month, series) = (row / series, row % series);
        let noise = row.wrapping_mul(0x9e37_79b9) % 1_000_003;
        let region = ["North", "South", "West coast", "Chatham Islands"][series % 4];
        writeln!(
            text,
            "{}-{:02}-01,S{series:07},{region},{}.{:03},{noise},note {}",
            1976 + month / 12,
            month % 12 + 1,
            noise / 7,
            noise % 997,
            noise % 9_000
        )
        .unwrap();
    }
    std::fs::write(folder.join("bench.csv"), text).unwrap();
    std::fs::write(folder.join("datapackage.json"), DESCRIPTOR).unwrap();
}
