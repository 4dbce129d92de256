//! `cargo xtask fuzz`: the tests' fuzz targets, for as long as wanted. An input that fails is kept
//! in `tests/fixtures/fuzz`, where every later run of the tests begins with it.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;

use crate::command;
use crate::repository::Repository;

/// Targets; `tests/app/fuzz` and `tests/guests/evil` have their inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FuzzTarget {
    /// Path and query of requests
    Query,
    /// Cursors
    Cursor,
    /// Data packages
    Package,
    /// Stored Parquet files
    Snapshot,
    /// Descriptions and output of encoders
    Guest,
    /// Descriptions and output of generators
    Project,
    /// Components
    Component,
}

impl FuzzTarget {
    /// Targets that libFuzzer can be given: they need no guest of their own for each input.
    const GUIDED: [Self; 4] = [Self::Query, Self::Cursor, Self::Package, Self::Snapshot];

    /// Its folder in the corpus.
    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Its test binary and its test.
    fn test(self) -> (&'static str, &'static str) {
        match self {
            Self::Query => ("all", "fuzz_targets::a_path_and_a_query"),
            Self::Cursor => ("all", "fuzz_targets::a_cursor"),
            Self::Package => ("all", "fuzz_targets::a_package"),
            Self::Snapshot => ("all", "fuzz_targets::a_stored_file"),
            Self::Guest => ("evil", "return_values::what_an_encoder"),
            Self::Project => ("evil", "return_values::what_a_generator"),
            Self::Component => ("evil", "fuzz::"),
        }
    }
}

/// Fuzzes `target`, or each in turn, for `seconds`, from a seed that differs each time.
pub(crate) fn run(
    repository: &Repository,
    target: Option<FuzzTarget>,
    seconds: u64,
    seed: Option<u64>,
) -> Result<()> {
    let now =
        || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs() << 20);
    let seed = seed.unwrap_or_else(now);
    let mut failed = Vec::new();
    for target in
        target.map_or_else(|| FuzzTarget::value_variants().to_vec(), |target| vec![target])
    {
        let (binary, test) = target.test();
        let mut run = repository.cargo();
        run.args([
            "test",
            "--package",
            "yearbook-tests",
            "--test",
            binary,
            test,
            "--",
            "--nocapture",
        ]);
        run.env("YEARBOOK_FUZZ_SECONDS", seconds.to_string())
            .env("YEARBOOK_FUZZ_SEED", seed.to_string());
        println!("{target:?} for {seconds} s from seed {seed}");
        if !run.status().context("cannot run cargo")?.success() {
            save_last_input(repository, target)?;
            failed.push(target);
        }
    }
    if !failed.is_empty() {
        bail!(
            "{failed:?} failed; the inputs are in tests/fixtures/fuzz, and the tests replay them"
        );
    }
    Ok(())
}

/// Runs libFuzzer for `seconds` on each target to find inputs that reach new code. Found inputs go
/// to the build folder, from which the next run begins; those that fail go to the corpus in the
/// tree.
pub(crate) fn guided(
    repository: &Repository,
    target: Option<FuzzTarget>,
    seconds: u64,
) -> Result<()> {
    let targets = target.map_or_else(|| FuzzTarget::GUIDED.to_vec(), |target| vec![target]);
    if let Some(other) = targets.iter().find(|target| !FuzzTarget::GUIDED.contains(target)) {
        bail!("{other:?} cannot be guided, since guests have no counters; leave out --guided");
    }
    repository.build_plugins()?;
    let mut build = repository.cargo();
    build.args(["build", "--workspace", "--bin", "guided", "--features", "yearbook-fuzz/linked"]);
    build.env("RUSTC_WORKSPACE_WRAPPER", repository.root().join("tests/fuzz/instrumented.sh"));
    command::run(&mut build)?;
    let program = repository.target().join("debug/guided");
    let mut failed = Vec::new();
    for target in targets {
        let name = target.name();
        let corpus = repository.root().join("tests/fixtures/fuzz").join(&name);
        let found = repository.target().join("xtask/fuzz").join(&name);
        fs::create_dir_all(&found).with_context(|| format!("cannot make {}", found.display()))?;
        let mut run = Command::new(&program);
        run.env("YEARBOOK_FUZZ_TARGET", &name).arg(&found).arg(&corpus).args([
            format!("-max_total_time={seconds}"),
            format!("-artifact_prefix={}/found-", corpus.display()),
            // Seconds, for one input.
            "-timeout=10".to_owned(),
            "-rss_limit_mb=4096".to_owned(),
            "-print_final_stats=1".to_owned(),
        ]);
        if command::run(&mut run).is_err() {
            failed.push(target);
        }
    }
    if !failed.is_empty() {
        bail!(
            "{failed:?} failed; the inputs are in tests/fixtures/fuzz, and the tests replay them"
        );
    }
    Ok(())
}

/// Keeps the last input of a process that was ended before it could do so itself.
fn save_last_input(repository: &Repository, target: FuzzTarget) -> Result<()> {
    let name = target.name();
    let last = env::temp_dir().join(format!("yearbook-fuzz-{name}"));
    if last.exists() {
        let saved = repository.root().join("tests/fixtures/fuzz").join(&name).join("found-last");
        fs::copy(&last, &saved).with_context(|| format!("cannot write {}", saved.display()))?;
        fs::remove_file(&last).with_context(|| format!("cannot remove {}", last.display()))?;
    }
    Ok(())
}
