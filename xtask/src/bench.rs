//! `cargo xtask bench`: measures the release build and writes `docs/benchmarks.md`. Owns the page;
//! what is measured stands in the files beneath.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::repository::{Profile, Repository};
use crate::server::{self, Server};
use crate::{command, demo};

mod downloads;
mod encode;
mod load;
mod machine;

/// Measures, each HTTP measurement for `seconds`, and replaces the page.
pub(crate) fn run(repository: &Repository, seconds: u32) -> Result<()> {
    load::ensure_wrk()?;
    repository.build_plugins()?;
    let encode = encode::table(repository)?;
    let binary = repository.build_product(Profile::Release)?;
    let folder = repository.target().join("xtask").join("bench");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let data_dir = folder.join("data");
    fs::create_dir_all(&data_dir).with_context(|| format!("cannot make {}", data_dir.display()))?;
    let generated = demo::million_rows(repository)?;
    command::run(Command::new(&binary).arg("--data-dir").arg(&data_dir).arg("publish").arg(&generated))?;
    let key = demo::enterprise_key(&binary, &data_dir)?;

    let unlimited = [("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")];
    let log = folder.join("server.log");
    let mut server = Server::start(&binary, &data_dir, server::free_address()?, Some(&log), &unlimited)?;
    let dataset = format!("{}/v1/datasets/synthetic_long_{}", server.base(), demo::ROWS);
    let requests = load::table(&dataset, &key, seconds)?;
    let whole = downloads::table(&dataset, &key, demo::ROWS, server.id())?;
    server.stop()?;

    let page = page(&machine::line(repository)?, seconds, &encode, &requests, &whole);
    let path = repository.root().join("docs/benchmarks.md");
    write(&path, &page)?;
    println!("\n{page}\nwritten to {}", path.display());
    Ok(())
}

fn write(path: &Path, page: &str) -> Result<()> {
    fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))
}

fn page(machine: &str, seconds: u32, encode: &str, requests: &str, whole: &str) -> String {
    format!(
        "# Benchmarks\n\
        Made by `cargo xtask bench --seconds {seconds}`, which replaces this page. {machine}\n\n\
        The table is `cargo xtask generate rows {rows} --shape long`: ten columns, synthetic; one value in five with every digit of a float, notes with quotes and scripts beyond ASCII.\n\n\
        ## Encoding: native and in the sandbox\n\
        {encode}\n\
        ## Requests a second\n\
        `wrk`, on the machine of the server, 16 connections. 100 rows go through a fresh sandbox at every request; nothing is cached.\n\n\
        {requests}\n\
        ## The whole table\n\
        One `curl` after the other, loopback. Memory is the server's highest resident size during the download, less what it held when idle.\n\n\
        {whole}",
        rows = demo::ROWS,
    )
}
