//! `cargo xtask demo`: from a clone to a running service with real data in it. Owns its datasets
//! and its output; may be run again on the same data directory.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use yearbook_generate::TableShape;

use crate::repository::{Profile, Repository};
use crate::server::{self, ServerProcess};
use crate::{command, packages, toolchain};

pub mod keys;
mod requests;

/// Rows of the generated table: enough that streaming shows.
pub const ROWS: u64 = 1_000_000;

/// Formats that are not part of the binary.
const FORMATS: [&str; 8] =
    ["ndjson", "geojson", "geoparquet", "mvt", "xlsx", "sdmx-csv", "sdmx-ml", "json-stat"];

/// Arguments of `cargo xtask demo`.
#[derive(Debug)]
pub(crate) struct DemoArgs {
    pub(crate) listen: SocketAddr,
    pub(crate) data_dir: PathBuf,
    pub(crate) no_serve: bool,
    pub(crate) debug: bool,
}

pub(crate) fn run(repository: &Repository, args: &DemoArgs) -> Result<()> {
    if !args.no_serve {
        // Said before anything is built.
        server::check_free(args.listen)?;
    }
    heading("1 of 4: build (a quarter of an hour on two cores the first time)");
    toolchain::ensure_target(repository.root())?;
    let binary = build(repository, if args.debug { Profile::Debug } else { Profile::Demo })?;
    println!(
        "The program is {}. To call it by its name:\n  {}",
        binary.display(),
        shell_name(&binary)
    );

    heading(
        "2 of 4: publish the demo datasets and a made-up table of a million rows, install more formats",
    );
    let mut descriptors = packages::descriptors(&repository.root().join("datasets"))?;
    descriptors.push(million_rows(repository)?);
    let published = published_datasets(&binary, &args.data_dir)?;
    let descriptors =
        packages::unpublished(&descriptors, |name| published.iter().any(|known| known == name));
    // One after the other: a dataset's versions must be committed in their order.
    command::run(yearbook(&binary, &args.data_dir).arg("publish").args(&descriptors))?;

    install_formats(repository, &binary, &args.data_dir)?;

    heading("3 of 4: keys");
    let keys = keys::ensure(&binary, &args.data_dir)?;
    println!("enterprise  {}", keys.enterprise.key);
    println!("free        {}  (10 requests a month)", keys.free.key);

    if args.no_serve {
        println!(
            "\nServe it with:\n  {} serve --listen {} --data-dir {}",
            binary.display(),
            args.listen,
            args.data_dir.display()
        );
        return Ok(());
    }
    heading("4 of 4: serve");
    serve(&binary, args, &keys)
}

/// Builds guests and host at the same time. The build script of the program wants the guests too,
/// but cargo runs it last, when the largest guest would keep one core busy for two minutes and
/// leave the other idle.
fn build(repository: &Repository, profile: Profile) -> Result<PathBuf> {
    thread::scope(|scope| {
        let guests = scope.spawn(|| repository.build_plugins());
        let binary = repository.build_product(profile);
        guests.join().map_err(|_| anyhow!("building the plugins panicked"))??;
        binary
    })
}

/// Installs [`FORMATS`] as they were built last, and has them serve at once.
pub(crate) fn install_formats(
    repository: &Repository,
    binary: &Path,
    data_dir: &Path,
) -> Result<()> {
    for format in FORMATS {
        let component = repository.root().join("plugins/dist").join(format).with_extension("wasm");
        command::run(
            yearbook(binary, data_dir).args(["plugin", "install", "--now"]).arg(component),
        )?;
    }
    Ok(())
}

/// The generated package, made once for all clones: it is the same at every run.
///
/// # Errors
/// Fails when a file cannot be written.
pub fn million_rows(repository: &Repository) -> Result<PathBuf> {
    let folder = repository.cache_dir().join("generated").join(format!("long_{ROWS}"));
    let descriptor = folder.join("datapackage.json");
    // The descriptor is written last, so that a table cut short is made again.
    if descriptor.exists() {
        return Ok(descriptor);
    }
    println!("making {ROWS} synthetic rows …");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    yearbook_generate::package(ROWS, TableShape::Long, false, &folder)
}

/// A new key of `plan` for the data in `data_dir`.
///
/// # Errors
/// Fails when the key cannot be issued.
pub fn key(binary: &Path, data_dir: &Path, plan: &str) -> Result<String> {
    Ok(keys::create(yearbook(binary, data_dir), plan)?.key)
}

/// Names of the datasets that are published already.
fn published_datasets(binary: &Path, data_dir: &Path) -> Result<Vec<String>> {
    let text = command::output(yearbook(binary, data_dir).args(["datasets", "list", "--json"]))?;
    let listed: Vec<Value> = serde_json::from_str(&text)
        .with_context(|| format!("`yearbook datasets list --json` printed {text:?}"))?;
    Ok(listed.iter().filter_map(|dataset| dataset["name"].as_str().map(str::to_owned)).collect())
}

/// The binary on a data directory.
fn yearbook(binary: &Path, data_dir: &Path) -> Command {
    let mut command = Command::new(binary);
    command.arg("--data-dir").arg(data_dir);
    command
}

/// A line for a shell, after which `yearbook` is `binary`.
fn shell_name(binary: &Path) -> String {
    format!("export PATH=\"{}:$PATH\"", binary.parent().unwrap_or(Path::new(".")).display())
}

/// Serves until the server ends or Ctrl-C is pressed, on which the server is stopped.
///
/// # Errors
/// Fails when the server cannot be started, or has ended with an error.
fn serve(binary: &Path, args: &DemoArgs, keys: &keys::DemoKeys) -> Result<()> {
    let [asked_to_end, interrupted] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    // Ctrl-C reaches the server itself: the signal of `stop` would be its second, at which it cuts
    // what it still sends.
    let flags = [(SIGHUP, &asked_to_end), (SIGINT, &interrupted), (SIGTERM, &asked_to_end)];
    for (signal, flag) in flags {
        signal_hook::flag::register(signal, Arc::clone(flag)).context("cannot watch for Ctrl-C")?;
    }
    let mut server = ServerProcess::start(binary, &args.data_dir, args.listen, None, &[])?;
    println!(
        "{}",
        requests::to_try(
            &server.base(),
            &keys.enterprise.key,
            ROWS,
            &shell_name(binary),
            &args.data_dir
        )
    );
    while !asked_to_end.load(Ordering::Relaxed) && !server.has_ended()? {
        sleep(Duration::from_millis(100));
    }
    server.stop()?;
    // A second Ctrl-C ends it with an error, as was asked for.
    if let Some(status) = server.exit_status()?.filter(|status| !status.success())
        && !interrupted.load(Ordering::Relaxed)
    {
        bail!("the server has ended with an error ({status}); what it said stands above");
    }
    println!("The server has ended; run the same command to go on where it stopped.");
    Ok(())
}

fn heading(text: &str) {
    println!("\n== {text}");
}
