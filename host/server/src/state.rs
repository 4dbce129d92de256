//! The state that every handler shares, built once by the binary. Never touches a request.

use std::ops::Deref;
use std::sync::Arc;

use yearbook_catalog::{Catalog, CatalogCache, CatalogError, KeyVerifier, Quota};
use yearbook_domain::{Dataset, DatasetName, Refusal};
use yearbook_sandbox::{PluginRegistry, ReleasePolicy, Sandbox};
use yearbook_scan::Reader;
use yearbook_signup::Signup;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::error::Error;
use crate::http::rate_limit::{BurstLimiter, RefusalPace};
use crate::metrics::{self, HttpMetrics, ListenerMetrics};
use crate::openapi::OpenApiCache;
use crate::pages::{Pages, SearchIndexState};
use crate::request::cursors::CursorCodec;
use crate::response::bodies::Bodies;
use crate::response::dataset_formats::DatasetFormatCache;
use crate::response::open_responses::OpenResponses;
use crate::response::response_cache::ResponseCacheStats;
use crate::routes::datasets::DatasetListCache;
use crate::routes::health::ReadinessCache;
use crate::routes::preview::PreviewCache;
use crate::settings::ServiceSettings;
use crate::share::ShareState;

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
    /// The object store, for the readiness check.
    pub storage: ObjectStorage,
    /// Reader of stored data.
    pub reader: Reader,
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
    /// Sign-up for Free keys; none: it is off.
    pub signup: Option<Arc<Signup>>,
    /// Settings of the operator.
    pub settings: ServiceSettings,
}

/// The state of every request; cloning it is cheap.
#[derive(Clone)]
pub struct AppState(Arc<AppContext>);

/// [`Services`], and the memory of the server between requests.
pub struct AppContext {
    services: Services,
    /// Codec of signed cursors.
    pub(crate) cursors: CursorCodec,
    /// Responses on their way to clients.
    pub(crate) open_responses: OpenResponses,
    /// Burst limits.
    pub(crate) burst_limiter: BurstLimiter,
    /// Refusals of each address.
    pub(crate) refusal_pace: Arc<RefusalPace>,
    /// The rendered list of datasets.
    pub(crate) dataset_list: DatasetListCache,
    /// Rendered previews.
    pub(crate) previews: PreviewCache,
    /// Bodies with rows, and the caches before them.
    pub(crate) bodies: Bodies,
    /// Formats that datasets have.
    pub(crate) dataset_formats: DatasetFormatCache,
    /// Counts of requests.
    pub(crate) http_metrics: HttpMetrics,
    /// Counts of connections.
    pub(crate) listener_metrics: ListenerMetrics,
    /// The last readiness report.
    pub(crate) readiness: ReadinessCache,
    /// The rendered machine description.
    pub(crate) openapi: OpenApiCache,
    /// The catalogue in a browser.
    pub(crate) pages: Pages,
    /// The warehouse share.
    pub(crate) share: ShareState,
    /// Full-text search over the catalog.
    pub(crate) search: SearchIndexState,
}

impl AppState {
    /// Fetches the secrets that sign cursors and addresses of files, and makes limiters and caches.
    ///
    /// # Errors
    /// Fails when the database does not give the secrets.
    pub async fn new(services: Services) -> Result<Self, CatalogError> {
        metrics::start_time();
        let secret = services.catalog.secret("cursor").await?;
        let share_secret = services.catalog.secret("share_files").await?;
        let settings = &services.settings;
        Ok(Self(Arc::new(AppContext {
            cursors: CursorCodec::new(secret),
            open_responses: OpenResponses::start(settings),
            burst_limiter: BurstLimiter::new(settings.limits),
            refusal_pace: Arc::new(RefusalPace::new(settings.limits)),
            dataset_list: DatasetListCache::default(),
            previews: PreviewCache::new(settings.server.preview_cache_bytes),
            bodies: Bodies::new(&settings.server),
            dataset_formats: DatasetFormatCache::default(),
            http_metrics: HttpMetrics::default(),
            listener_metrics: ListenerMetrics::default(),
            readiness: ReadinessCache::default(),
            share: ShareState::new(share_secret),
            openapi: OpenApiCache::default(),
            pages: Pages::new(settings, services.signup.is_some()),
            search: if settings.pages.enabled {
                SearchIndexState::follow(&services.catalog_cache)
            } else {
                SearchIndexState::absent()
            },
            services,
        })))
    }

    /// Counts of the response cache since the start.
    #[must_use]
    pub fn response_cache(&self) -> ResponseCacheStats {
        self.bodies.cache.stats()
    }

    /// Returns the dataset called `name`.
    ///
    /// # Errors
    /// 404 where there is no such dataset.
    pub(crate) fn dataset(&self, name: &DatasetName) -> Result<Arc<Dataset>, Error> {
        let dataset = self.catalog_cache.dataset(name.as_str());
        dataset.ok_or_else(|| Refusal::NoSuchDataset { name: name.to_string() }.into())
    }
}

impl Deref for AppState {
    type Target = AppContext;

    fn deref(&self) -> &AppContext {
        &self.0
    }
}

impl Deref for AppContext {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}
