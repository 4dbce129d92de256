//! Observations as SDMX-ML: a million of them beside writers of SDMX in Python, which write what
//! they were given in memory, and documents of the adapter for statistics.

use std::path::Path;

use anyhow::Result;
use yearbook_xtask::{command, demo};

use super::Bench;
use super::exports::ExportRuns;
use super::peers::YEARBOOK;
use crate::load::{LoadGenerator, LoadRuns};
use crate::machine;
use crate::measurements::Measurements;
use crate::process::MeasuredRun;
use crate::product::{self, Product};

/// Part of the figures of whole tables, and that of documents.
const PART: &str = "statistics";
const DOCUMENTS: &str = "statistics under load";

/// The one table, and its observations.
const TABLE: &str = "synthetic_long_1000000";
const OBSERVATIONS: u64 = 1_000_000;

/// Writers, and observations that they are given: they take some 100 µs for each.
const PEERS: [&str; 2] = ["sdmx1", "pysdmx"];
const GIVEN: u64 = 20_000;

/// Documents of the adapter, without a condition.
const GETS: [(&str, &str); 2] = [
    ("availability", "/api/sdmx/2.1/availableconstraint/SYNTHETIC_LONG_1000000"),
    ("structure", "/api/sdmx/2.1/datastructure/all/SYNTHETIC_LONG_1000000?references=children"),
];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let folder = bench.folder.join("statistics");
    let product = Product::new(binary, folder.join("data"))?;
    product.publish(&[demo::million_rows(bench.repository)?])?;
    let writer = bench.repository.root().join("plugins/dist/sdmx-ml.wasm");
    command::run(product.command().args(["plugin", "install", "--now"]).arg(writer))?;
    let key = product.key("enterprise")?;
    let cores = bench.args.cores();
    {
        let generator = LoadGenerator::new(bench.repository, cores.generator);
        let server = product.serve(&cores.server, false)?;
        let mut cases =
            GETS.map(|(name, path)| (name, server.ask(path, &key), LoadRuns::default()));
        for (_, ask, _) in &cases {
            generator.run(ask.into(), 1)?;
        }
        for _ in 0..bench.args.runs {
            for (_, ask, runs) in &mut cases {
                runs.run(&generator, &server.process, (&*ask).into(), bench.args.seconds)?;
            }
        }
        for (name, _, runs) in &cases {
            figures.add(DOCUMENTS, name, YEARBOOK, runs.values());
        }
    }
    let server = product.serve(&machine::all(), false)?;
    let data = format!("/v1/datasets/{TABLE}/data?start=0001-01-01&geometry=false&limit=0&format=");
    let mut asked = [
        ("csv", format!("{data}csv")),
        ("sdmx-ml, flat", format!("{data}sdmx-ml")),
        ("sdmx-ml, series", format!("{data}sdmx-ml&sdmx-ml.layout=series")),
    ]
    .map(|(name, path)| (name, server.ask(&path, &key), ExportRuns::default()));
    for run in 0..=bench.args.runs {
        for (_, ask, exports) in &mut asked {
            exports.run_once(&server.process, ask, run > 0)?;
        }
    }
    for (name, _, exports) in &asked {
        figures.add(PART, name, YEARBOOK, exports.values(OBSERVATIONS));
    }
    for who in PEERS {
        let mut peer = bench.script("sdmx_clients.py");
        peer.args([who, &server.process.base, TABLE])
            .args([GIVEN, bench.args.runs.into()].map(|number: u64| number.to_string()));
        peer.env("YEARBOOK_KEY", &key);
        let run = MeasuredRun::run_to_end(&mut peer, &folder)?;
        figures.add(PART, "sdmx-ml, series", who, run.speed(GIVEN)?);
        figures.note(Some(format!("{GIVEN} observations")));
    }
    product::empty(&folder)
}
