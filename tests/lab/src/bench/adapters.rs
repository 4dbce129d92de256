//! Adapters: documents from memory beside `/health`, and such as are made for each request, with
//! the processor time that each takes.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use yearbook_xtask::demo;

use super::Bench;
use super::peers::YEARBOOK;
use crate::load::{LoadGenerator, LoadRuns};
use crate::measurements::Measurements;
use crate::product::{self, Product};

/// Part of the figures.
const PART: &str = "adapters";

/// The one table.
const TABLE: &str = "synthetic_long_1000000";

/// Requests without a body.
const GETS: [(&str, &str); 3] = [
    ("/health", "/health"),
    ("a document from memory", "/api/ogc/collections?f=json"),
    ("10 rows of /v1", "/v1/datasets/synthetic_long_1000000/data?limit=10"),
];

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let folder = bench.folder.join("adapters");
    let product = Product::new(binary, folder.join("data"))?;
    product.publish(&[demo::million_rows(bench.repository)?])?;
    let key = product.key("enterprise")?;
    let cores = bench.args.cores();
    let generator = LoadGenerator::new(bench.repository, cores.generator);
    // Rows are made each time, documents without a body kept.
    let server = product.serve(&cores.server, true)?;
    let call = |tool: &str, arguments: Value| {
        let parameters = json!({"name": tool, "arguments": arguments});
        ("tools/call", parameters)
    };
    // Answers to POST are in no memory.
    let posts = [
        ("an answer without a fact, made", ("ping", json!({}))),
        ("20 kB without a fact, made", ("tools/list", json!({}))),
        ("a dataset's facts, made", call("describe_dataset", json!({"dataset": TABLE}))),
        ("10 rows as facts, made", call("get_data", json!({"dataset": TABLE, "limit": 10}))),
    ];
    let gets = GETS.map(|(name, path)| (name, server.ask(path, &key)));
    let posts = posts.map(|(name, (method, parameters))| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        let mut ask = server.ask("/api/mcp", &key).with("Content-Type", "application/json");
        ask = ask.with("Accept", "application/json, text/event-stream");
        ask.body = Some(message.to_string());
        (name, ask)
    });
    let mut cases: Vec<_> =
        gets.into_iter().chain(posts).map(|(name, ask)| (name, ask, LoadRuns::default())).collect();
    for (_, ask, _) in &cases {
        generator.run(ask.into(), 1)?;
    }
    for _ in 0..bench.args.runs {
        for (_, ask, runs) in &mut cases {
            runs.run(&generator, &server.process, (&*ask).into(), bench.args.seconds)?;
        }
    }
    for (name, _, runs) in &cases {
        figures.add(PART, name, YEARBOOK, runs.values());
    }
    product::empty(&folder)
}
