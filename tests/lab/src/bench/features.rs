//! Features as GeoJSON: the adapter of OGC API Features beside pygeoapi and tipg, the same rows
//! from all. Owns how both are given the rows and are started.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use yearbook_xtask::checks::postgres::Postgres;
use yearbook_xtask::{command, server, tools};

use super::peers::{PeerServers, YEARBOOK};
use super::{Bench, ServedTables, tables};
use crate::load::{LoadGenerator, LoadRuns};
use crate::machine;
use crate::measurements::Measurements;
use crate::process::MeasuredProcess;
use crate::product;

/// Part of the figures.
const PART: &str = "features";

/// Features of an answer.
const FEATURES: u64 = 100;

const PYGEOAPI_POSTGIS: &str = "pygeoapi over PostGIS";
const PYGEOAPI_PARQUET: &str = "pygeoapi over GeoParquet";
const TIPG: &str = "tipg over PostGIS";

pub(super) fn measure(bench: &Bench<'_>, binary: &Path, figures: &mut Measurements) -> Result<()> {
    let programs = tools::postgres()?;
    ensure_postgis(&programs)?;
    let package = tables::areas(bench)?;
    let served = ServedTables::new(bench, binary, "featured", &[package], &["areas"])?;
    let folder = bench.folder.join("features");
    product::empty(&folder)?;
    let database = Postgres::start(&programs)?;
    let (sockets, port) = socket(&database.url())?;
    let mut load = bench.script("features.py");
    load.arg("load").args([&served.exported, &folder]).args([&sockets, &port]);
    command::run(&mut load)?;
    let cores = bench.args.cores().server;
    let peers = vec![
        (YEARBOOK, served.product.serve(&cores, false)?.process),
        (PYGEOAPI_POSTGIS, pygeoapi(bench, &folder, "postgis", &cores)?),
        (PYGEOAPI_PARQUET, pygeoapi(bench, &folder, "parquet", &cores)?),
        (TIPG, tipg(bench, &folder, &sockets, &port, &cores)?),
    ];
    let all = PeerServers::new(&served.key, peers);
    let paths = [
        (YEARBOOK, format!("/api/ogc/collections/areas/items?limit={FEATURES}&f=json")),
        (PYGEOAPI_POSTGIS, format!("/collections/areas/items?limit={FEATURES}&f=json")),
        (PYGEOAPI_PARQUET, format!("/collections/areas/items?limit={FEATURES}&f=json")),
        (TIPG, format!("/collections/public.areas/items?limit={FEATURES}&f=geojson")),
    ];
    let asked: Vec<_> =
        paths.iter().map(|(who, path)| Ok((*who, all.ask(who, path)?))).collect::<Result<_>>()?;
    let mut same = bench.script("features.py");
    same.arg("same").args(asked.iter().map(|(_, ask)| &ask.url)).env("YEARBOOK_KEY", &served.key);
    command::run(&mut same)?;
    let generator = LoadGenerator::new(bench.repository, bench.args.cores().generator);
    let mut peers = Vec::new();
    for (who, ask) in &asked {
        // Warms up.
        generator.run(ask.into(), 1)?;
        peers.push((*who, ask, LoadRuns::default()));
    }
    for _ in 0..bench.args.runs {
        for (who, ask, runs) in &mut peers {
            runs.run(&generator, all.get(who)?, (*ask).into(), bench.args.seconds)?;
        }
    }
    for (who, _, runs) in &peers {
        // The processor time of a peer is that of several processes, and of the database.
        let [rate, median, slowest, _] = runs.values();
        let name = format!("{FEATURES} areas as features");
        figures.add(PART, &name, who, [rate, median, slowest]);
    }
    Ok(())
}

/// PostGIS for the server whose programs are in `programs`.
fn ensure_postgis(programs: &Path) -> Result<()> {
    let version = programs.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let version = version.context("PostgreSQL's folder has no version in its name")?;
    let control = format!("/usr/share/postgresql/{version}/extension/postgis.control");
    let package = format!("postgresql-{version}-postgis-3");
    tools::ensure_packages("features in PostGIS", &[&package], || Path::new(&control).exists())
}

/// Folder and port of the socket in an address of the server.
fn socket(url: &str) -> Result<(String, String)> {
    let parts = url.split_once("localhost:").and_then(|(_, rest)| rest.split_once("/postgres"));
    match parts.and_then(|(port, rest)| Some((rest.strip_prefix("?host=")?, port))) {
        Some((folder, port)) => Ok((folder.to_owned(), port.to_owned())),
        None => bail!("{url} names no socket"),
    }
}

/// pygeoapi as its container image has it, with a process for each core.
fn pygeoapi(bench: &Bench<'_>, folder: &Path, kind: &str, cores: &str) -> Result<MeasuredProcess> {
    let (config, described) =
        (folder.join(kind).with_extension("yml"), folder.join(kind).with_extension("json"));
    let variables = [("PYGEOAPI_CONFIG", &config), ("PYGEOAPI_OPENAPI", &described)];
    let mut generate = Command::new(bench.python.with_file_name("pygeoapi"));
    generate.args(["openapi", "generate", "--format", "json", "--output-file"]);
    command::output(generate.arg(&described).arg(&config).envs(variables))?;
    let address = server::free_address()?.to_string();
    let mut serve = Command::new(bench.python.with_file_name("gunicorn"));
    serve.args(["--workers", &machine::cores().to_string(), "--worker-class", "gevent"]);
    serve.args(["--no-control-socket", "--bind", &address, "pygeoapi.flask_app:APP"]);
    serve.envs(variables);
    let log = folder.join(kind).with_extension("log");
    MeasuredProcess::start(&serve, cores, format!("http://{address}"), "/conformance?f=json", &log)
}

/// tipg, with a process for each core.
fn tipg(
    bench: &Bench<'_>,
    folder: &Path,
    sockets: &str,
    port: &str,
    cores: &str,
) -> Result<MeasuredProcess> {
    let address = server::free_address()?;
    let mut serve = Command::new(bench.python.with_file_name("uvicorn"));
    serve.args(["tipg.main:app", "--workers", &machine::cores().to_string()]);
    serve.args(["--port", &address.port().to_string(), "--no-access-log"]);
    serve.args(["--log-level", "warning"]);
    let host = sockets.replace('/', "%2F");
    serve.env("DATABASE_URL", format!("postgresql://yearbook@{host}:{port}/postgres"));
    let (base, log) = (format!("http://{address}"), folder.join("tipg.log"));
    MeasuredProcess::start(&serve, cores, base, "/conformance", &log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_read_from_an_address() {
        let found = socket("postgres://yearbook@localhost:5433/postgres?host=/tmp/a").ok();
        assert_eq!(found, Some(("/tmp/a".to_owned(), "5433".to_owned())));
        assert!(socket("postgres://yearbook@localhost:5433/postgres").is_err());
    }
}
