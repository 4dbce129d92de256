//! Transforms: what an idle one costs, and what the built-in ones take beside pandas and DuckDB,
//! which calculate the same from a Parquet file. Scripts compare the rows of all.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::json;
use yearbook_xtask::{command, demo};

use super::Bench;
use super::exports::ExportRuns;
use super::peers::YEARBOOK;
use super::tables::{LONG_ROWS, copy_renamed, is_row, rewrite_file};
use crate::http;
use crate::load::{LoadGenerator, LoadRuns};
use crate::machine;
use crate::measurements::Measurements;
use crate::process::MeasuredRun;
use crate::product::{self, Product};

/// Part of the figures of whole tables.
const PART: &str = "transforms";

/// The million rows, and their values by date and series alone.
const TABLES: [&str; 2] = ["long", "panel"];

/// Transforms in the place of a calculation.
const IDLE: [(&str, &str); 2] = [("none", ""), ("idle", "&apply=idle")];

/// Calculations, their tables and queries, and who does them, too.
const CASES: [(&str, &str, &str, &[&str]); 4] = [
    ("growth", "long", "&apply=growth", &["pandas"]),
    ("resample", "long", "&apply=resample&resample.to=year&resample.partial=true", &["pandas"]),
    (
        "aggregate",
        "long",
        "&apply=aggregate&aggregate.by=date,region,industry",
        &["pandas", "DuckDB"],
    ),
    ("pivot", "panel", "&apply=pivot&pivot.column=series_code", &["pandas"]),
];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let folder = bench.folder.join("transforms");
    let product = Product::new(binary, folder.join("data"))?;
    product.publish(&packages(bench, &folder)?)?;
    let idle = bench.repository.root().join("plugins/dist/idle-transform.wasm");
    command::run(product.command().args(["plugin", "install", "--now"]).arg(idle))?;
    let key = product.key("enterprise")?;
    measure_requests(bench, &product, &key, figures)?;
    let server = product.serve(&machine::all(), false)?;
    let ask = |table: &str, format: &str, query: &str| {
        let path = format!("/v1/datasets/{table}/data?start=0001-01-01&limit=0");
        server.ask(&format!("{path}&format={format}{query}"), &key)
    };
    let idle = ["csv", "arrow"].into_iter().flat_map(|format| {
        IDLE.map(|(name, query)| (format!("{name}, {format}"), ask("long", format, query)))
    });
    let own = CASES.map(|(case, table, query, _)| (case.to_owned(), ask(table, "arrow", query)));
    let mut asked: Vec<_> =
        idle.chain(own).map(|(name, ask)| (name, ask, ExportRuns::default())).collect();
    for run in 0..=bench.args.runs {
        for (_, ask, exports) in &mut asked {
            exports.run_once(&server.process, ask, run > 0)?;
        }
    }
    for (name, _, exports) in &asked {
        figures.add(PART, name, YEARBOOK, exports.values(LONG_ROWS));
    }
    for table in TABLES {
        let rows = http::body(&ask(table, "parquet", ""))?;
        fs::write(folder.join(format!("{table}.parquet")), rows).context("cannot write a table")?;
    }
    let (runs, ours) = (bench.args.runs.to_string(), folder.join("ours.arrow"));
    for (case, table, query, peers) in CASES {
        fs::write(&ours, http::body(&ask(table, "arrow", query))?).context("cannot write rows")?;
        for who in peers {
            let mut peer = bench.script("transforms.py");
            peer.args([who, case]).arg(folder.join(format!("{table}.parquet")));
            let run = MeasuredRun::run_to_end(peer.arg(&runs).arg(&ours), &folder)?;
            let calculation = ("calculation_s", run.figure("calculation_s")?);
            figures.add(PART, case, who, run.speed(LONG_ROWS)?.into_iter().chain([calculation]));
        }
    }
    product::empty(&folder)
}

/// Answers of 100 rows under load, in turns.
fn measure_requests(
    bench: &Bench<'_>,
    product: &Product,
    key: &str,
    figures: &mut Measurements,
) -> Result<()> {
    let cores = bench.args.cores();
    let generator = LoadGenerator::new(bench.repository, cores.generator);
    let server = product.serve(&cores.server, false)?;
    let asks =
        IDLE.map(|(_, query)| server.ask(&format!("/v1/datasets/long/data?limit=100{query}"), key));
    let mut runs = IDLE.map(|_| LoadRuns::default());
    for ask in &asks {
        generator.run(ask.into(), 1)?;
    }
    for _ in 0..bench.args.runs {
        for (ask, runs) in asks.iter().zip(&mut runs) {
            runs.run(&generator, &server.process, ask.into(), bench.args.seconds)?;
        }
    }
    for ((name, _), runs) in IDLE.iter().zip(&runs) {
        figures.add("transforming", name, YEARBOOK, runs.values());
    }
    Ok(())
}

/// Packages of [`TABLES`].
fn packages(bench: &Bench<'_>, folder: &Path) -> Result<[PathBuf; 2]> {
    let generated = demo::million_rows(bench.repository)?;
    let rows = generated.with_file_name(format!("synthetic_long_{LONG_ROWS}.csv"));
    let [long, panel] = TABLES;
    let kept = [0, 1, 2, 6];
    rewrite_file(&rows, &folder.join("panel/panel.csv"), |line| {
        let is_head = line.starts_with("date,");
        let mut quoted = false;
        let is_end = |letter| {
            quoted ^= letter == '"';
            letter == ',' && !quoted
        };
        let cells: Vec<&str> = line.split(is_end).collect();
        let cells: Vec<&str> = kept.iter().filter_map(|&at| cells.get(at).copied()).collect();
        // What is no row goes on with a note.
        *line = if is_head || is_row(line) { cells.join(",") + "\n" } else { String::new() };
    })?;
    Ok([
        copy_renamed(&generated, &generated.with_file_name("long.json"), long, |_| ())?,
        copy_renamed(&generated, &folder.join("panel/datapackage.json"), panel, |descriptor| {
            let resource = &mut descriptor["resources"][0];
            resource["path"] = json!("panel.csv");
            let fields = &mut resource["schema"]["fields"];
            *fields = kept.map(|at| fields[at].clone()).into();
            descriptor["yearbook"]["dimensions"] = json!(["series_code"]);
        })?,
    ])
}
