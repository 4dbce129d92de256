//! Yearbook and its peers over HTTP: the same tables for all, the same rows from all, then requests
//! under load and whole tables.

use std::path::Path;

use anyhow::Result;
use yearbook_xtask::command;

use super::peers::PeerServers;
use super::{Bench, cases, equivalence, exports, requests, tables};
use crate::machine;
use crate::measurements::Measurements;
use crate::product::{self, Product};

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let exported = bench.folder.join("tables");
    let product = Product::new(binary, bench.folder.join("data"))?;
    product.publish(&tables::packages(bench)?)?;
    let key = product.key("enterprise")?;
    product::empty(&exported)?;
    {
        let server = product.serve(&machine::all(), true)?;
        let mut prepare = bench.script("prepare.py");
        prepare.args(["--base", &server.process.base]).arg("--out").arg(&exported);
        command::run(prepare.env("YEARBOOK_KEY", &key))?;
    }
    let start = |cores: &str| PeerServers::start(bench, &product, &key, &exported, cores);
    {
        let all = start(&bench.args.cores().server)?;
        let mut cases = cases::requests(&all)?;
        let found = equivalence::check(bench, &exported, &cases)?;
        cases.extend(cases::minimal_requests(&all)?);
        requests::measure(bench, &all, &cases, &found, figures)?;
    }
    let all = start(&machine::all())?;
    let cases = cases::exports(&all)?;
    let found = equivalence::check(bench, &exported, &cases)?;
    exports::measure(bench.args.runs, &all, &cases, &found, figures)
}
