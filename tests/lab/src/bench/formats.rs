//! Formats that few programs write, each beside the writers that people use: Yearbook on one core
//! from what is stored to the last byte over HTTP, its peers on one thread from rows in memory to a
//! file.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use yearbook_generate::TableShape;
use yearbook_xtask::{command, demo};

use super::Bench;
use super::exports::ExportRuns;
use super::peers::YEARBOOK;
use super::tables::{LONG_ROWS, copy_renamed};
use crate::http;
use crate::measurements::Measurements;
use crate::process::MeasuredRun;
use crate::product::{self, Product};

/// Part of the figures.
const PART: &str = "formats";

/// Rows of the table with geometry.
const AREA_ROWS: u64 = 20_000;

/// Rows of a sheet: a peer takes half a minute for a million.
const SHEET_ROWS: u64 = 100_000;

/// Core of the server, whose other half of the work a client does on another.
const CORE: &str = "0";

/// A format, the table in it, its number of rows, and who writes it too.
struct Case {
    format: &'static str,
    table: &'static str,
    rows: u64,
    peers: &'static [&'static str],
}

const CASES: [Case; 6] = [
    Case { format: "geojson", table: "areas", rows: AREA_ROWS, peers: &["GDAL", "geopandas"] },
    Case { format: "geoparquet", table: "areas", rows: AREA_ROWS, peers: &["geopandas"] },
    Case { format: "xlsx", table: "long", rows: SHEET_ROWS, peers: &["xlsxwriter"] },
    Case { format: "ndjson", table: "long", rows: LONG_ROWS, peers: &["polars", "DuckDB"] },
    Case { format: "sdmx-csv", table: "long", rows: LONG_ROWS, peers: &["polars", "DuckDB"] },
    Case { format: "svg", table: "long", rows: LONG_ROWS, peers: &[] },
];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let folder = bench.folder.join("formats");
    let product = Product::new(binary, folder.join("data"))?;
    let areas =
        yearbook_generate::package(AREA_ROWS, TableShape::Spatial, false, &folder.join("areas"))?;
    let long = demo::million_rows(bench.repository)?;
    product.publish(&[
        copy_renamed(&areas, &areas, "areas", |_| ())?,
        copy_renamed(&long, &long.with_file_name("long.json"), "long", |_| ())?,
    ])?;
    for Case { format, .. } in &CASES {
        let plugin = bench.repository.root().join(format!("plugins/dist/{format}.wasm"));
        command::run(product.command().args(["plugin", "install", "--now"]).arg(plugin))?;
    }
    let key = product.key("enterprise")?;
    let server = product.serve(CORE, false)?;
    let ask = |table: &str, format: &str, rows: u64| {
        let path = format!("/v1/datasets/{table}/data?start=0001-01-01&limit={rows}");
        server.ask(&format!("{path}&format={format}"), &key)
    };
    for table in ["areas", "long"] {
        let rows = http::body(&ask(table, "parquet", LONG_ROWS))?;
        fs::write(folder.join(format!("{table}.parquet")), rows).context("cannot write a table")?;
    }
    let runs = bench.args.runs.to_string();
    for Case { format, table, rows, peers } in &CASES {
        let (own, mut exports) = (ask(table, format, *rows), ExportRuns::default());
        for run in 0..=bench.args.runs {
            exports.run_once(&server.process, &own, run > 0)?;
        }
        figures.add(PART, format, YEARBOOK, exports.values(*rows));
        for who in *peers {
            let mut peer = bench.script("formats.py");
            peer.args([who, format]).arg(folder.join(format!("{table}.parquet")));
            let run = MeasuredRun::run_to_end(
                peer.args([&rows.to_string(), &runs]).arg(&folder),
                &folder,
            )?;
            let megabytes = ("megabytes", run.figure("megabytes")?);
            figures.add(PART, format, who, run.speed(*rows)?.into_iter().chain([megabytes]));
        }
    }
    product::empty(&folder)
}
