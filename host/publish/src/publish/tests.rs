//! Whole publications: package in, stored file out, read back with the plain Parquet reader.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrow_files;
mod bounds;
mod demo;
mod faults;
mod geometry_pages;
mod identity;
mod meaning;
mod out_of_core;
mod stored;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::progress::SilentReporter;

/// A folder for a package, and a store beside it.
pub(super) struct Fixture {
    folder: TempDir,
    files: ObjectStorage,
    workers: Arc<Workers>,
    pub(super) descriptor: Value,
}

impl Fixture {
    /// A package with these fields (`name:type`, `!` behind the type for required) and this CSV
    /// without its header.
    pub(super) fn new(fields: &[&str], rows: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files =
            ObjectStorage::open(&format!("file:{}/store", folder.path().display())).unwrap();
        let names: Vec<&str> =
            fields.iter().map(|field| field.split(':').next().unwrap()).collect();
        std::fs::write(folder.path().join("table.csv"), format!("{}\n{rows}", names.join(",")))
            .unwrap();
        let field = |field: &&str| {
            let (name, kind) = field.split_once(':').unwrap();
            let required = kind.ends_with('!');
            json!({"name": name, "type": kind.trim_end_matches('!'), "constraints": {"required": required}})
        };
        let fields: Vec<Value> = fields.iter().map(field).collect();
        let descriptor = json!({
            "name": "a_table", "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Stats NZ", "path": "https://stats.govt.nz/a"}],
            "resources": [{"path": "table.csv", "schema": {"fields": fields}}],
            "yearbook": {"namespace": "tests"}
        });
        Self { folder, files, workers: Workers::new(2), descriptor }
    }

    pub(super) fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.descriptor.pointer_mut(parent).unwrap()[key] = value;
        self
    }

    pub(super) fn write_descriptor(&self) {
        std::fs::write(self.path("datapackage.json"), self.descriptor.to_string()).unwrap();
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) async fn publish_after(
        &self,
        current: Option<&Snapshot>,
    ) -> Result<SnapshotDraft, PublishError> {
        self.write_descriptor();
        let package = DataPackage::open(self.folder.path())?;
        publish(&self.files, &self.workers, &package, current, &SilentReporter).await
    }

    /// Publishes it as a release at an instant is.
    pub(super) async fn release(&self) -> Result<SnapshotDraft, PublishError> {
        self.write_descriptor();
        let package = DataPackage::open(self.folder.path())?.with_embargo();
        publish(&self.files, &self.workers, &package, None, &SilentReporter).await
    }

    pub(super) async fn publish(&self) -> Result<SnapshotDraft, PublishError> {
        self.publish_after(None).await
    }

    /// The faults, as a person reads them, and their total.
    pub(super) async fn faults(&self) -> (Vec<String>, u64) {
        match self.publish().await {
            Err(PublishError::Table { faults, total, .. }) => {
                (faults.iter().map(ToString::to_string).collect(), total)
            }
            other => panic!("expected faults, got {other:?}"),
        }
    }

    pub(super) fn stored(&self, snapshot: &Snapshot) -> PathBuf {
        self.path("store").join(ObjectStorage::key(&snapshot.file))
    }

    /// Every row of the stored file.
    pub(super) fn rows(&self, snapshot: &Snapshot) -> RecordBatch {
        read_back(&self.stored(snapshot))
    }
}

pub(super) fn read_back(path: &Path) -> RecordBatch {
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
    let schema = builder.schema().clone();
    let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// A batch as CSV without header, nulls as `-`.
pub(super) fn show(batch: &RecordBatch) -> Vec<String> {
    let cell = |array: &arrow::array::ArrayRef, row: usize| {
        if array.is_null(row) {
            "-".to_owned()
        } else {
            arrow::util::display::array_value_to_string(array, row).unwrap()
        }
    };
    (0..batch.num_rows())
        .map(|row| {
            batch.columns().iter().map(|array| cell(array, row)).collect::<Vec<_>>().join(",")
        })
        .collect()
}
