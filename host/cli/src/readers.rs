//! Readers for packages whose format publishing does not know: the one that somebody installed,
//! else the one that this binary carries. Also the seam between publishing and the sandbox, which
//! know nothing of each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use arrow::array::RecordBatch;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use yearbook_catalog::Catalog;
use yearbook_domain::SourceColumn;
use yearbook_publish::{ColumnFacts, FormatReader, FormatReading, ReaderProvider};
use yearbook_releases::TrustPolicy;
use yearbook_sandbox::{
    FileReading, OptionValue, PluginParameter, PluginReader, ReaderDescription, Sandbox,
    SandboxConfig,
};
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::builtin;
use crate::context::CommandContext;
use crate::plugin_runtime;

/// Instances of a sandbox that reads: a file at a time, and one to ask a plugin what it is.
const INSTANCES: u32 = 4;

/// Readers of one run.
pub(crate) struct Readers {
    store: Arc<Catalog>,
    files: ObjectStorage,
    workers: Arc<Workers>,
    trust: TrustPolicy,
    plugins_dir: Option<PathBuf>,
    config: SandboxConfig,
    /// Made when the first reader is needed.
    sandbox: OnceCell<Arc<Sandbox>>,
}

impl Readers {
    /// Readers for what is published into `store`.
    ///
    /// # Errors
    /// Fails when the folder for failure dumps cannot be used.
    pub(crate) fn new(
        context: &CommandContext,
        store: &Arc<Catalog>,
        files: &ObjectStorage,
        workers: &Arc<Workers>,
    ) -> anyhow::Result<Arc<Self>> {
        let mut limits = context.settings.values.sandbox.limits;
        limits.instances = limits.instances.min(INSTANCES);
        Ok(Arc::new(Self {
            store: Arc::clone(store),
            files: files.clone(),
            workers: Arc::clone(workers),
            trust: context.settings.values.plugins.trust.clone(),
            plugins_dir: context.plugins_dir.clone(),
            config: SandboxConfig {
                dump_sink: plugin_runtime::dump_sink(context)?,
                ..plugin_runtime::cached_config(context, limits)
            },
            sandbox: OnceCell::new(),
        }))
    }

    async fn load(&self, format: &str) -> anyhow::Result<Arc<PluginReader>> {
        let start = || async {
            plugin_runtime::new_sandbox(self.config.clone(), Arc::clone(&self.workers))
        };
        let sandbox = self.sandbox.get_or_try_init(start).await?;
        let installed = yearbook_releases::installed_reader(
            &self.store,
            &self.files,
            sandbox,
            &self.trust,
            format,
        );
        match installed.await? {
            Some(reader) => Ok(reader),
            None => load_built_in(self.plugins_dir.as_deref(), sandbox, format).await,
        }
    }
}

impl ReaderProvider for Readers {
    fn find_reader<'a>(
        &'a self,
        format: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn FormatReader>, String>> {
        Box::pin(async move {
            let loaded = self.load(format).await;
            let reader = loaded.map_err(|error| format!("{error:#}"))?;
            Ok(Arc::new(SandboxedReader(reader)) as Arc<dyn FormatReader>)
        })
    }
}

async fn load_built_in(
    plugins_dir: Option<&Path>,
    sandbox: &Arc<Sandbox>,
    format: &str,
) -> anyhow::Result<Arc<PluginReader>> {
    let Some(component) = builtin::reader(plugins_dir, format)? else {
        bail!(
            "no reader for the format {format:?} is installed, and none is built in; built in are csv, parquet, arrow, {}. \
             Install one with `yearbook plugin install FILE.wasm`, or change resources[0].format",
            builtin::READ_FORMATS.join(", ")
        );
    };
    let builtin::BuiltInComponent { name, bytes, by } = component;
    let sandbox = Arc::clone(sandbox);
    let loaded = tokio::task::spawn_blocking(move || sandbox.load_reader(&bytes)).await;
    loaded.context("a thread panicked while a reader was loaded")?.with_context(|| {
        format!("the reader {name} from {by} is refused; build it again with `cargo xtask plugins`")
    })
}

/// A reader in the sandbox.
struct SandboxedReader(Arc<PluginReader>);

impl std::fmt::Debug for SandboxedReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SandboxedReader").field(&self.0.description().format).finish()
    }
}

impl FormatReader for SandboxedReader {
    fn title(&self) -> &str {
        &self.0.description().title
    }

    fn open(
        &self,
        columns: &[SourceColumn],
        options: &Map<String, Value>,
    ) -> Result<Box<dyn FormatReading>, String> {
        let options = choose_options(self.0.description(), options)?;
        let reading = self.0.open(columns, &options).map_err(|error| error.to_string())?;
        Ok(Box::new(SandboxedReading(reading)))
    }
}

/// A file that is read in the sandbox.
struct SandboxedReading(FileReading);

impl FormatReading for SandboxedReading {
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

/// Options of a package as values of the declared parameters.
fn choose_options(
    description: &ReaderDescription,
    options: &Map<String, Value>,
) -> Result<Vec<OptionValue>, String> {
    options.iter().map(|(name, value)| choose_option(description, name, value)).collect()
}

fn choose_option(
    description: &ReaderDescription,
    name: &str,
    value: &Value,
) -> Result<OptionValue, String> {
    let declared = &description.parameters;
    let found = declared.iter().find(|parameter| parameter.name == name);
    let Some(parameter) = found else {
        let known: Vec<&str> = declared.iter().map(|parameter| parameter.name.as_str()).collect();
        return Err(format!(
            "yearbook.reader_options.{name} is no option of the reader {}; it has {}",
            description.format,
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        ));
    };
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let parsed = parameter.parse(&text).filter(|_| parameter.is_allowed(&text));
    parsed
        .map(|value| OptionValue { name: name.to_owned(), value })
        .ok_or_else(|| option_fault(parameter, &text))
}

fn option_fault(parameter: &PluginParameter, text: &str) -> String {
    let takes = if parameter.allowed.is_empty() {
        format!("a value of the kind {:?}", parameter.kind).to_lowercase()
    } else {
        parameter.allowed.join(", ")
    };
    format!("yearbook.reader_options.{} is {text:?}; it takes {takes}", parameter.name)
}
