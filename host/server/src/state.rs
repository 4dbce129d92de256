//! What every handler shares, built once by the binary.

use std::ops::Deref;
use std::sync::Arc;

use yearbook_catalog::{Catalog, CatalogCache, CatalogError, KeyVerifier, Quota};
use yearbook_releases::ReleaseMonitor;
use yearbook_sandbox::{PluginRegistry, Sandbox};
use yearbook_scan::Reader;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::bodies::OpenResponses;
use crate::cursors::CursorCodec;
use crate::limits::BurstLimiter;
use crate::metrics::{self, HttpMetrics, ListenerMetrics};
use crate::respond::failure_cache::FailureCache;
use crate::respond::open_check::OpenCheckCache;
use crate::respond::response_cache::{ResponseCache, ResponseCacheStats};
use crate::routes::datasets::DatasetListCache;
use crate::routes::health::ReadinessCache;
use crate::routes::openapi::OpenApiCache;
use crate::routes::preview::PreviewCache;
use crate::settings::ServiceSettings;

/// What the server is made of.
pub struct Services {
    /// The catalogue in memory.
    pub live: Arc<CatalogCache>,
    /// The catalogue's database.
    pub store: Arc<Catalog>,
    /// Whose keys are whose.
    pub keys: KeyVerifier,
    /// Monthly quotas.
    pub meter: Arc<Quota>,
    /// The object store, for the readiness check.
    pub files: ObjectStorage,
    /// Reads stored data.
    pub reader: Reader,
    /// Loaded plugins.
    pub registry: Arc<PluginRegistry>,
    /// Where plugins run, for what is told about them.
    pub sandbox: Arc<Sandbox>,
    /// Watches what plugins make.
    pub guard: Arc<ReleaseMonitor>,
    /// Threads for compression and hashing.
    pub workers: Arc<Workers>,
    /// What an operator set.
    pub settings: ServiceSettings,
}

/// Shared by every request; cloning it is cheap.
#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// [`Parts`] and what is derived from them.
struct Shared {
    parts: Services,
    own: Own,
}

/// What the server keeps between requests.
pub(crate) struct Own {
    /// Writes and reads cursors.
    pub(crate) cursors: CursorCodec,
    /// Bodies on their way to clients.
    pub(crate) bodies: OpenResponses,
    /// Burst limits.
    pub(crate) bursts: BurstLimiter,
    /// The rendered list of datasets.
    pub(crate) listing: DatasetListCache,
    /// Rendered previews.
    pub(crate) previews: PreviewCache,
    /// Bodies of small data responses.
    pub(crate) responses: ResponseCache,
    /// What encoders accept.
    pub(crate) openings: OpenCheckCache,
    /// What encoders failed at a moment ago.
    pub(crate) failed_inputs: FailureCache,
    /// What requests have been.
    pub(crate) http: HttpMetrics,
    /// What connections have been.
    pub(crate) listeners: ListenerMetrics,
    /// The last readiness report.
    pub(crate) readiness: ReadinessCache,
    /// The rendered machine description.
    pub(crate) description: OpenApiCache,
}

impl AppState {
    /// Fetches the secret that signs cursors and makes limiters and caches.
    ///
    /// # Errors
    /// When the database does not give the secret.
    pub async fn new(parts: Services) -> Result<Self, CatalogError> {
        metrics::start_time();
        let secret = parts.store.secret("cursor").await?;
        let own = Own {
            cursors: CursorCodec::new(secret),
            bodies: OpenResponses::start(&parts.settings),
            bursts: BurstLimiter::new(parts.settings.limits),
            listing: DatasetListCache::default(),
            previews: PreviewCache::new(parts.settings.server.preview_cache_bytes),
            responses: ResponseCache::new(&parts.settings.server),
            openings: OpenCheckCache::default(),
            failed_inputs: FailureCache::new(parts.settings.server.failed_input()),
            http: HttpMetrics::default(),
            listeners: ListenerMetrics::default(),
            readiness: ReadinessCache::default(),
            description: OpenApiCache::default(),
        };
        Ok(Self(Arc::new(Shared { parts, own })))
    }

    /// What the response cache did so far.
    #[must_use]
    pub fn response_cache(&self) -> ResponseCacheStats {
        self.0.own.responses.stats()
    }

    /// What the server keeps between requests.
    pub(crate) fn own(&self) -> &Own {
        &self.0.own
    }
}

impl Deref for AppState {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.0.parts
    }
}
