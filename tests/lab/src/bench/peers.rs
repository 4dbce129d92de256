//! Yearbook and the peers that it is compared with, as servers. Owns how each is started; the cases
//! have the requests.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use yearbook_xtask::server;

use super::Bench;
use crate::http::HttpRequest;
use crate::process::MeasuredProcess;
use crate::product::Product;

pub(super) const YEARBOOK: &str = "Yearbook";
/// Yearbook with its cache of responses, where `Yearbook` has none.
pub(super) const CACHED: &str = "Yearbook, cached";
pub(super) const ROAPI: &str = "ROAPI";
pub(super) const DATASETTE: &str = "Datasette";
pub(super) const FASTAPI: &str = "FastAPI + DuckDB";

/// Time over which servers are looked at for whether they still work, and how often at most: some
/// need minutes for what they were asked in a second.
const SETTLING_STEP: Duration = Duration::from_millis(100);
const MAX_SETTLING_STEPS: u32 = 30;

/// All servers, running.
pub(super) struct PeerServers {
    key: String,
    servers: Vec<(&'static str, MeasuredProcess)>,
}

impl PeerServers {
    /// Servers that run already; `key` is for Yearbook.
    pub(super) fn new(key: &str, servers: Vec<(&'static str, MeasuredProcess)>) -> Self {
        Self { key: key.to_owned(), servers }
    }

    /// Starts all servers on `cores`. `tables` is the folder with what the peers serve: a Parquet
    /// file for each of `names`, and one SQLite file.
    pub(super) fn start(
        bench: &Bench<'_>,
        product: &Product,
        key: &str,
        tables: &Path,
        names: &[&str],
        cores: &str,
    ) -> Result<Self> {
        let servers = vec![
            (YEARBOOK, product.serve(cores, false)?.process),
            (CACHED, product.serve(cores, true)?.process),
            (ROAPI, roapi(bench, tables, names, cores)?),
            (DATASETTE, datasette(bench, tables, cores)?),
            (FASTAPI, fastapi(bench, tables, cores)?),
        ];
        Ok(Self::new(key, servers))
    }

    /// A running server.
    pub(super) fn get(&self, who: &str) -> Result<&MeasuredProcess> {
        let found = self.servers.iter().find(|(name, _)| *name == who);
        found.map(|(_, process)| process).with_context(|| format!("{who} is not running"))
    }

    /// Waits until no server works any more, for three seconds at most: a peer goes on with
    /// requests whose client has left, at the cost of whoever is asked next.
    pub(super) fn settle(&self) -> Result<()> {
        for _ in 0..MAX_SETTLING_STEPS {
            let times = || self.servers.iter().map(|(_, server)| server.cpu_time());
            let before = times().collect::<Result<Vec<_>>>()?;
            thread::sleep(SETTLING_STEP);
            let now = times().collect::<Result<Vec<_>>>()?;
            let worked: f64 =
                now.into_iter().zip(before).map(|(now, before)| now.since(before)).sum();
            if worked < SETTLING_STEP.as_secs_f64() / 10.0 {
                break;
            }
        }
        Ok(())
    }

    /// A request for a path, with the key where Yearbook is asked.
    pub(super) fn ask(&self, who: &str, path: &str) -> Result<HttpRequest> {
        let ask = HttpRequest::get(format!("{}{path}", self.get(who)?.base));
        Ok(if [YEARBOOK, CACHED].contains(&who) { ask.with("X-API-Key", &self.key) } else { ask })
    }
}

/// ROAPI with its tables in memory, which is its default.
fn roapi(bench: &Bench<'_>, tables: &Path, names: &[&str], cores: &str) -> Result<MeasuredProcess> {
    let [http, postgres, flight] =
        [server::free_address()?, server::free_address()?, server::free_address()?]
            .map(|address| address.to_string());
    let table = |name: &&str| -> Value {
        let uri = tables.join(format!("{name}.parquet"));
        json!({ "name": name, "uri": uri, "option": { "format": "parquet" } })
    };
    let config = json!({
        "addr": { "http": http, "postgres": postgres, "flight_sql": flight },
        "tables": names.iter().map(table).collect::<Vec<_>>(),
    });
    let path = bench.folder.join("roapi.yaml");
    // JSON is YAML.
    std::fs::write(&path, config.to_string())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut serve = Command::new(bench.python.with_file_name("roapi"));
    serve.arg("--config").arg(&path).env("RUST_LOG", "warn");
    serve.args(["--addr-http", &http, "--addr-postgres", &postgres, "--addr-flight-sql", &flight]);
    start(bench, &serve, cores, &http, "/health", "roapi.log")
}

/// Datasette on an immutable SQLite file, with limits that let it return what the others return.
fn datasette(bench: &Bench<'_>, tables: &Path, cores: &str) -> Result<MeasuredProcess> {
    let address = server::free_address()?;
    let mut serve = Command::new(bench.python.with_file_name("datasette"));
    serve.arg("serve").arg("--immutable").arg(tables.join("tables.db"));
    serve.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
    for (setting, value) in [
        ("sql_time_limit_ms", "60000"),
        ("max_returned_rows", "20000"),
        ("max_csv_mb", "0"),
        ("default_cache_ttl", "0"),
    ] {
        serve.args(["--setting", setting, value]);
    }
    start(bench, &serve, cores, &address.to_string(), "/-/versions.json", "datasette.log")
}

/// FastAPI over DuckDB, one worker of uvicorn.
fn fastapi(bench: &Bench<'_>, tables: &Path, cores: &str) -> Result<MeasuredProcess> {
    let address = server::free_address()?;
    let mut serve = Command::new(bench.python.with_file_name("uvicorn"));
    serve.args(["fastapi_duckdb:app", "--app-dir"]);
    serve.arg(bench.repository.root().join("tests/lab/peers"));
    serve.args(["--port", &address.port().to_string(), "--no-access-log"]);
    serve.args(["--log-level", "warning"]);
    serve.env("YEARBOOK_PEERS_TABLES", tables).env("PYTHONDONTWRITEBYTECODE", "1");
    start(bench, &serve, cores, &address.to_string(), "/datasets", "fastapi.log")
}

fn start(
    bench: &Bench<'_>,
    serve: &Command,
    cores: &str,
    address: &str,
    ready: &str,
    log: &str,
) -> Result<MeasuredProcess> {
    let base = format!("http://{address}");
    MeasuredProcess::start(serve, cores, base, ready, &bench.folder.join(log))
}
