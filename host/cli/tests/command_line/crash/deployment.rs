//! A data directory and an object store, with what must hold of them after every kill.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use yearbook_catalog::{DatabaseSettings, sqlite_url};
use yearbook_domain::Digest;
use yearbook_storage::{ObjectStorage, StorageSettings};
use yearbook_tests::app::S3Server;

use crate::binary::{CommandOutput, Yearbook};

/// Kind of object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreKind {
    /// A folder in the data directory.
    Folder,
    /// An S3 server in this process.
    S3,
}

/// A deployment of its own.
pub(super) struct CrashDeployment {
    pub(super) yearbook: Yearbook,
    s3: Option<S3Server>,
    runtime: tokio::runtime::Runtime,
}

impl CrashDeployment {
    pub(super) fn new(place: StoreKind) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let s3 = (place == StoreKind::S3).then(|| runtime.block_on(S3Server::start()));
        Self { yearbook: Yearbook::new(), s3, runtime }
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.yearbook.command(arguments);
        if let Some(s3) = &self.s3 {
            command.env("YEARBOOK_STORAGE_URL", &s3.url).envs(s3.variables());
        }
        command.env("YEARBOOK_LIMITS__BURST_PER_SECOND", "0");
        // What is dropped is a part of what is tried.
        command
            .env("YEARBOOK_STORAGE__RETAIN_SNAPSHOTS", "3")
            .env("YEARBOOK_STORAGE__RETAIN_HOURS", "0");
        if arguments.first() == Some(&"gc") {
            command.envs(crate::gc::AT_ONCE);
        }
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::from_output(self.command(arguments).output().unwrap())
    }

    /// One cell for each of `rows` days, each the same.
    pub(super) fn package(&self, rows: usize, version: u32) {
        let day = |day: usize| {
            format!(
                "{:04}-{:02}-{:02},{version}\n",
                1900 + day / 336,
                day / 28 % 12 + 1,
                day % 28 + 1
            )
        };
        self.yearbook.package("tiny", &(0..rows).map(day).collect::<String>());
    }

    /// Asserts that whatever the catalog names is in the store, byte for byte, and that nothing
    /// there has a name that is not its own.
    pub(super) fn assert_intact(&self, seen: &mut HashSet<String>) {
        self.runtime.block_on(self.assert_referenced_files_intact());
        let objects = self
            .s3
            .as_ref()
            .map_or_else(|| self.yearbook.path("yearbook-data/objects"), S3Server::below);
        for folder in ["snapshots", "plugins"] {
            assert_objects_intact(&objects.join(folder), seen);
        }
    }

    async fn assert_referenced_files_intact(&self) {
        let data = self.yearbook.path("yearbook-data");
        if !data.join("yearbook.db").exists() {
            return;
        }
        let store = yearbook_catalog::open(
            &sqlite_url(&data.join("yearbook.db")),
            &DatabaseSettings::default(),
        )
        .await
        .unwrap();
        let folder = || (format!("file:{}", data.join("objects").display()), Vec::new());
        let (url, variables) =
            self.s3.as_ref().map_or_else(folder, |s3| (s3.url.clone(), s3.variables()));
        let files =
            ObjectStorage::open_with(&url, &StorageSettings::default(), &variables).unwrap();
        for file in store.referenced_files().await.unwrap() {
            // Every block is compared with its checksum.
            let read = files.get_range(&file, 0..file.bytes).await;
            assert!(read.is_ok(), "{file:?} is named: {read:?}");
        }
        for release in store.releases().await.unwrap() {
            let read = files.get_component(&release.id.digest, release.bytes).await;
            assert!(read.is_ok(), "{release:?} is named: {read:?}");
        }
        store.close().await;
    }

    fn doctor(&self) -> Value {
        let doctor = self
            .command(&["doctor", "--deep", "--json"])
            .env("YEARBOOK_SERVER__LISTEN", "127.0.0.1:0")
            .output()
            .unwrap();
        CommandOutput::from_output(doctor).ok().json()
    }

    /// Asserts that `doctor` finds nothing wrong.
    pub(super) fn assert_sound(&self) {
        let checks = self.doctor();
        let failed = |checks: &Value| {
            checks.as_array().unwrap().iter().any(|check| check["status"] == "fail")
        };
        assert!(!failed(&checks), "{checks}");
    }
}

/// Each object whose name is a digest has that digest; those of `seen` were looked at before.
fn assert_objects_intact(folder: &Path, seen: &mut HashSet<String>) {
    let Ok(objects) = std::fs::read_dir(folder) else { return };
    for object in objects {
        let path = object.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some((digest, "parquet" | "wasm")) = name.split_once('.') else { continue };
        if seen.contains(&name) {
            continue;
        }
        let found = Digest::compute(&std::fs::read(&path).unwrap());
        assert_eq!(found.as_str(), digest, "{name} is visible and half-written");
        seen.insert(name);
    }
}
