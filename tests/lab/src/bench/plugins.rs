//! The cost of plugins: instances, crossing and loading, by the benchmark `plugins` of this
//! package, which prints JSON; and the time until an installed release serves, by a running host.
//! Owns the second and the names of its numbers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::peers::YEARBOOK;
use super::{Bench, tables};
use crate::http;
use crate::http::HttpRequest;
use crate::measurements::{Measurements, median};
use yearbook_generate::TableShape;
use yearbook_xtask::command;
use yearbook_xtask::demo;
use yearbook_xtask::server::{self, ServerProcess};

/// Part of every figure here.
pub(super) const PART: &str = "plugins";

/// Names of values that the benchmark may print: they become columns.
pub(super) const VALUES: [&str; 8] = [
    "p50_us",
    "p99_us",
    "million_rows_a_second",
    "crossing_percent",
    "compiled_ms",
    "cached_ms",
    "install_ms",
    "served_after_ms",
];

/// Longest time until an installed release serves; 2 s is promised.
const SERVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval between two requests for the release that serves.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Instances, crossing and loading.
pub(super) fn measure(bench: &Bench<'_>, figures: &mut Measurements) -> Result<()> {
    let mut run = bench.repository.cargo();
    run.args(["bench", "--workspace", "--bench", "plugins"]);
    run.env("YEARBOOK_BENCH_RUNS", bench.args.runs.to_string());
    println!("-- plugins: nothing is printed until it is done");
    let printed = command::output(&mut run)?;
    let (_, lines) =
        printed.split_once("---\n").context("the plugin benchmark printed no results")?;
    for line in lines.lines() {
        let line: Map<String, Value> = serde_json::from_str(line)
            .with_context(|| format!("the plugin benchmark printed {line:?}"))?;
        let case = line.get("case").and_then(Value::as_str).context("a result without a case")?;
        let values = VALUES.into_iter().filter_map(|name| Some((name, line.get(name)?.as_f64()?)));
        figures.add(PART, case, YEARBOOK, values);
    }
    Ok(())
}

/// Installs releases of csv that differ in nothing but their digest, and asks a running host until
/// it serves them.
pub(super) fn measure_swaps(
    bench: &Bench<'_>,
    binary: &Path,
    figures: &mut Measurements,
) -> Result<()> {
    let data_dir = bench.folder.join("swaps");
    let package =
        yearbook_generate::package(1_000, TableShape::Long, false, &bench.folder.join("swapped"))?;
    tables::published(binary, &data_dir, &[package])?;
    let key = demo::enterprise_key(binary, &data_dir)?;
    let log = bench.folder.join("swaps.log");
    let settings = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];
    let server =
        ServerProcess::start(binary, &data_dir, server::free_address()?, Some(&log), &settings)?;
    let ask = HttpRequest::get(format!(
        "{}/v1/datasets/synthetic_long_1000/data?limit=1&format=csv",
        server.base()
    ))
    .with("X-API-Key", &key);
    let component = bench.repository.root().join("plugins/dist/csv.wasm");
    let component =
        fs::read(&component).with_context(|| format!("cannot read {}", component.display()))?;
    let (mut installs, mut waits) = (Vec::new(), Vec::new());
    for run in 0..=bench.args.runs {
        let file = bench.folder.join("release.wasm");
        fs::write(&file, with_marker_section(&component, run))
            .with_context(|| format!("cannot write {}", file.display()))?;
        // The entity tag names the release that made the bytes.
        let before = http::response_header(&ask, "etag")?;
        let begun = Instant::now();
        command::output(
            Command::new(binary)
                .arg("--data-dir")
                .arg(&data_dir)
                .args(["plugin", "install", "--now"])
                .arg(&file),
        )?;
        let installed = begun.elapsed();
        while http::response_header(&ask, "etag")? == before {
            if begun.elapsed() > installed + SERVE_TIMEOUT {
                bail!("an installed release does not serve within {SERVE_TIMEOUT:?}");
            }
            sleep(POLL_INTERVAL);
        }
        if run > 0 {
            installs.push(installed.as_secs_f64() * 1e3);
            waits.push((begun.elapsed() - installed).as_secs_f64() * 1e3);
        }
    }
    let values = [("install_ms", median(&installs)), ("served_after_ms", median(&waits))];
    figures.add(PART, "swap: install --now, until a running host serves it", YEARBOOK, values);
    Ok(())
}

/// The same component with a custom section that no other has.
fn with_marker_section(component: &[u8], number: u32) -> Vec<u8> {
    // A custom section of six bytes: a name of one letter, and the number.
    [component, b"\x00\x06\x01n", &number.to_le_bytes()].concat()
}
