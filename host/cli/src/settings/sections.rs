//! The shape of `yearbook.toml`: one field a section. A section that another crate understands is
//! that crate's own type.

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use yearbook_catalog::Retention;
use yearbook_domain::PlanTable;
use yearbook_publish::PublishMemory;
use yearbook_refresh::RefreshSettings;
use yearbook_registry::TokenHost;
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_server::{
    AdapterSettings, LimitSettings, LinkSettings, PageSettings, ServerSettings, ShareSettings,
};
use yearbook_signup::SignupSettings;
use yearbook_webhooks::WebhookSettings;

/// Every section with its defaults.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SettingsDocument {
    /// `[server]`.
    pub server: ServerSettings,
    /// `[limits]`: how fast one client may ask.
    pub limits: LimitSettings,
    /// `[plans.free]` and so on: what each plan allows (spec-5-plans).
    pub plans: PlanTable,
    /// `[pages]`: the catalogue in a browser.
    pub pages: PageSettings,
    /// `[share]`: the warehouse share.
    pub share: ShareSettings,
    /// `[links]`: links to rows.
    pub links: LinkSettings,
    /// `[adapters]`: other people's APIs.
    pub adapters: AdapterSettings,
    /// `[signup]`: keys for everybody with an e-mail address.
    pub signup: SignupSettings,
    /// `[webhooks]`: addresses that are told of new versions.
    pub webhooks: WebhookSettings,
    /// `[storage]`.
    pub storage: StorageSection,
    /// `[retention]`.
    pub retention: RetentionSection,
    /// `[publish]`.
    pub publish: PublishSection,
    /// `[database]`.
    pub database: DatabaseSection,
    /// `[sandbox]`.
    pub sandbox: SandboxSection,
    /// `[plugins]`.
    pub plugins: PluginsSection,
    /// `[refresh]`: sources that are asked again.
    pub refresh: RefreshSettings,
    /// `[log]`.
    pub log: LogSection,
}

impl SettingsDocument {
    /// The sections that the HTTP server understands.
    #[must_use]
    pub fn http_settings(&self) -> yearbook_server::ServiceSettings {
        yearbook_server::ServiceSettings {
            server: self.server.clone(),
            limits: self.limits,
            plans: self.plans,
            pages: self.pages.clone(),
            share: self.share.clone(),
            links: self.links.clone(),
            adapters: self.adapters,
        }
    }
}

/// `[storage]`: where snapshots lie and which are kept (contract-6-retention).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageSection {
    /// Address of the object store; `None` for a folder in the data directory.
    pub url: Option<String>,
    /// Newest snapshots of a dataset that are always kept.
    pub retain_snapshots: u32,
    /// Hours for which any snapshot is kept.
    pub retain_hours: u32,
    /// Hours for which `yearbook gc` leaves unreferenced objects in the object store. A
    /// response that began to read it and takes longer is cut off. Default 24: a day's export over
    /// a slow line. Never less than the other limits make a response or a view of the catalog
    /// last.
    pub unnamed_hours: u32,
    /// Bounds for a store on the network, and how bulk files leave it.
    #[serde(flatten)]
    pub store: yearbook_storage::StorageSettings,
}

impl Default for StorageSection {
    fn default() -> Self {
        let Retention { snapshots: retain_snapshots, hours: retain_hours, .. } =
            Retention::default();
        Self {
            url: None,
            retain_snapshots,
            retain_hours,
            unnamed_hours: 24,
            store: yearbook_storage::StorageSettings::default(),
        }
    }
}

/// `[retention]`: what is kept of dropped snapshots (contract-21-history).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionSection {
    /// True where what retention drops stays readable by `as_of`.
    pub history: bool,
    /// Bytes, in temporary files of a server, of old versions and revisions that were made again.
    pub cache_bytes: u64,
}

impl Default for RetentionSection {
    fn default() -> Self {
        Self { history: Retention::default().history, cache_bytes: 4 << 30 }
    }
}

/// `[publish]`: resources of `yearbook publish`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishSection {
    /// Bytes of memory that publishing one table may use, about. Rows beyond it go through
    /// temporary files. Default 1 GiB, at least 64 MiB.
    #[serde(deserialize_with = "publish_memory")]
    pub memory_bytes: u64,
}

impl PublishSection {
    /// The budget.
    #[must_use]
    pub fn memory(self) -> PublishMemory {
        PublishMemory::new(self.memory_bytes)
    }
}

impl Default for PublishSection {
    fn default() -> Self {
        Self { memory_bytes: PublishMemory::DEFAULT_BYTES }
    }
}

fn publish_memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let bytes = u64::deserialize(deserializer)?;
    if bytes < PublishMemory::MIN_BYTES {
        return Err(D::Error::custom(format!(
            "expected a whole number of at least {} (bytes)",
            PublishMemory::MIN_BYTES
        )));
    }
    Ok(bytes)
}

/// `[database]`: where the catalog lies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseSection {
    /// Address of the database; `None` for an SQLite file in the data directory.
    pub url: Option<String>,
    /// Bounds for a database on the network.
    #[serde(flatten)]
    pub bounds: yearbook_catalog::DatabaseSettings,
}

/// `[sandbox]`: resources that plugins may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSection {
    /// Threads for decoding and encoding; 0: one a core.
    pub threads: usize,
    /// Folder of precompiled plugins, which only this service may write; `None` if in the data
    /// directory.
    pub cache_dir: Option<PathBuf>,
    /// File of the secret that seals them, which only this service may read; `None` if in the data
    /// directory. Hosts that share the folder share it.
    pub cache_key_file: Option<PathBuf>,
    /// Limits of one guest.
    #[serde(flatten)]
    pub limits: yearbook_sandbox::Limits,
}

/// `[plugins]`: which plugins may be installed and loaded, and how releases come into service and
/// out of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PluginsSection {
    /// Rules by which new releases come into service, and failing ones out of it.
    #[serde(flatten)]
    pub guard: ReleaseMonitorSettings,
    /// Folder for failure dumps, one file for each way in which a release fails; `None` if no dump
    /// is written. Such a file holds rows and options of a response.
    pub dumps: Option<PathBuf>,
    /// Hosts that may see the credentials for a registry beside the registry itself, which sends
    /// there for tokens: `registry.gitlab.com=gitlab.com`.
    pub token_hosts: Vec<TokenHost>,
    /// Conditions for a component that did not come with the binary, and trusted signers.
    #[serde(flatten)]
    pub trust: yearbook_releases::TrustPolicy,
}

/// `[log]`: form and level of the log on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSection {
    /// Shape of a line.
    pub format: LogFormat,
    /// Least severity, or directives such as `info,yearbook_http=debug`. None: `info` while
    /// serving, `warn` for every other command.
    pub level: Option<String>,
    /// Collector of OpenTelemetry traces, `http://127.0.0.1:4318`. None: no traces.
    pub otlp_endpoint: Option<CollectorUrl>,
}

/// Address of the collector of traces: an `http` address, to which `/v1/traces` is added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CollectorUrl(String);

impl CollectorUrl {
    /// The address without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CollectorUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let uri = text
            .parse::<http::Uri>()
            .ok()
            .filter(|uri| uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none());
        match uri.as_ref().and_then(http::Uri::scheme_str) {
            Some("http") => Ok(Self(text.trim_end_matches('/').to_owned())),
            Some("https") => Err(format!(
                "{text:?} wants TLS, which is left to a collector or agent on this machine; name that one"
            )),
            _ => Err(format!("{text:?} must be like http://127.0.0.1:4318")),
        }
    }
}

impl From<CollectorUrl> for String {
    fn from(collector: CollectorUrl) -> Self {
        collector.0
    }
}

impl Default for LogSection {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: None, otlp_endpoint: None }
    }
}

/// Shape of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
