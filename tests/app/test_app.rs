//! The whole service in one process: an SQLite catalog and a folder of files in a temporary
//! directory, the built plugins in a real sandbox, and the router, called without a socket.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use yearbook_catalog::{
    Catalog, CatalogCache, DatabaseSettings, KeyRecord, KeyVerifier, Quota, ReleaseOutcome,
    Retention, key,
};
use yearbook_domain::{Millis, Plan, WaitingFiles};
use yearbook_history::History;
use yearbook_iceberg::IcebergWriter;
use yearbook_publish::{DataPackage, Publisher, ReleaseResult, ReleaseTerms, SilentReporter};
use yearbook_releases::{ReleaseMonitor, ReleaseMonitorSettings};
use yearbook_sandbox::{Limits, Plugin, PluginRegistry, PluginSet, Sandbox};
use yearbook_scan::{ReadMetricsSnapshot, Reader};
use yearbook_server::{AppState, LimitSettings, ResponseCacheStats, ServiceSettings, Services};
use yearbook_signup::{Signup, SignupMode, SignupSettings};
use yearbook_storage::{MadeFiles, ObjectStorage, StorageSettings};
use yearbook_webhooks::{WebhookSettings, Webhooks};
use yearbook_workers::Workers;

use crate::components;
use crate::packages::TestTable;
use crate::request::TestRequest;
use crate::s3::S3Server;

/// Plugins that are loaded: those that are built in, without adapters.
pub const PLUGINS: [&str; 12] = [
    "json",
    "csv",
    "arrow",
    "parquet",
    "svg",
    "meltano",
    "fivetran",
    "azure-data-factory",
    "growth",
    "resample",
    "aggregate",
    "pivot",
];

/// Start of the links that sign-up mails.
pub const BASE_URL: &str = "http://test.example";

/// A running service.
pub struct TestApp {
    /// The routes of its admin listener.
    pub admin: Router,
    /// Its routes, for tests that open a socket.
    pub router: Router,
    /// The catalog's database.
    pub store: Arc<Catalog>,
    /// The catalog in memory.
    pub catalog_cache: Arc<CatalogCache>,
    /// Folder of the stored files.
    pub folder: Arc<TempDir>,
    /// The object store.
    pub files: ObjectStorage,
    workers: Arc<Workers>,
    /// Sign-up; its mode `off` leaves it out of the service.
    pub signup: Arc<Signup>,
    /// Addresses that are told of new versions, private ones included. Nobody is before
    /// [`Webhooks::start`].
    pub webhooks: Arc<Webhooks>,
    /// Loaded plugins.
    pub registry: Arc<PluginRegistry>,
    /// Monitor of the releases. It follows the catalog where a test starts it.
    pub release_monitor: Arc<ReleaseMonitor>,
    /// The sandbox in which they run.
    pub sandbox: Arc<Sandbox>,
    fixture: Box<HostFixture>,
    state: AppState,
    settings: Box<ServiceSettings>,
    /// Reader of its snapshots.
    pub reader: Reader,
}

/// Database, storage and settings that the hosts of one service share.
#[derive(Clone)]
pub struct HostFixture {
    /// Folder of the stored files.
    pub folder: Arc<TempDir>,
    /// Address of the catalog.
    pub database: String,
    /// Bounds for it.
    pub bounds: DatabaseSettings,
    /// Address of the object store.
    pub storage: String,
    /// Bounds for it.
    pub storing: StorageSettings,
    /// Settings of the storage as the environment has them.
    pub variables: Vec<(String, String)>,
    /// Bytes of versions that were dropped and of revisions, made again.
    pub past_bytes: u64,
    /// Interval at which hosts read the catalog.
    pub poll_interval: Duration,
    /// Settings of sign-up.
    pub signup: SignupSettings,
    /// Folder of the dumps of plugins that fail; `None` for none.
    pub dumps: Option<PathBuf>,
}

impl Default for HostFixture {
    /// The embedded default in a new folder.
    fn default() -> Self {
        let folder = TempDir::new().unwrap();
        let database = yearbook_catalog::sqlite_url(&folder.path().join("yearbook.db"));
        let storage = format!("file:{}", folder.path().join("objects").display());
        Self {
            folder: Arc::new(folder),
            database,
            bounds: DatabaseSettings::default(),
            storage,
            storing: StorageSettings::default(),
            variables: Vec::new(),
            past_bytes: 1 << 30,
            poll_interval: CatalogCache::POLL_INTERVAL,
            signup: SignupSettings::default(),
            dumps: None,
        }
    }
}

impl HostFixture {
    /// The embedded catalog with this bucket.
    #[must_use]
    pub fn with_s3(s3: &S3Server, storing: StorageSettings) -> Self {
        Self { storage: s3.url.clone(), storing, variables: s3.variables(), ..Self::default() }
    }
}

/// As shipped, but that one caller may ask as often as it likes and hold all that there is: most
/// tests ask with one key, and have few sandbox instances.
#[must_use]
pub fn unbounded() -> ServiceSettings {
    let mut settings = ServiceSettings::default();
    settings.limits = LimitSettings {
        burst_per_second: 0,
        key_share_percent: 0,
        address_share_percent: 0,
        ..settings.limits
    };
    settings
}

impl TestApp {
    /// A service with no bounds for one caller and everything else as shipped.
    pub async fn start() -> Self {
        Self::with(unbounded()).await
    }

    /// A service with these settings and few sandbox instances, so that one kept by mistake is
    /// missed.
    pub async fn with(settings: ServiceSettings) -> Self {
        Box::pin(Self::with_limits(settings, Limits { instances: 16, ..Limits::default() })).await
    }

    /// A service with these settings and limits.
    pub async fn with_limits(settings: ServiceSettings, limits: Limits) -> Self {
        Box::pin(Self::with_all(
            HostFixture::default(),
            settings,
            limits,
            ReleaseMonitorSettings::default(),
        ))
        .await
    }

    /// A service as [`TestApp::start`] makes it, on what other hosts may share.
    pub async fn on_fixture(fixture: &HostFixture) -> Self {
        let limits = Limits { instances: 16, ..Limits::default() };
        Box::pin(Self::with_all(
            fixture.clone(),
            unbounded(),
            limits,
            ReleaseMonitorSettings::default(),
        ))
        .await
    }

    /// A service with these settings, on what other hosts may share.
    pub async fn with_settings_on(fixture: &HostFixture, settings: ServiceSettings) -> Self {
        let limits = Limits { instances: 16, ..Limits::default() };
        let release_settings = ReleaseMonitorSettings::default();
        Box::pin(Self::with_all(fixture.clone(), settings, limits, release_settings)).await
    }

    /// A service as [`TestApp::start`] makes it, whose releases are watched as `guarding` says.
    pub async fn with_monitor(release_settings: ReleaseMonitorSettings) -> Self {
        Self::with_monitor_and_limits(
            release_settings,
            Limits { instances: 16, ..Limits::default() },
        )
        .await
    }

    /// As [`TestApp::with_monitor`], with these limits.
    pub async fn with_monitor_and_limits(
        release_settings: ReleaseMonitorSettings,
        limits: Limits,
    ) -> Self {
        let mut settings = unbounded();
        // What comes from memory is not made by any release.
        settings.server.response_cache_bytes = 0;
        Box::pin(Self::with_all(HostFixture::default(), settings, limits, release_settings)).await
    }

    /// Another host on the same catalog and object store.
    pub async fn second_host(&self, release_settings: ReleaseMonitorSettings) -> Self {
        let limits = Limits { instances: 16, ..Limits::default() };
        Box::pin(Self::with_all(
            HostFixture::clone(&self.fixture),
            ServiceSettings::clone(&self.settings),
            limits,
            release_settings,
        ))
        .await
    }

    /// A service with all of these.
    pub async fn with_all(
        fixture: HostFixture,
        settings: ServiceSettings,
        limits: Limits,
        release_settings: ReleaseMonitorSettings,
    ) -> Self {
        let HostFixture {
            folder,
            database,
            bounds,
            storage,
            storing,
            variables,
            past_bytes,
            poll_interval,
            signup,
            dumps,
        } = fixture.clone();
        let store = yearbook_catalog::open(&database, &bounds).await.unwrap();
        let files = ObjectStorage::open_with(&storage, &storing, &variables).unwrap();
        let made = MadeFiles::new(past_bytes);
        let waiting = WaitingFiles::default();
        let files = files.with_made_files(made.clone()).with_waiting_files(waiting.clone());
        let workers = Workers::new(2);
        let catalog_cache = CatalogCache::start(Arc::clone(&store), poll_interval).await.unwrap();
        catalog_cache.follow_waiting_files(waiting);
        let registry = Arc::new(PluginRegistry::new());
        let sandbox = components::sandbox_with_dumps(limits, dumps.as_deref());
        PLUGINS.iter().for_each(|name| {
            registry.add(&sandbox.load(&components::component(name)).unwrap()).unwrap()
        });
        let release_monitor =
            ReleaseMonitor::new(Arc::clone(&store), Arc::clone(&sandbox), release_settings)
                .unwrap();
        let signup = Signup::open(Arc::clone(&store), signup, BASE_URL).await.unwrap();
        let webhooks = WebhookSettings { enabled: true, allow_private: true };
        let webhooks = Webhooks::open(Arc::clone(&store), webhooks, BASE_URL).await.unwrap();
        let reader = Reader::new(files.clone(), Arc::clone(&workers))
            .with_selection_budget(settings.limits.selection_bytes)
            .with_column_cache(settings.server.column_cache_bytes);
        let state = AppState::new(Services {
            keys: KeyVerifier::new(
                Arc::clone(&store),
                Arc::clone(&catalog_cache),
                &bounds,
                settings.plans,
            ),
            quota: Quota::new(Arc::clone(&store)),
            catalog_cache: Arc::clone(&catalog_cache),
            catalog: Arc::clone(&store),
            reader: reader.clone(),
            past_files: Arc::new(History::new(
                Arc::clone(&store),
                files.clone(),
                Arc::clone(&workers),
                made,
            )),
            storage: files.clone(),
            plugins: Arc::clone(&registry),
            sandbox: Arc::clone(&sandbox),
            releases: release_monitor.clone(),
            workers: Arc::clone(&workers),
            required_formats: PLUGINS[..4].iter().map(|&format| format.to_owned()).collect(),
            signup: (signup.settings().mode != SignupMode::Off).then(|| Arc::clone(&signup)),
            webhooks: Some(Arc::clone(&webhooks)),
            settings: settings.clone(),
        })
        .await
        .unwrap();
        let admin = yearbook_server::admin(state.clone());
        Self {
            router: yearbook_server::app(state.clone()),
            admin,
            store,
            catalog_cache,
            folder,
            files,
            workers,
            signup,
            webhooks,
            registry,
            release_monitor,
            sandbox,
            fixture: Box::new(fixture),
            state,
            settings: Box::new(settings),
            reader,
        }
    }

    /// Serves clients on `listener` until `stop` is ready, as the binary does.
    pub fn serve_public(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> JoinHandle<std::io::Result<()>> {
        tokio::spawn(yearbook_server::serve_public(listener, self.state.clone(), stop))
    }

    /// Serves operators on `listener`, as the binary does.
    pub fn serve_admin(&self, listener: TcpListener) -> JoinHandle<std::io::Result<()>> {
        tokio::spawn(yearbook_server::serve_admin(listener, self.state.clone()))
    }

    /// Sandbox instances that no response holds.
    #[must_use]
    pub fn free_instances(&self) -> usize {
        self.sandbox.free_instances()
    }

    /// Returns the counters of the response cache.
    #[must_use]
    pub fn response_cache(&self) -> ResponseCacheStats {
        self.state.response_cache()
    }

    /// Returns the counters of reading stored rows.
    #[must_use]
    pub fn reads(&self) -> ReadMetricsSnapshot {
        self.reader.counts()
    }

    /// Serves `component` from now on in place of the encoder of the same format.
    pub fn replace_encoder(&self, component: &[u8]) {
        let new = self.sandbox.load(component).unwrap();
        let current = self.registry.current();
        let others =
            current.encoders().filter(|encoder| encoder.description().format != new.name());
        let mut plugins: Vec<Plugin> = others.cloned().map(Plugin::Encoder).collect();
        plugins.extend(current.generators().cloned().map(Plugin::Generator));
        plugins.push(new);
        self.registry.replace(PluginSet::new(&plugins, []));
    }

    /// Loads one more plugin while the service runs.
    pub fn load(&self, name: &str) {
        self.registry.add(&self.sandbox.load(&components::component(name)).unwrap()).unwrap();
    }

    /// Publishes a package as the command line does; the service sees it when this returns. The
    /// snapshot's id.
    pub async fn publish(&self, table: &TestTable) -> String {
        self.publish_at(table, yearbook_catalog::clock::now()).await
    }

    /// The same as of `at`, or a second after the snapshot before it.
    pub async fn publish_at(&self, table: &TestTable, at: Millis) -> String {
        let folder = TempDir::new().unwrap();
        Box::pin(self.publish_package(&table.write(folder.path()), at)).await
    }

    /// The same for a package on disk.
    pub async fn publish_package(&self, package: &Path, at: Millis) -> String {
        let package = DataPackage::open(package).unwrap();
        let (store, workers) = (Arc::clone(&self.store), Arc::clone(&self.workers));
        let mut publisher =
            Publisher::new(store, &self.files, workers, Retention::default()).with_created_at(at);
        if self.settings.share.iceberg {
            let (store, workers) = (Arc::clone(&self.store), Arc::clone(&self.workers));
            let writer = IcebergWriter::new(store, &self.files, workers).unwrap();
            publisher = publisher.with_iceberg(writer);
        }
        let published = Box::pin(publisher.publish(&package, &SilentReporter)).await.unwrap();
        self.catalog_cache.refresh().await.unwrap();
        published.publication.snapshot.id.to_string()
    }

    /// Waits for the search index, by which pages list datasets: it follows what is published.
    pub async fn until_listed(&self, dataset: &str) {
        while !self.get("/datasets").send().await.text().contains(dataset) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Publishes a package that nobody sees before `at`; the id of its snapshot.
    pub async fn release(&self, table: &TestTable, at: Millis) -> String {
        self.release_announced(table, at, None).await
    }

    /// The same, announced under a title.
    pub async fn release_announced(
        &self,
        table: &TestTable,
        at: Millis,
        title: Option<&str>,
    ) -> String {
        let folder = TempDir::new().unwrap();
        let package = DataPackage::open(&table.write(folder.path())).unwrap();
        let (store, workers) = (Arc::clone(&self.store), Arc::clone(&self.workers));
        let publisher = Publisher::new(store, &self.files, workers, Retention::default());
        let announce = title.map(|title| Some(title.to_owned()));
        let terms = ReleaseTerms { at, announce, replace: false };
        let released = Box::pin(publisher.release(&package, &terms, &SilentReporter)).await;
        let ReleaseResult { publication, outcome } = released.unwrap();
        assert!(matches!(outcome, ReleaseOutcome::Waits(_)), "{outcome:?}");
        publication.snapshot.id.to_string()
    }

    /// A new key of this plan.
    pub async fn key(&self, plan: Plan) -> String {
        let (issued, hash) = key::issue().unwrap();
        let record = KeyRecord {
            id: key::new_id().unwrap(),
            label: None,
            plan,
            created_at: yearbook_catalog::clock::now(),
            revoked_at: None,
        };
        self.store.insert_key(&record, &hash).await.unwrap();
        self.catalog_cache.refresh().await.unwrap();
        issued.expose().to_owned()
    }

    /// Begins a GET of `path`.
    pub fn get(&self, path: &str) -> TestRequest {
        self.ask("GET", path)
    }

    /// Begins a HEAD of `path`.
    pub fn head(&self, path: &str) -> TestRequest {
        self.ask("HEAD", path)
    }

    /// Returns the text of the admin listener's `/metrics`.
    pub async fn metrics(&self) -> String {
        TestRequest::to(self.admin.clone(), "GET", "/metrics").send().await.text()
    }

    /// Sum of the samples of the admin listener's `/metrics` that `selector` names: `name`, or
    /// `name{label="value"}`. None where no sample matches.
    pub async fn metric(&self, selector: &str) -> Option<f64> {
        yearbook_exposition::sum(
            &yearbook_exposition::parse_samples(&self.metrics().await),
            selector,
        )
    }

    /// Begins a request.
    pub fn ask(&self, method: &str, path: &str) -> TestRequest {
        TestRequest::to(self.router.clone(), method, path)
    }
}
