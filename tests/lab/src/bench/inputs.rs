//! One table, made once, published as SDMX-CSV and as CSV, each in a process of its own, with its
//! time and its peak of memory.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use yearbook_generate::observations;
use yearbook_xtask::command;

use super::Bench;
use super::peers::YEARBOOK;
use crate::measurements::{Measurements, median};
use crate::process::MeasuredRun;
use crate::product::{self, Product};

/// Bytes of SDMX-CSV.
const BYTES: u64 = 500_000_000;

/// One form of the table.
struct InputForm {
    name: &'static str,
    package: PathBuf,
    /// A small package, which is published first, so that no run pays for compiling the reader.
    small: PathBuf,
    bytes: u64,
    runs: Vec<MeasuredRun>,
}

/// Publishes both forms in turns. Both have to become the same snapshot.
pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let folder = bench.folder.join("inputs");
    let bytes = bench.args.megabytes.map_or(BYTES, |megabytes| megabytes * 1_000_000);
    let table = observations("observations", bytes, &folder.join("table"))?;
    let small = observations("small", 0, &folder.join("small"))?;
    let form =
        |name, package, small, bytes| InputForm { name, package, small, bytes, runs: Vec::new() };
    let mut forms = [
        form("CSV", table.csv, small.csv, table.csv_bytes),
        form("SDMX-CSV", table.sdmx, small.sdmx, table.sdmx_bytes),
    ];
    let mut snapshots = Vec::new();
    for run in 0..=bench.args.runs {
        for form in &mut forms {
            let product = Product::new(binary, folder.join("data"))?;
            let publish = |package: &Path| {
                let mut publish = product.command();
                publish.arg("publish").arg(package).arg("--json");
                publish
            };
            command::output(&mut publish(&form.small))?;
            let published = MeasuredRun::run_to_end(&mut publish(&form.package), &folder)?;
            let said: Value =
                serde_json::from_str(&published.output).context("yearbook answers no JSON")?;
            ensure!(said["rows"] == table.rows, "{} rows were published: {said}", form.name);
            snapshots.push(said["snapshot_id"].clone());
            if run > 0 {
                form.runs.push(published);
            }
        }
    }
    ensure!(
        snapshots.windows(2).all(|pair| pair[0] == pair[1]),
        "the same table is not the same snapshot: {snapshots:?}"
    );
    for InputForm { name, bytes, runs, .. } in &forms {
        let seconds = median(&runs.iter().map(|run| run.seconds).collect::<Vec<_>>());
        let (megabytes, rows) = (*bytes as f64 / 1e6, table.rows as f64);
        let values = [
            ("megabytes", megabytes),
            ("million_rows", rows / 1e6),
            ("seconds", seconds),
            ("megabytes_a_second", megabytes / seconds),
            ("million_rows_a_second", rows / seconds / 1e6),
            ("peak_mib", runs.iter().map(|run| run.peak_mebibytes).fold(0.0, f64::max)),
        ];
        figures.add("inputs", name, YEARBOOK, values);
    }
    // Leaves no gigabytes.
    product::empty(&folder)
}
