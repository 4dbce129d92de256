//! The folder of a plugin's crate: what is watched of it, and its build.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

/// Names that a build or a server writes, or that no build reads.
const UNWATCHED: [&str; 3] = ["target", "Cargo.lock", "yearbook-data"];

/// File of a data directory, which a server writes to all the time, whatever its name.
const DATABASE: &str = "yearbook.db";

/// Interval at which the folder is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// Folder with a `Cargo.toml`.
pub(super) struct ProjectFolder(PathBuf);

/// Files with the times at which they were last written.
#[derive(PartialEq, Eq)]
pub(super) struct FolderStamp(Vec<(PathBuf, Option<SystemTime>)>);

impl ProjectFolder {
    pub(super) fn open(folder: PathBuf) -> anyhow::Result<Self> {
        ensure!(
            folder.join("Cargo.toml").is_file(),
            "{} has no Cargo.toml; `yearbook plugin new` makes a project",
            folder.display()
        );
        Ok(Self(folder))
    }

    /// Folder for dumps, which is not watched.
    pub(super) fn dumps(&self) -> PathBuf {
        self.0.join("target/dumps")
    }

    /// Stamp of all files that a build may read.
    pub(super) fn stamp(&self) -> FolderStamp {
        let (mut files, mut folders) = (Vec::new(), vec![self.0.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (name, path) = (entry.file_name(), entry.path());
                let hidden = name.as_encoded_bytes().starts_with(b".");
                if hidden || UNWATCHED.iter().any(|unwatched| name == *unwatched) {
                    continue;
                }
                if path.is_dir() {
                    if !path.join(DATABASE).exists() {
                        folders.push(path);
                    }
                } else {
                    let written = entry.metadata().and_then(|file| file.modified()).ok();
                    files.push((path, written));
                }
            }
        }
        files.sort_unstable();
        FolderStamp(files)
    }

    /// Resolves once a file differs from `stamp`.
    pub(super) async fn changed(&self, stamp: &FolderStamp) {
        while self.stamp() == *stamp {
            tokio::time::sleep(WATCH_INTERVAL).await;
        }
    }

    /// Builds the crate as `cargo wasm` does, and returns the core module. What the compiler has to
    /// say goes to standard error.
    pub(super) async fn build(&self) -> anyhow::Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&self.0).stdin(Stdio::null()).stderr(Stdio::inherit());
        cargo.args(["build", "--lib", "--release", "--target", "wasm32-unknown-unknown"]);
        cargo.arg("--message-format=json-render-diagnostics");
        let built = tokio::task::spawn_blocking(move || cargo.output()).await?;
        let built = built.context("cannot run cargo; rustup.rs installs it")?;
        if !built.status.success() {
            bail!("the build failed");
        }
        let messages = String::from_utf8_lossy(&built.stdout);
        let module = messages.lines().rev().find_map(module_of);
        module.with_context(|| {
            format!(
                "{} makes no WebAssembly module; its crate-type must be cdylib",
                self.0.display()
            )
        })
    }
}

/// The module among the files of one of cargo's messages.
fn module_of(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
    files.map(Path::new).find(|file| file.extension() == Some("wasm".as_ref())).map(Into::into)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_a_server_writes_beside_the_sources_is_no_change_contract_16() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        write("Cargo.toml");
        write("src/lib.rs");
        write("data/yearbook.db");
        let project = ProjectFolder::open(folder.path().to_owned()).unwrap();
        let before = project.stamp();
        for path in ["data/yearbook.db-wal", "data/objects/1", "yearbook-data/objects/1"] {
            write(path);
            assert!(project.stamp() == before, "{path}");
        }
        write("data.rs");
        assert!(project.stamp() != before);
    }
}
