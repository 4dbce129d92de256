//! A place to publish in with the readers that attack, and what came of each. Owns the seam that
//! the command line has between publishing and the sandbox.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use yearbook_domain::SourceColumn;
use yearbook_publish::{
    ColumnFacts, DataPackage, FormatReader, FormatReading, SilentReporter, publish,
};
use yearbook_sandbox::{FileReading, PluginReader, Sandbox};
use yearbook_storage::ObjectStorage;
use yearbook_tests::components::sandbox;
use yearbook_workers::Workers;

use crate::attack_arena::sandbox_limits;
use crate::list::limits;
use crate::list::readers::{LARGE_FILE, ReaderAttack, ReadingEnd, SMALL_FILE};

/// Packages of a small and of a large file, and a sandbox with the limits of the list.
pub(crate) struct ReaderArena {
    sandbox: Arc<Sandbox>,
    workers: Arc<Workers>,
    folder: TempDir,
}

impl ReaderArena {
    pub(crate) fn open() -> Self {
        let folder = TempDir::new().unwrap();
        for (name, bytes) in [("small", SMALL_FILE), ("large", LARGE_FILE)] {
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            let text = "x".repeat(usize::try_from(bytes).unwrap());
            std::fs::write(folder.join("data.evil"), text).unwrap();
            std::fs::write(folder.join("datapackage.json"), descriptor().to_string()).unwrap();
        }
        Self { sandbox: sandbox(sandbox_limits()), workers: Workers::new(1), folder }
    }

    /// Loads the attack's guest and publishes a file that it reads. All instances are free
    /// afterwards, and nothing is stored unless it was published.
    pub(crate) async fn run(&self, attack: &ReaderAttack) -> ReadingEnd {
        let name = &attack.name;
        let reader = match self.sandbox.load_reader(&attack.component()) {
            Ok(reader) => reader,
            Err(rejected) => return ReadingEnd::Rejected(rejected.to_string()),
        };
        let path = self.folder.path().join(if attack.large { "large" } else { "small" });
        let package =
            DataPackage::open(&path).unwrap().with_reader(Arc::new(SandboxReader(reader)));
        let store = TempDir::new().unwrap();
        let files = ObjectStorage::open(&format!("file:{}", store.path().display())).unwrap();
        let published =
            Box::pin(publish(&files, &self.workers, &package, None, &SilentReporter)).await;
        assert_eq!(self.sandbox.free_instances(), limits::INSTANCES as usize, "{name}");
        match published {
            Ok(draft) => {
                let unit = draft.snapshot.columns[0].unit.clone();
                ReadingEnd::Published(draft.snapshot.rows, unit)
            }
            Err(error) => {
                assert_eq!(stored_files(store.path()), 0, "{name}");
                let text = error.to_string();
                assert!(text.lines().count() == 1, "{name}: {text:?}");
                let start = format!("cannot read {} as Evil: ", package.data().display());
                let why = text.strip_prefix(&start).unwrap_or(&text);
                let why = why.strip_prefix(&format!("the reader {name} ")).unwrap_or(why);
                ReadingEnd::Refused(why.to_owned())
            }
        }
    }
}

fn descriptor() -> Value {
    json!({
        "name": "attacked",
        "licenses": [{ "name": "CC-BY-4.0" }],
        "sources": [{ "title": "Evil" }],
        "resources": [{
            "path": "data.evil",
            "format": "evil",
            "schema": { "fields": [
                { "name": "value", "type": "integer" },
                { "name": "name", "type": "string" },
            ] },
        }],
        "yearbook": { "namespace": "tests" },
    })
}

/// Number of files in a folder and below.
fn stored_files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { stored_files(&path) } else { 1 }).sum()
}

struct SandboxReader(Arc<PluginReader>);

impl std::fmt::Debug for SandboxReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.description().format)
    }
}

impl FormatReader for SandboxReader {
    fn title(&self) -> &str {
        &self.0.description().title
    }

    fn open(
        &self,
        columns: &[SourceColumn],
        _options: &Map<String, Value>,
    ) -> Result<Box<dyn FormatReading>, String> {
        let reading = self.0.open(columns, &[]).map_err(|error| error.to_string())?;
        Ok(Box::new(SandboxReading(reading)))
    }
}

struct SandboxReading(FileReading);

impl FormatReading for SandboxReading {
    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), String> {
        self.0.push(bytes, last).map_err(|error| error.to_string())
    }

    fn columns(&mut self) -> Result<Option<Vec<ColumnFacts>>, String> {
        let columns = self.0.columns().map_err(|error| error.to_string())?;
        Ok(columns.map(|(columns, _)| {
            let facts = columns.iter().map(|column| ColumnFacts {
                unit: column.unit.clone(),
                description: column.description.clone(),
            });
            facts.collect()
        }))
    }

    fn pull(&mut self) -> Result<Option<RecordBatch>, String> {
        self.0.pull().map_err(|error| error.to_string())
    }
}
