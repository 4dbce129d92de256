//! `tests/lab/count/recorded.json`: recorded counts, with the reason of each last change. Owns the
//! file's shape.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use procfs::{CpuInfo, Current as _};
use serde::{Deserialize, Serialize};

use yearbook_xtask::command;
use yearbook_xtask::repository::Repository;

/// Everything recorded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CountBaseline {
    /// `rustc --version`: another compiler makes other instructions.
    pub(super) compiler: String,
    /// [`processor`]: libraries choose their loops by its features.
    #[serde(default)]
    pub(super) processor: String,
    /// By name.
    pub(super) works: BTreeMap<String, BaselineEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BaselineEntry {
    /// Instructions a row, or a request where the work says so; three decimals.
    pub(super) instructions: f64,
    /// Reason of its last change.
    reason: String,
}

impl CountBaseline {
    /// The recorded counts; empty where there is no file yet.
    pub(super) fn read(repository: &Repository) -> Result<Self> {
        let path = path(repository);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("cannot understand {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Replaces the file.
    pub(super) fn write(&self, repository: &Repository) -> Result<()> {
        let path = path(repository);
        let text = serde_json::to_string_pretty(self).context("cannot print the record")?;
        fs::write(&path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
    }

    /// Records what a work takes, and why.
    pub(super) fn set(&mut self, name: &str, count: f64, reason: &str) {
        let instructions = (count * 1000.0).round() / 1000.0;
        self.works
            .insert(name.to_owned(), BaselineEntry { instructions, reason: reason.to_owned() });
    }
}

/// The compiler that counts are made with.
pub(super) fn compiler() -> Result<String> {
    Ok(command::output(Command::new("rustc").arg("--version"))?.trim().to_owned())
}

/// Returns the features of the processor that libraries test before they choose a loop.
pub(super) fn processor() -> Result<String> {
    const FEATURES: [&str; 5] = ["avx2", "bmi2", "erms", "fsrm", "sse4_2"];
    let processors = CpuInfo::current().context("cannot read what the processor can do")?;
    let flags = processors.flags(0).unwrap_or_default();
    let features = FEATURES.into_iter().filter(|feature| flags.contains(feature));
    Ok(features.collect::<Vec<_>>().join(" "))
}

fn path(repository: &Repository) -> PathBuf {
    repository.root().join("tests/lab/count/recorded.json")
}
