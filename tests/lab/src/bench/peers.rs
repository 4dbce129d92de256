//! Yearbook and the peers that it is compared with, as servers. Owns how each is started; the cases
//! have the requests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::Bench;
use crate::process::MeasuredProcess;
use yearbook_xtask::server;

pub(super) const YEARBOOK: &str = "Yearbook";
/// Yearbook with its cache of responses, where `Yearbook` has none.
pub(super) const CACHED: &str = "Yearbook, cached";
pub(super) const ROAPI: &str = "ROAPI";
pub(super) const DATASETTE: &str = "Datasette";
pub(super) const FASTAPI: &str = "FastAPI + DuckDB";

/// The setting that bounds the cache of responses, which can be left out of a measurement.
const RESPONSE_CACHE: &str = "YEARBOOK_SERVER__RESPONSE_CACHE_BYTES";

/// All servers, running.
pub(super) struct PeerServers {
    pub(super) key: String,
    servers: Vec<(&'static str, MeasuredProcess)>,
}

impl PeerServers {
    /// Starts all servers on `cores`. `tables` is the folder with what the peers serve.
    pub(super) fn start(
        bench: &Bench<'_>,
        binary: &Path,
        data_dir: &Path,
        key: &str,
        tables: &Path,
        cores: &str,
    ) -> Result<Self> {
        let mut servers = Vec::new();
        let has_cache = supports_setting(binary, data_dir, RESPONSE_CACHE);
        servers.push((YEARBOOK, yearbook(bench, binary, data_dir, cores, !has_cache)?));
        if has_cache {
            servers.push((CACHED, yearbook(bench, binary, data_dir, cores, true)?));
        }
        servers.push((ROAPI, roapi(bench, tables, cores)?));
        servers.push((DATASETTE, datasette(bench, tables, cores)?));
        servers.push((FASTAPI, fastapi(bench, tables, cores)?));
        Ok(Self { key: key.to_owned(), servers })
    }

    /// A running server.
    pub(super) fn get(&self, who: &str) -> Result<&MeasuredProcess> {
        let found = self.servers.iter().find(|(name, _)| *name == who);
        found.map(|(_, process)| process).with_context(|| format!("{who} is not running"))
    }

    /// Returns true if it runs.
    pub(super) fn has(&self, who: &str) -> bool {
        self.servers.iter().any(|(name, _)| *name == who)
    }
}

/// Yearbook without burst limits; its cache of responses, if it has one, as it comes or switched
/// off.
pub(super) fn yearbook(
    bench: &Bench<'_>,
    binary: &Path,
    data_dir: &Path,
    cores: &str,
    cached: bool,
) -> Result<MeasuredProcess> {
    let address = server::free_address()?;
    let mut serve = Command::new(binary);
    serve.arg("serve").args(["--listen", &address.to_string()]).arg("--data-dir").arg(data_dir);
    serve.env("YEARBOOK_LIMITS__BURST_PER_SECOND", "0");
    if !cached {
        serve.env(RESPONSE_CACHE, "0");
    }
    let log = bench.folder.join(format!("yearbook-{}.log", address.port()));
    MeasuredProcess::start(&serve, cores, format!("http://{address}"), "/health", &log)
}

/// Returns true if the binary has a setting. It refuses those that it does not know.
fn supports_setting(binary: &Path, data_dir: &Path, variable: &str) -> bool {
    Command::new(binary)
        .arg("--data-dir")
        .arg(data_dir)
        .arg("doctor")
        .env(variable, "0")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// ROAPI with its tables in memory, which is its default.
fn roapi(bench: &Bench<'_>, tables: &Path, cores: &str) -> Result<MeasuredProcess> {
    let [http, postgres, flight] =
        [server::free_address()?, server::free_address()?, server::free_address()?];
    let list: Vec<_> = ["long", "areas", "places", "boundaries", "datasets"]
        .map(|name| json!({ "name": name, "uri": tables.join(format!("{name}.parquet")), "option": { "format": "parquet" } }))
        .into();
    let config = json!({
        "addr": { "http": http.to_string(), "postgres": postgres.to_string(), "flight_sql": flight.to_string() },
        "tables": list,
    });
    let path = bench.folder.join("roapi.yaml");
    // JSON is YAML.
    std::fs::write(&path, config.to_string())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut serve = Command::new(bench.python.with_file_name("roapi"));
    serve.arg("--config").arg(&path).env("RUST_LOG", "warn");
    serve.args([
        "--addr-http",
        &http.to_string(),
        "--addr-postgres",
        &postgres.to_string(),
        "--addr-flight-sql",
        &flight.to_string(),
    ]);
    MeasuredProcess::start(
        &serve,
        cores,
        format!("http://{http}"),
        "/health",
        &bench.folder.join("roapi.log"),
    )
}

/// Datasette on an immutable SQLite file, with limits that let it return what the others return.
fn datasette(bench: &Bench<'_>, tables: &Path, cores: &str) -> Result<MeasuredProcess> {
    let address = server::free_address()?;
    let mut serve = Command::new(bench.python.with_file_name("datasette"));
    serve.arg("serve").arg("--immutable").arg(tables.join("tables.db"));
    serve.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
    for setting in [
        ("sql_time_limit_ms", "60000"),
        ("max_returned_rows", "2000"),
        ("max_csv_mb", "0"),
        ("default_cache_ttl", "0"),
    ] {
        serve.args(["--setting", setting.0, setting.1]);
    }
    MeasuredProcess::start(
        &serve,
        cores,
        format!("http://{address}"),
        "/-/versions.json",
        &bench.folder.join("datasette.log"),
    )
}

/// FastAPI over DuckDB, one worker of uvicorn.
fn fastapi(bench: &Bench<'_>, tables: &Path, cores: &str) -> Result<MeasuredProcess> {
    let address = server::free_address()?;
    let mut serve = Command::new(bench.python.with_file_name("uvicorn"));
    serve
        .args(["fastapi_duckdb:app", "--app-dir"])
        .arg(bench.repository.root().join("tests/lab/peers"));
    serve.args([
        "--port",
        &address.port().to_string(),
        "--no-access-log",
        "--log-level",
        "warning",
    ]);
    serve.env("YEARBOOK_PEERS_TABLES", tables).env("PYTHONDONTWRITEBYTECODE", "1");
    MeasuredProcess::start(
        &serve,
        cores,
        format!("http://{address}"),
        "/datasets",
        &bench.folder.join("fastapi.log"),
    )
}
