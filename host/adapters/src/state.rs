//! State of adapters between requests. Never touches a request.

use std::sync::Arc;

use yearbook_api::ApiState;
use yearbook_domain::settings::AdapterSettings;
use yearbook_http::Core;
use yearbook_http::metrics::RoomCache;
use yearbook_search::NewestIndex;

use crate::document_cache::AdapterDocumentCache;

/// State of every request to an adapter.
pub struct AdaptersState {
    /// Services, limiters and counters.
    pub(crate) core: Arc<Core>,
    /// The room that makes rows.
    pub(crate) api: Arc<ApiState>,
    /// `[adapters]`.
    pub(crate) settings: AdapterSettings,
    /// Full-text search over the catalog.
    pub(crate) search: NewestIndex,
    /// Documents of free facts.
    pub(crate) documents: AdapterDocumentCache,
}

impl AdaptersState {
    /// Makes caches.
    #[must_use]
    pub fn new(
        core: Arc<Core>,
        api: Arc<ApiState>,
        settings: AdapterSettings,
        search: NewestIndex,
    ) -> Self {
        let documents = AdapterDocumentCache::new(settings.document_cache_bytes);
        Self { core, api, settings, search, documents }
    }

    /// Counters of the cache of documents, for metrics.
    #[must_use]
    pub fn cache(&self) -> RoomCache {
        self.documents.stats()
    }
}
