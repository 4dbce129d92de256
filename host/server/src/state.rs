//! The states of all rooms, built once by the binary. Never touches a request.

use std::sync::Arc;

#[cfg(feature = "adapters")]
use yearbook_adapters::AdaptersState;
use yearbook_api::{ApiSettings, ApiState, ResponseCacheStats};
use yearbook_catalog::{Catalog, CatalogCache, CatalogError, KeyVerifier, Quota};
use yearbook_http::Core;
use yearbook_http::metrics::{self, HttpMetrics, ListenerMetrics, RoomCache};
use yearbook_http::open_responses::OpenResponses;
use yearbook_http::past_files::PastFiles;
use yearbook_http::rate_limit::{BurstLimiter, RefusalPace};
#[cfg(feature = "pages")]
use yearbook_pages::PagesState;
use yearbook_sandbox::{PluginRegistry, ReleasePolicy, Sandbox};
use yearbook_scan::Reader;
#[cfg(feature = "share")]
use yearbook_share::ShareState;
use yearbook_signup::Signup;
use yearbook_storage::ObjectStorage;
use yearbook_webhooks::Webhooks;
use yearbook_workers::Workers;

#[cfg(any(feature = "pages", feature = "adapters"))]
use crate::search_index;
use crate::settings::ServiceSettings;
use crate::warm;

/// Parts that the binary hands to the server.
pub struct Services {
    /// The catalog in memory.
    pub catalog_cache: Arc<CatalogCache>,
    /// The catalog's database.
    pub catalog: Arc<Catalog>,
    /// The check of API keys.
    pub keys: KeyVerifier,
    /// Monthly quotas.
    pub quota: Arc<Quota>,
    /// The object store.
    pub storage: ObjectStorage,
    /// Reader of stored data.
    pub reader: Reader,
    /// Files of versions that retention dropped.
    pub past_files: Arc<dyn PastFiles>,
    /// Loaded plugins.
    pub plugins: Arc<PluginRegistry>,
    /// The sandbox that plugins run in, for its limits and metrics.
    pub sandbox: Arc<Sandbox>,
    /// Canaries, fallback releases and the circuit breaker.
    pub releases: Arc<dyn ReleasePolicy>,
    /// Threads for compression and hashing.
    pub workers: Arc<Workers>,
    /// Formats without which readiness is degraded (spec-4.1-format).
    pub required_formats: Vec<String>,
    /// Sign-up for Free keys. `None` where it is off.
    pub signup: Option<Arc<Signup>>,
    /// Addresses that are told of new versions. `None` where nobody is.
    pub webhooks: Option<Arc<Webhooks>>,
    /// Settings of the operator.
    pub settings: ServiceSettings,
}

/// The state of each room; cloning it is cheap.
#[derive(Clone)]
pub struct AppState {
    pub(crate) core: Arc<Core>,
    pub(crate) api: Arc<ApiState>,
    /// `None` where nobody is told of new versions.
    pub(crate) webhooks: Option<Arc<Webhooks>>,
    /// `None` where the settings have no pages.
    #[cfg(feature = "pages")]
    pub(crate) pages: Option<Arc<PagesState>>,
    #[cfg(feature = "share")]
    pub(crate) share: Arc<ShareState>,
    #[cfg(feature = "adapters")]
    pub(crate) adapters: Arc<AdaptersState>,
}

impl AppState {
    /// Fetches secrets, and makes limiters and caches.
    ///
    /// # Errors
    /// Fails when the database does not give the secrets.
    pub async fn new(services: Services) -> Result<Self, CatalogError> {
        metrics::start_time();
        let settings = services.settings.core();
        let has_pages = cfg!(feature = "pages") && services.settings.pages.enabled;
        let core = Arc::new(Core {
            catalog_cache: services.catalog_cache,
            catalog: services.catalog,
            keys: services.keys,
            quota: services.quota,
            storage: services.storage,
            reader: services.reader,
            past_files: services.past_files,
            plugins: services.plugins,
            sandbox: services.sandbox,
            releases: services.releases,
            workers: services.workers,
            open_responses: OpenResponses::start(&settings),
            burst_limiter: BurstLimiter::new(settings.limits),
            refusal_pace: Arc::new(RefusalPace::new(settings.limits)),
            http_metrics: HttpMetrics::default(),
            listener_metrics: ListenerMetrics::default(),
            settings,
        });
        warm::follow(&core.catalog_cache, core.reader.clone());
        let settings = ApiSettings {
            required_formats: services.required_formats,
            has_citation_pages: has_pages,
            links: services.settings.links,
            #[cfg(feature = "pages")]
            link_preview: Some(yearbook_pages::link_preview),
            #[cfg(not(feature = "pages"))]
            link_preview: None,
        };
        let api = Arc::new(ApiState::new(Arc::clone(&core), settings).await?);
        #[cfg(any(feature = "pages", feature = "adapters"))]
        let search = search_index::follow(&core.catalog_cache);
        Ok(Self {
            #[cfg(feature = "adapters")]
            adapters: {
                let settings = services.settings.adapters;
                let (core, api) = (Arc::clone(&core), Arc::clone(&api));
                Arc::new(AdaptersState::new(core, api, settings, search.clone()))
            },
            #[cfg(feature = "pages")]
            pages: if has_pages {
                let settings = services.settings.pages;
                let (core, cited_rows) = (Arc::clone(&core), Arc::clone(&api));
                let mails = (services.signup, services.webhooks.clone());
                let pages = PagesState::new(core, settings, mails, cited_rows, search);
                Some(Arc::new(Box::pin(pages).await?))
            } else {
                None
            },
            #[cfg(feature = "share")]
            share: Arc::new(ShareState::new(Arc::clone(&core), services.settings.share).await?),
            webhooks: services.webhooks,
            core,
            api,
        })
    }

    /// First segments of the addresses of pages.
    pub(crate) fn page_folders(&self) -> &'static [&'static str] {
        #[cfg(feature = "pages")]
        if self.pages.is_some() {
            return &yearbook_pages::FOLDERS;
        }
        &[]
    }

    /// Counters of the rooms' caches, for metrics.
    pub(crate) fn caches(&self) -> Vec<RoomCache> {
        let caches = self.api.caches().into_iter();
        #[cfg(feature = "adapters")]
        let caches = caches.chain([self.adapters.cache()]);
        caches.collect()
    }

    /// Counts of the response cache since the start.
    #[must_use]
    pub fn response_cache(&self) -> ResponseCacheStats {
        self.api.response_cache()
    }
}
