//! State of `/v1` between requests. Never touches a request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use yearbook_cache::Cache;
use yearbook_catalog::{CatalogError, KnownHistory};
use yearbook_domain::{Dataset, DatasetName, Millis};
use yearbook_http::metrics::RoomCache;
use yearbook_http::{Core, Error};

use crate::link_settings::LinkSettings;
use crate::openapi::OpenApiCache;
use crate::request::cursors::CursorCodec;
use crate::request::data_link::LinkSealer;
use crate::response::body_caches::BodyCaches;
use crate::response::response_cache::ResponseCacheStats;
use crate::routes::datasets::list_cache::DatasetListCache;
use crate::routes::health::report::ReadinessCache;
use crate::routes::preview::cache::PreviewCache;

/// Histories that are held at most.
const HISTORIES: u64 = 64;

/// Age up to which a history is as it is: within it every host sees what is published.
const HISTORY_AGE: Duration = Duration::from_secs(2);

/// A dataset, and the version up to which its history is asked for.
pub(crate) type HistoryKey = (DatasetName, u64);

/// Answer with a page about a dataset.
pub type LinkPreview = fn(&Dataset) -> Result<Response, Error>;

/// Settings of the API besides those of every room.
#[derive(Clone, Debug, Default)]
pub struct ApiSettings {
    /// Formats without which readiness is degraded (spec-4.1-format).
    pub required_formats: Vec<String>,
    /// Set where citations have pages, which responses with rows link to.
    pub has_citation_pages: bool,
    /// `[links]`.
    pub links: LinkSettings,
    /// Page for programs that draw previews of links; `None` if the server is built without pages.
    pub link_preview: Option<LinkPreview>,
}

/// State of every request below `/v1`.
pub struct ApiState {
    /// Services, limiters and counters.
    pub(crate) core: Arc<Core>,
    pub(crate) settings: ApiSettings,
    /// Codec of signed cursors.
    pub(crate) cursors: CursorCodec,
    /// Seals links to rows.
    pub(crate) links: LinkSealer,
    /// The rendered list of datasets.
    pub(crate) dataset_list: DatasetListCache,
    /// Histories that were read a moment ago.
    pub(crate) histories: Cache<HistoryKey, Arc<KnownHistory>>,
    /// Times of their versions, likewise.
    pub(crate) history_times: Cache<HistoryKey, Arc<BTreeMap<u64, Millis>>>,
    /// Rendered previews.
    pub(crate) previews: PreviewCache,
    /// Bodies with rows, and the caches before them.
    pub(crate) bodies: BodyCaches,
    /// The last readiness report.
    pub(crate) readiness: ReadinessCache,
    /// The rendered machine description.
    pub(crate) openapi: OpenApiCache,
}

impl ApiState {
    /// Fetches the secrets of cursors and links, and makes caches.
    ///
    /// # Errors
    /// Fails when the database does not give the secrets.
    pub async fn new(core: Arc<Core>, settings: ApiSettings) -> Result<Self, CatalogError> {
        let server = &core.settings.server;
        Ok(Self {
            cursors: CursorCodec::new(core.catalog.secret("cursor").await?),
            links: LinkSealer::new(core.catalog.secret("link").await?),
            dataset_list: DatasetListCache::default(),
            histories: Cache::expiring(HISTORIES, HISTORY_AGE),
            history_times: Cache::expiring(HISTORIES, HISTORY_AGE),
            previews: PreviewCache::new(server.preview_cache_bytes),
            bodies: BodyCaches::new(server),
            readiness: ReadinessCache::default(),
            openapi: OpenApiCache::default(),
            settings,
            core,
        })
    }

    /// Counts of the response cache since the start.
    #[must_use]
    pub fn response_cache(&self) -> ResponseCacheStats {
        self.bodies.cache.stats()
    }

    /// Counters of the caches, for metrics.
    #[must_use]
    pub fn caches(&self) -> [RoomCache; 1] {
        let ResponseCacheStats { hits, misses, bytes, .. } = self.response_cache();
        [RoomCache { name: "responses", hits, misses, bytes }]
    }
}
