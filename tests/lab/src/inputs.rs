//! `cargo xtask inputs`: one table published as SDMX-CSV and as CSV, each in a process of its own,
//! with its time and its peak of memory. Owns the order of things and the page; fails only for
//! wrong answers, not for being slow.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use yearbook_generate::{ObservationPackages, observations};
use yearbook_xtask::command;
use yearbook_xtask::repository::{Profile, Repository};

use crate::machine;
use crate::measurements::median;
use crate::page::{ReportPage, ReportTable, format_number, replace};
use crate::process::MeasuredRun;

/// Part of the speed of CSV that SDMX-CSV has at least.
const TARGET: f64 = 0.5;

/// Arguments of `cargo xtask inputs`.
#[derive(Clone, Debug, Args)]
pub(crate) struct InputsArgs {
    /// Megabytes of SDMX-CSV
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    megabytes: u64,
    /// Counted runs of each, after one that is not counted
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Memory for publishing, bytes, instead of the default of the settings
    #[arg(long)]
    memory_bytes: Option<u64>,
    /// Use a debug build: minutes sooner, slower to publish
    #[arg(long)]
    debug: bool,
    /// Measure this binary instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl InputsArgs {
    /// The command that was given.
    fn command(&self) -> String {
        let memory =
            self.memory_bytes.map(|bytes| format!(" --memory-bytes {bytes}")).unwrap_or_default();
        let debug = if self.debug { " --debug" } else { "" };
        let Self { megabytes, runs, .. } = self;
        format!("cargo xtask inputs --megabytes {megabytes} --runs {runs}{memory}{debug}")
    }
}

/// One publication.
struct Publication {
    seconds: f64,
    peak_mebibytes: f64,
    snapshot: String,
    rows: u64,
}

/// Publications of one form of the table.
struct InputFigures {
    form: &'static str,
    bytes: u64,
    rows: u64,
    seconds: f64,
    peak_mebibytes: f64,
}

/// Measures, prints the page and writes it below `target`.
pub(crate) fn run(repository: &Repository, args: &InputsArgs) -> Result<()> {
    let start = machine::MachineState::now(repository)?;
    repository.build_plugins()?;
    let profile = if args.debug { Profile::Debug } else { Profile::Release };
    let binary = args.binary.clone().map_or_else(|| repository.build_product(profile), Ok)?;
    let folder = repository.target().join("xtask/inputs");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let table = observations("observations", args.megabytes * 1_000_000, &folder.join("table"))?;
    // Read before the clock starts, so that no run pays for compiling the reader.
    let small = observations("small", 0, &folder.join("small"))?;
    let site = Site { binary, folder: folder.clone(), memory_bytes: args.memory_bytes };
    let (mut csv, mut sdmx) = (Vec::new(), Vec::new());
    for run in 0..=args.runs {
        let forms = [(&mut csv, &table.csv, &small.csv), (&mut sdmx, &table.sdmx, &small.sdmx)];
        for (publications, package, warm) in forms {
            let publication = site.publish(package, warm)?;
            ensure!(
                publication.rows == table.rows,
                "{} rows were published of {}",
                publication.rows,
                table.rows
            );
            if run > 0 {
                publications.push(publication);
            }
        }
    }
    let snapshots: Vec<&str> =
        csv.iter().chain(&sdmx).map(|publication| publication.snapshot.as_str()).collect();
    ensure!(
        snapshots.windows(2).all(|pair| pair[0] == pair[1]),
        "the same table is not the same snapshot: {snapshots:?}"
    );
    let figures = [
        InputFigures::new("CSV", table.csv_bytes, table.rows, &csv),
        InputFigures::new("SDMX-CSV", table.sdmx_bytes, table.rows, &sdmx),
    ];
    let page = page(&args.command(), &machine::line(&start), &figures, &table);
    println!("\n{page}");
    remove_tables(&folder)?;
    replace(&folder.join("inputs.md"), &page)
}

/// Deletes the gigabytes.
fn remove_tables(folder: &Path) -> Result<()> {
    for name in ["table", "small", "data", "temporary"] {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)
                .with_context(|| format!("cannot delete {}", path.display()))?;
        }
    }
    Ok(())
}

/// A place to publish in.
struct Site {
    binary: PathBuf,
    folder: PathBuf,
    memory_bytes: Option<u64>,
}

impl Site {
    /// Publishes `package` into a new data directory, in which `warm` was published before.
    fn publish(&self, package: &Path, warm: &Path) -> Result<Publication> {
        let (data, temporary) = (self.folder.join("data"), self.folder.join("temporary"));
        if data.exists() {
            fs::remove_dir_all(&data)
                .with_context(|| format!("cannot empty {}", data.display()))?;
        }
        fs::create_dir_all(&temporary)
            .with_context(|| format!("cannot make {}", temporary.display()))?;
        command::output(&mut self.command(warm, &data, &temporary))?;
        let mut publish = self.command(package, &data, &temporary);
        let MeasuredRun { seconds, peak_mebibytes, output } =
            MeasuredRun::run_to_end(&mut publish, &self.folder)?;
        let said: Value = serde_json::from_str(&output).context("yearbook answers no JSON")?;
        let snapshot = said["snapshot_id"].as_str().context("no snapshot")?.to_owned();
        let rows = said["rows"].as_u64().context("no number of rows")?;
        println!("  {seconds:.2} s, {peak_mebibytes:.0} MiB at most");
        Ok(Publication { seconds, peak_mebibytes, snapshot, rows })
    }

    fn command(&self, package: &Path, data: &Path, temporary: &Path) -> Command {
        let mut yearbook = Command::new(&self.binary);
        yearbook.arg("--data-dir").arg(data).arg("publish").arg(package).arg("--json");
        if let Some(bytes) = self.memory_bytes {
            yearbook.args(["--memory-bytes", &bytes.to_string()]);
        }
        yearbook.env("TMPDIR", temporary);
        yearbook
    }
}

impl InputFigures {
    fn new(form: &'static str, bytes: u64, rows: u64, publications: &[Publication]) -> Self {
        let seconds: Vec<f64> = publications.iter().map(|run| run.seconds).collect();
        let peaks = publications.iter().map(|run| run.peak_mebibytes);
        let peak_mebibytes = peaks.fold(0.0, f64::max);
        Self { form, bytes, rows, seconds: median(&seconds), peak_mebibytes }
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures of a page have three digits")]
fn page(
    command: &str,
    machine: &str,
    figures: &[InputFigures; 2],
    table: &ObservationPackages,
) -> String {
    let mut page = ReportPage::new("Formats of data packages", command, machine);
    page.text(&format!(
        "One table of {} rows is published as CSV and as SDMX-CSV, in turns.\n\
        Seconds are the median of the runs, memory is the most of any; the reader was compiled before.\n\
        Both are the same snapshot.",
        table.rows
    ));
    let headings = ["format", "MB", "rows", "seconds", "MB/s", "rows/s", "peak of memory, MiB"];
    let mut rows = ReportTable::of_figures(&headings);
    for InputFigures { form, bytes, rows: count, seconds, peak_mebibytes } in figures {
        let megabytes = *bytes as f64 / 1e6;
        rows.row([
            (*form).to_owned(),
            format_number(megabytes),
            count.to_string(),
            format_number(*seconds),
            format_number(megabytes / seconds),
            format_number(*count as f64 / seconds),
            format_number(*peak_mebibytes),
        ]);
    }
    page.table(&rows);
    let [csv, sdmx] = figures;
    let ratio = csv.seconds / sdmx.seconds;
    let met = if ratio >= TARGET { "met" } else { "missed" };
    page.text(&format!(
        "SDMX-CSV is published at {} of the speed of CSV (target {TARGET}: {met}).",
        format_number(ratio)
    ));
    page.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_compares_rows_a_second_of_the_same_table() {
        let figures = |form, bytes, seconds| InputFigures {
            form,
            bytes,
            rows: 100,
            seconds,
            peak_mebibytes: 250.0,
        };
        let table = ObservationPackages {
            sdmx: PathBuf::new(),
            csv: PathBuf::new(),
            sdmx_bytes: 0,
            csv_bytes: 0,
            rows: 100,
        };
        let text = |seconds| {
            let figures =
                [figures("CSV", 6_000_000, 2.0), figures("SDMX-CSV", 10_000_000, seconds)];
            page("cargo xtask inputs", "Machine: none.", &figures, &table)
        };
        assert!(text(4.0).contains("| SDMX-CSV | 10.0 | 100 | 4.00 | 2.50 | 25.0 | 250 |"));
        assert!(text(4.0).contains("at 0.50 of the speed of CSV (target 0.5: met)"));
        assert!(text(5.0).contains("at 0.40 of the speed of CSV (target 0.5: missed)"));
    }
}
