//! Refreshes of packages whose sources are servers of the tests, into a catalog of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod due;
mod outcomes;
mod repair;
mod week;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use yearbook_catalog::{Catalog, DatabaseSettings, Retention, open, sqlite_url};
use yearbook_domain::{Dataset, DatasetName, Millis};
use yearbook_publish::Publisher;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::packages::find_packages;
use crate::report::{RefreshOutcome, RefreshReport, SilentRefreshReporter};
use crate::settings::RefreshSettings;
use crate::{RefreshReporter, Refresher};

/// 2026-11-23T00:00:00Z.
const TODAY: i64 = 1_795_392_000_000;

const HOUR: i64 = 3_600_000;

const DAY: i64 = 24 * HOUR;

/// A catalog and a store of their own.
struct Fixture {
    folder: TempDir,
    catalog: Arc<Catalog>,
    files: ObjectStorage,
    workers: Arc<Workers>,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = sqlite_url(&folder.path().join("catalog.db"));
        Self::at(folder, &database).await
    }

    /// In memory where the system has a folder there: thousands of commits would wait for the disk.
    async fn in_memory() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self::at(folder, "sqlite::memory:").await
    }

    async fn at(folder: TempDir, database: &str) -> Self {
        let store = format!("file:{}", folder.path().join("store").display());
        let catalog = open(database, &DatabaseSettings::default()).await.unwrap();
        let files = ObjectStorage::open(&store).unwrap();
        Self { folder, catalog, files, workers: Workers::new(1) }
    }

    /// Another host of the same catalog, at `at`.
    fn refresher(&self, settings: RefreshSettings, at: i64) -> Refresher {
        let retention = Retention { snapshots: 3, hours: 0, history: true };
        let publisher = Publisher::new(
            Arc::clone(&self.catalog),
            &self.files,
            Arc::clone(&self.workers),
            retention,
        );
        let refresher = Refresher::new(Arc::clone(&self.catalog), publisher, settings).unwrap();
        Refresher { client: refresher.client.with_back_off(Duration::from_millis(1)), ..refresher }
            .with_time(Millis(at))
    }

    fn packages(&self) -> PathBuf {
        self.folder.path().join("packages")
    }

    /// Writes a package whose table lies at `path`.
    fn write(&self, name: &str, path: &str, cadence: &str) -> PathBuf {
        let folder = self.packages().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("datapackage.json");
        std::fs::write(&file, descriptor(name, path, cadence).to_string()).unwrap();
        file
    }

    /// Refreshes all packages at `at`; reports by name.
    async fn refresh(&self, at: i64, due_only: bool) -> Vec<RefreshReport> {
        self.refresh_with(&private_settings(), at, due_only).await
    }

    async fn refresh_with(
        &self,
        settings: &RefreshSettings,
        at: i64,
        due_only: bool,
    ) -> Vec<RefreshReport> {
        let packages = find_packages(&[self.packages()]);
        let refresher = self.refresher(settings.clone(), at);
        let reporter: &dyn RefreshReporter = &SilentRefreshReporter;
        let mut reports = refresher.refresh(&packages, due_only, reporter).await;
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        reports
    }

    /// Refreshes the only package at `at`.
    async fn refresh_one(&self, at: i64, due_only: bool) -> RefreshReport {
        let mut reports = self.refresh(at, due_only).await;
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports.pop().unwrap()
    }

    async fn dataset(&self, name: &str) -> Option<Dataset> {
        self.catalog.dataset(&dataset_name(name)).await.unwrap()
    }

    async fn checked_at(&self, name: &str) -> Option<i64> {
        Some(self.dataset(name).await?.checked_at.0)
    }
}

fn private_settings() -> RefreshSettings {
    RefreshSettings { allow_private: true, ..RefreshSettings::default() }
}

fn dataset_name(name: &str) -> DatasetName {
    DatasetName::parse(name).unwrap()
}

fn descriptor(name: &str, path: &str, cadence: &str) -> Value {
    let fields =
        json!([{ "name": "id", "type": "integer" }, { "name": "value", "type": "number" }]);
    json!({
        "name": name,
        "licenses": [{ "name": "CC-BY-4.0" }],
        "sources": [{ "title": "Test agency" }],
        "resources": [{ "path": path, "schema": { "fields": fields, "primaryKey": ["id"] } }],
        "yearbook": { "namespace": "tests", "refresh_cadence": cadence },
    })
}

/// A table of so many rows.
fn table(rows: u64) -> String {
    std::iter::once("id,value\n".to_owned())
        .chain((1..=rows).map(|id| format!("{id},0.5\n")))
        .collect()
}

fn write_rows(package: &Path, rows: u64) {
    std::fs::write(package.with_file_name("rows.csv"), table(rows)).unwrap();
}
