//! The time until an installed release of a plugin serves, by a running host.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use yearbook_generate::TableShape;
use yearbook_xtask::command;

use super::Bench;
use super::peers::YEARBOOK;
use crate::http;
use crate::machine;
use crate::measurements::{Measurements, median};
use crate::product::Product;

/// Longest time until an installed release serves; 2 s is promised.
const SERVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Interval between two requests for the release that serves.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Installs releases of csv that differ in nothing but their digest, and asks a running host until
/// it serves them.
pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let product = Product::new(binary, bench.folder.join("swaps"))?;
    let package = bench.folder.join("swapped");
    product.publish(&[yearbook_generate::package(1_000, TableShape::Long, false, &package)?])?;
    let key = product.key("enterprise")?;
    let server = product.serve(&machine::all(), true)?;
    let ask = server.ask("/v1/datasets/synthetic_long_1000/data?limit=1&format=csv", &key);
    let component = bench.repository.root().join("plugins/dist/csv.wasm");
    let component =
        fs::read(&component).with_context(|| format!("cannot read {}", component.display()))?;
    let (mut installs, mut waits) = (Vec::new(), Vec::new());
    for run in 0..=bench.args.runs {
        let file = bench.folder.join("release.wasm");
        // A custom section of six bytes that no other has: a name of one letter, and the number.
        let release = [&component[..], b"\x00\x06\x01n", &run.to_le_bytes()].concat();
        fs::write(&file, release).with_context(|| format!("cannot write {}", file.display()))?;
        // The entity tag names the release that made the bytes.
        let before = http::response_header(&ask, "etag")?;
        let begun = Instant::now();
        command::output(product.command().args(["plugin", "install", "--now"]).arg(&file))?;
        let installed = begun.elapsed();
        while http::response_header(&ask, "etag")? == before {
            ensure!(
                begun.elapsed() < installed + SERVE_TIMEOUT,
                "an installed release does not serve within {SERVE_TIMEOUT:?}"
            );
            sleep(POLL_INTERVAL);
        }
        if run > 0 {
            installs.push(installed.as_secs_f64() * 1e3);
            waits.push((begun.elapsed() - installed).as_secs_f64() * 1e3);
        }
    }
    let values = [("install_ms", median(&installs)), ("served_after_ms", median(&waits))];
    let case = "swap: install --now, until a running host serves it";
    figures.add("plugins", case, YEARBOOK, values);
    Ok(())
}
