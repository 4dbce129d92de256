//! The server of the loop: on a free port of this machine, with a data directory that ends with it,
//! and with settings of its own.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use http::{HeaderName, HeaderValue, Method};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Mutex;
use yearbook_domain::{Digest, Plan};
use yearbook_outbound::{OutboundRequest, Url};
use yearbook_releases::{CheckReport, ComponentFile};
use yearbook_sandbox::{Plugin, PluginSet, Sandbox, SandboxConfig};
use yearbook_server::AppState;

use super::answer::ServedAnswer;
use crate::commands::plugin::check::check_component;
use crate::commands::serve::{self, RunningServer};
use crate::commands::{keys, publish};
use crate::context::CommandContext;
use crate::settings::{RunSettings, SettingSources};
use crate::{http_client, plugin_runtime};

/// Name of the table that is served where no package was named.
const SAMPLE: &str = "sample";

/// Most of an answer that is read, bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// A server with data and a key.
pub(super) struct LocalServer {
    pub(super) url: String,
    pub(super) key: String,
    /// Name of the first dataset.
    pub(super) dataset: String,
    running: RunningServer,
    /// The plugins of the binary, without the author's.
    built_in: Arc<PluginSet>,
    /// Sandbox of checks, one at a time: what they use is none of an answer's cost.
    checks: Arc<Mutex<Arc<Sandbox>>>,
    _folder: TempDir,
}

impl LocalServer {
    /// `dumps`: folder for those of calls that fail.
    pub(super) async fn start(
        context: &CommandContext,
        data: &[PathBuf],
        dumps: &Path,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        // No settings of a service hold for it, and any client of an API may read it.
        let config = folder.path().join("yearbook.toml");
        std::fs::write(&config, "[adapters]\nkeys_in_addresses = true\n")?;
        let settings = RunSettings::load(&SettingSources {
            data_dir: Some(folder.path().join("data")),
            config: Some(config),
            variables: Vec::new(),
            flags: vec![
                ("server.listen", "--listen", "127.0.0.1:0".to_owned()),
                ("plugins.dumps", "FOLDER", dumps.display().to_string()),
            ],
        })?;
        let own = CommandContext { settings, variables: Vec::new(), ..context.clone() };
        let sample = write_sample(folder.path())?;
        let packages = if data.is_empty() { std::slice::from_ref(&sample) } else { data };
        let store = own.catalog().await?;
        let memory = own.settings.values.publish.memory();
        let publisher = publish::new_publisher(&own, &store, memory)?;
        let mut names = Vec::new();
        for package in packages {
            let published = publish::publish_package(&own, &publisher, package, None).await;
            names.push(published.with_context(|| package.display().to_string())?.dataset);
        }
        let (_, issued) = keys::issue(&store, Plan::Enterprise, None).await?;
        store.close().await;
        let (listener, address) =
            serve::listen(own.settings.values.server.listen, "--listen").await?;
        let running = serve::start(&own, own.settings.values.server.clone(), address).await?;
        let limits = CheckReport::limits(*running.plugins.sandbox.limits());
        let config = SandboxConfig {
            dump_sink: plugin_runtime::dump_sink(&own)?,
            ..plugin_runtime::cached_config(&own, limits)
        };
        let checks = plugin_runtime::new_sandbox(config, own.workers())?;
        let state: AppState = running.state.clone();
        tokio::spawn(yearbook_server::serve_public(listener, state, std::future::pending()));
        Ok(Self {
            url: format!("http://{address}"),
            key: issued.expose().to_owned(),
            dataset: names.into_iter().next().unwrap_or_default(),
            built_in: running.plugins.registry.current(),
            running,
            checks: Arc::new(Mutex::new(checks)),
            _folder: folder,
        })
    }

    pub(super) fn sandbox(&self) -> Arc<Sandbox> {
        Arc::clone(&self.running.plugins.sandbox)
    }

    /// Serves `plugin` in the place of whatever has its name, from the next request on.
    pub(super) fn serve(&self, plugin: &Plugin) {
        let mut plugins = PluginSet::clone(&self.built_in);
        plugins.insert(plugin);
        self.running.plugins.registry.replace(plugins);
    }

    /// Checks `component` as an installation would. `built_in`: folder of the built-in plugins,
    /// where one was named.
    pub(super) async fn check(
        &self,
        component: ComponentFile,
        built_in: Option<PathBuf>,
    ) -> anyhow::Result<CheckReport> {
        // A check that nobody waits for any more runs to its end, and the next one after it.
        let sandbox = Arc::clone(&self.checks).lock_owned().await;
        let checked = tokio::task::spawn_blocking(move || {
            check_component(&sandbox, &component, built_in.as_deref())
        });
        Ok(checked.await?.report)
    }

    /// The answer to a GET of `path`, with what the plugin of `digest` did for it.
    pub(super) async fn ask(&self, path: &str, digest: &Digest) -> anyhow::Result<ServedAnswer> {
        let address = Url::parse(&format!("{}{path}", self.url));
        let address = address.with_context(|| format!("{path} is no path of a request"))?;
        let mut request = OutboundRequest::new(Method::GET, address);
        let key = HeaderValue::from_str(&self.key).context("the key is no header")?;
        request.headers.append(HeaderName::from_static("x-api-key"), key);
        let client = http_client::new_client(http_client::TIMEOUT)?;
        let before = self.counts(digest);
        let begun = Instant::now();
        let response = client.send(&request).await?;
        let status = response.status().as_u16();
        let body = response.into_body(MAX_ANSWER_BYTES)?.read().await?;
        let took = begun.elapsed();
        let after = self.counts(digest);
        Ok(ServedAnswer {
            status,
            body,
            took,
            cpu: after.0.saturating_sub(before.0),
            calls: after.1.saturating_sub(before.1),
            memory_bytes: after.2,
        })
    }

    /// Processor time, calls and memory of the plugin so far: an adapter counts with its format.
    fn counts(&self, digest: &Digest) -> (Duration, u64, usize) {
        let all = self.sandbox().metrics_snapshots();
        let own = all.iter().filter(|counts| counts.release.id.digest == *digest);
        own.fold(Default::default(), |(cpu, calls, memory), counts| {
            (cpu + counts.cpu, calls + counts.calls, memory.max(counts.memory_bytes))
        })
    }
}

/// Writes a package of four years of months of three regions, with a gap and nulls.
fn write_sample(folder: &Path) -> anyhow::Result<PathBuf> {
    let package = folder.join(SAMPLE);
    let mut rows = "date,region,value,count\n".to_owned();
    for month in 0..48_u32 {
        for (region, name) in ["north", "south", "\"East, \"\"far\"\"\""].into_iter().enumerate() {
            let region = u32::try_from(region).unwrap_or_default();
            if region == 1 && month == 17 {
                continue;
            }
            let date = format!("{}-{:02}-01", 2020 + month / 12, month % 12 + 1);
            let value = f64::from(100 + 7 * month % 31 + 10 * region) / 4.0;
            let value = if month % 13 == 5 { String::new() } else { value.to_string() };
            let _ = writeln!(rows, "{date},{name},{value},{}", month * 3 + region);
        }
    }
    let descriptor = json!({
        "name": SAMPLE,
        "title": "Months of three regions",
        "licenses": [{ "name": "CC0-1.0" }],
        "sources": [{ "title": "yearbook plugin dev" }],
        "resources": [{
            "path": "rows.csv",
            "schema": {
                "fields": [
                    { "name": "date", "type": "date" },
                    { "name": "region", "type": "string" },
                    { "name": "value", "type": "number", "unit": "index" },
                    { "name": "count", "type": "integer", "unit": "persons" },
                ],
                "primaryKey": ["date", "region"],
            },
        }],
        "yearbook": { "namespace": "development", "date_filter_column": "date" },
    });
    std::fs::create_dir(&package)?;
    std::fs::write(package.join("rows.csv"), rows)?;
    std::fs::write(package.join("datapackage.json"), descriptor.to_string())?;
    Ok(package)
}
