//! Growth of time and memory with the rows: exports of ever larger tables, and many at once.

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result, anyhow};

use super::exports::ExportRuns;
use super::{Bench, peers, tables};
use crate::http::HttpRequest;
use crate::measurements::Measurements;
use crate::process::MeasuredProcess;
use crate::{http, machine};
use yearbook_generate::TableShape;
use yearbook_xtask::demo;

/// Part of every figure here.
const PART: &str = "growth";

/// Exports at once.
const CONCURRENT_EXPORTS: usize = 32;

/// The case of all of them.
pub(super) const CONCURRENT_CASE: &str = "32 exports of a million rows at once";

const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let data_dir = bench.folder.join("growth");
    let mut sizes = vec![100_000, 1_000_000, 10_000_000];
    if bench.args.huge {
        sizes.push(50_000_000);
    }
    for &rows in &sizes {
        let package = bench.repository.cache_dir().join("generated").join(format!("long_{rows}"));
        let descriptor = package.join("datapackage.json");
        if !descriptor.exists() {
            println!("-- make {rows} synthetic rows");
            yearbook_generate::package(rows, TableShape::Long, false, &package)?;
        }
        tables::published(binary, &data_dir, &[descriptor])?;
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
