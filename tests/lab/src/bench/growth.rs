//! Growth of time and memory with the rows: ever larger tables are published, published again with
//! a few other rows, and exported, and many exported at once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, thread};

use anyhow::{Context as _, Result, anyhow};

use super::exports::ExportRuns;
use super::{Bench, peers, tables};
use crate::http::HttpRequest;
use crate::measurements::Measurements;
use crate::process::{MeasuredProcess, MeasuredRun};
use crate::{http, machine};
use yearbook_generate::TableShape;
use yearbook_xtask::demo;

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

/// The case of all of them.
pub(super) const CONCURRENT_CASE: &str = "32 exports of a million rows at once";

const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let data_dir = bench.folder.join("growth");
    let mut sizes = vec![100_000, 1_000_000, 10_000_000];
    if bench.args.huge {
        sizes.push(100_000_000);
    }
    for &rows in &sizes {
        let package = bench.repository.cache_dir().join("generated").join(format!("long_{rows}"));
        let descriptor = package.join("datapackage.json");
        if !descriptor.exists() {
            println!("-- make {rows} synthetic rows");
            yearbook_generate::package(rows, TableShape::Long, false, &package)?;
        }
        publish(bench, binary, &data_dir, rows, &descriptor, figures)?;
    }
    let key = demo::enterprise_key(binary, &data_dir)?;
    let server = peers::yearbook(bench, binary, &data_dir, &machine::all(), true)?;
    let ask = |rows: u64, format: &str| {
        let url = format!(
            "{}/v1/datasets/synthetic_long_{rows}/data?start=0001-01-01&limit=0&format={format}",
            server.base
        );
        HttpRequest::get(url).with("X-API-Key", &key)
    };
    for format in FORMATS {
        for &rows in &sizes {
            println!("-- {rows} rows, {format}");
            let ask = ask(rows, format);
            let mut exports = ExportRuns::default();
            for run in 0..=counted_runs(bench.args.runs, rows) {
                exports.run_once(&server, &ask, run > 0)?;
            }
            figures.add(
                PART,
                &format!("{rows} rows, {format}"),
                peers::YEARBOOK,
                exports.values(rows),
            );
        }
    }
    let mixed: Vec<HttpRequest> =
        (0..CONCURRENT_EXPORTS).map(|at| ask(1_000_000, FORMATS[at % FORMATS.len()])).collect();
    measure_concurrent(&server, &mixed, figures)
}

/// Publishes a table, and once more with a few other rows, which are then found as changes.
fn publish(
    bench: &Bench<'_>,
    binary: &Path,
    data_dir: &Path,
    rows: u64,
    descriptor: &Path,
    figures: &mut Measurements,
) -> Result<()> {
    fs::create_dir_all(data_dir).with_context(|| format!("cannot make {}", data_dir.display()))?;
    let mut measure = |case: &str, descriptor: &Path| -> Result<()> {
        let mut publish = Command::new(binary);
        publish.arg("--data-dir").arg(data_dir).arg("publish").arg(descriptor);
        publish.args(["--memory-bytes", &PUBLISH_MEMORY_BYTES.to_string()]);
        let run = MeasuredRun::run_to_end(&mut publish, &bench.folder)?;
        #[expect(clippy::cast_precision_loss, reason = "for print")]
        let million_rows = rows as f64 / 1e6;
        let values = [
            ("seconds", run.seconds),
            ("million_rows_a_second", million_rows / run.seconds),
            ("peak_mib", run.peak_mebibytes),
        ];
        figures.add(PUBLISHING, case, peers::YEARBOOK, values);
        Ok(())
    };
    measure(&format!("{rows} rows"), descriptor)?;
    let folder = bench.folder.join("revised");
    measure(&format!("{rows} rows, revised"), &revise(descriptor, rows, &folder)?)?;
    fs::remove_dir_all(&folder).with_context(|| format!("cannot delete {}", folder.display()))
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

/// Returns the number of runs: three at most for exports that take seconds.
fn counted_runs(runs: u32, rows: u64) -> u32 {
    if rows > 1_000_000 { runs.min(3) } else { runs }
}

/// Measures all of these at the same time, a quarter in each format.
fn measure_concurrent(
    server: &MeasuredProcess,
    asks: &[HttpRequest],
    figures: &mut Measurements,
) -> Result<()> {
    println!("-- {} exports at once", asks.len());
    server.reset_peak()?;
    let started = std::time::Instant::now();
    let slowest: f64 = thread::scope(|scope| -> Result<f64> {
        let clients: Vec<_> = asks.iter().map(|ask| scope.spawn(|| http::get(ask))).collect();
        let mut slowest = 0.0_f64;
        for client in clients {
            let download = client.join().map_err(|_| anyhow!("a client panicked"))??;
            slowest = slowest.max(download.first_byte);
        }
        Ok(slowest)
    })
    .context("not all of the exports at once came to their end")?;
    let values = [
        ("seconds", started.elapsed().as_secs_f64()),
        ("slowest_first_byte_ms", slowest * 1e3),
        ("peak_mib", server.peak_mebibytes()?),
        ("above_idle_mib", server.peak_mebibytes()? - server.idle),
    ];
    figures.add(PART, CONCURRENT_CASE, peers::YEARBOOK, values);
    Ok(())
}
