//! Growth of time and memory with the rows: ever larger tables are published, published again with
//! a few other rows, and exported, and many exported at once.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, thread};

use anyhow::{Context as _, Result, anyhow};

use super::exports::ExportRuns;
use super::peers::YEARBOOK;
use super::{Bench, tables};
use crate::http::{self, HttpRequest};
use crate::machine;
use crate::measurements::Measurements;
use crate::process::{MeasuredProcess, MeasuredRun};
use crate::product::Product;

/// Part of the figures of exports.
const PART: &str = "growth";

/// Part of the figures of publishing.
const PUBLISHING: &str = "publishing";

/// Memory that publishing is given, bytes: less than ten million rows take, so that they are sorted
/// in files.
pub(super) const PUBLISH_MEMORY_BYTES: u64 = 256 << 20;

/// Of so many rows of a table that is published again, one has another value.
const REVISED_ROW: usize = 100_000;

/// Exports at once.
const CONCURRENT_EXPORTS: usize = 32;

const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let product = Product::new(binary, bench.folder.join("growth"))?;
    let mut sizes = vec![100_000, 1_000_000, 10_000_000];
    if bench.args.huge {
        sizes.push(100_000_000);
    }
    for &rows in &sizes {
        let descriptor = tables::generated_long(bench, rows)?;
        let revised = bench.folder.join("revised");
        publish(bench, &product, &format!("{rows} rows"), rows, &descriptor, figures)?;
        let copy = revise(&descriptor, rows, &revised)?;
        publish(bench, &product, &format!("{rows} rows, revised"), rows, &copy, figures)?;
        fs::remove_dir_all(&revised)
            .with_context(|| format!("cannot delete {}", revised.display()))?;
    }
    let key = product.key("enterprise")?;
    let server = product.serve(&machine::all(), true)?;
    let ask = |rows: u64, format: &str| {
        let query = format!("start=0001-01-01&limit=0&format={format}");
        server.ask(&format!("/v1/datasets/synthetic_long_{rows}/data?{query}"), &key)
    };
    for format in FORMATS {
        for &rows in &sizes {
            let ask = ask(rows, format);
            let mut exports = ExportRuns::default();
            // Three at most of exports that take seconds.
            let runs = if rows > 1_000_000 { bench.args.runs.min(3) } else { bench.args.runs };
            for run in 0..=runs {
                exports.run_once(&server.process, &ask, run > 0)?;
            }
            figures.add(PART, &format!("{rows} rows, {format}"), YEARBOOK, exports.values(rows));
        }
    }
    let mixed: Vec<HttpRequest> = FORMATS
        .iter()
        .cycle()
        .take(CONCURRENT_EXPORTS)
        .map(|format| ask(1_000_000, format))
        .collect();
    measure_concurrent(&server.process, &mixed, figures)
}

/// Publishes a table; one that is published again has changes to be found.
fn publish(
    bench: &Bench<'_>,
    product: &Product,
    case: &str,
    rows: u64,
    descriptor: &Path,
    figures: &mut Measurements,
) -> Result<()> {
    let mut publish = product.command();
    publish.arg("publish").arg(descriptor);
    publish.args(["--memory-bytes", &PUBLISH_MEMORY_BYTES.to_string()]);
    let run = MeasuredRun::run_to_end(&mut publish, &bench.folder)?;
    let values = [
        ("seconds", run.seconds),
        ("million_rows_a_second", rows as f64 / 1e6 / run.seconds),
        ("peak_mib", run.peak_mebibytes),
    ];
    figures.add(PUBLISHING, case, YEARBOOK, values);
    Ok(())
}

/// A copy of a package in which one row of [`REVISED_ROW`] has another value.
fn revise(descriptor: &Path, rows: u64, folder: &Path) -> Result<PathBuf> {
    let table = format!("synthetic_long_{rows}.csv");
    let mut line_number = 0;
    tables::rewrite_file(&descriptor.with_file_name(&table), &folder.join(&table), |line| {
        line_number += 1;
        if line_number % REVISED_ROW == 0 {
            *line = line.replacen(",false,", ",true,", 1);
        }
    })?;
    let copy = folder.join("datapackage.json");
    fs::copy(descriptor, &copy).with_context(|| format!("cannot copy {}", descriptor.display()))?;
    Ok(copy)
}

/// Measures all of these at the same time, a quarter in each format.
fn measure_concurrent(
    server: &MeasuredProcess,
    asks: &[HttpRequest],
    figures: &mut Measurements,
) -> Result<()> {
    println!("-- {} exports at once", asks.len());
    server.reset_peak()?;
    let started = Instant::now();
    let slowest = thread::scope(|scope| -> Result<f64> {
        let clients: Vec<_> = asks.iter().map(|ask| scope.spawn(|| http::get(ask))).collect();
        let mut slowest = 0.0_f64;
        for client in clients {
            let download = client.join().map_err(|_| anyhow!("a client panicked"))??;
            slowest = slowest.max(download.first_byte);
        }
        Ok(slowest)
    })
    .context("not all of the exports at once came to their end")?;
    let peak = server.peak_mebibytes()?;
    let values = [
        ("seconds", started.elapsed().as_secs_f64()),
        ("first_byte_ms", slowest * 1e3),
        ("peak_mib", peak),
        ("above_idle_mib", peak - server.idle),
    ];
    figures.add(
        PART,
        &format!("{} exports of a million rows at once", asks.len()),
        YEARBOOK,
        values,
    );
    figures.note(Some("first_byte_ms is that of the slowest".to_owned()));
    Ok(())
}
