//! Encoding alone, measured by the benchmark `encode` of this package, which prints JSON. Owns how
//! it is run and the names of its numbers.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::Bench;
use crate::measurements::Measurements;
use yearbook_xtask::command;

/// One line of the benchmark.
#[derive(Deserialize)]
struct EncodeResult {
    format: String,
    table: String,
    rows: f64,
    who: String,
    cannot: Option<String>,
    seconds: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    bytes: Option<f64>,
}

pub(super) fn measure(bench: &Bench<'_>, figures: &mut Measurements) -> Result<()> {
    let mut run = bench.repository.cargo();
    run.args(["bench", "--workspace", "--bench", "encode"]);
    run.env("YEARBOOK_PEERS_PYTHON", &bench.python)
        .env("YEARBOOK_BENCH_RUNS", bench.args.runs.to_string());
    println!("-- encode: some minutes; nothing is printed until it is done");
    let printed = command::output(&mut run)?;
    let (_, lines) =
        printed.split_once("---\n").context("the encode benchmark printed no results")?;
    for line in lines.lines() {
        let line: EncodeResult = serde_json::from_str(line)
            .with_context(|| format!("the encode benchmark printed {line:?}"))?;
        let case = format!("{} {}", line.format, line.table);
        if let Some(reason) = line.cannot {
            figures.add_unsupported("encode", &case, &line.who, &reason);
            continue;
        }
        let known = |value: Option<f64>| value.context("a result without a number");
        let seconds = known(line.seconds)?;
        let values = [
            ("rows", line.rows),
            ("seconds", seconds),
            ("least_seconds", known(line.least)?),
            ("most_seconds", known(line.most)?),
            ("megabytes", known(line.bytes)? / 1e6),
            ("million_rows_a_second", line.rows / seconds / 1e6),
        ];
        figures.add("encode", &case, &line.who, values);
    }
    Ok(())
}
