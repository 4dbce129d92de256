//! Yearbook and its peers over HTTP: the same tables for all, the same rows from all, then requests
//! under load and whole tables.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::peers::{self, PeerServers};
use super::{Bench, equivalence, exports, requests, tables};
use crate::machine;
use crate::measurements::Measurements;
use yearbook_xtask::{command, demo};

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let (data_dir, exported) = (bench.folder.join("data"), bench.folder.join("tables"));
    tables::publish(bench, binary, &data_dir)?;
    let key = demo::enterprise_key(binary, &data_dir)?;
    fs::create_dir_all(&exported).with_context(|| format!("cannot make {}", exported.display()))?;
    {
        let server = peers::yearbook(bench, binary, &data_dir, &machine::all(), true)?;
        let mut prepare = super::script(bench, "prepare.py");
        command::run(
            prepare
                .args(["--base", &server.base])
                .arg("--out")
                .arg(&exported)
                .env("YEARBOOK_KEY", &key),
        )?;
    }
    {
        let all = PeerServers::start(
            bench,
            binary,
            &data_dir,
            &key,
            &exported,
            &bench.args.cores().server,
        )?;
        let mut cases = requests::cases(&all)?;
        let found = equivalence::check(bench, &exported, &cases)?;
        cases.extend(requests::minimal_cases(&all)?);
        requests::measure(bench, &all, &cases, &found, figures)?;
    }
    let all = PeerServers::start(bench, binary, &data_dir, &key, &exported, &machine::all())?;
    let cases = exports::cases(&all)?;
    let found = equivalence::check(bench, &exported, &cases)?;
    exports::measure(bench.args.runs, &all, &cases, &found, figures)
}
