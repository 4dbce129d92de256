//! State of adapters between requests. Never touches a request.

use std::sync::Arc;

use yearbook_api::ApiState;
use yearbook_domain::settings::AdapterSettings;
use yearbook_http::Core;

/// State of every request to an adapter.
pub struct AdaptersState {
    /// Services, limiters and counters.
    pub(crate) core: Arc<Core>,
    /// What makes rows.
    pub(crate) api: Arc<ApiState>,
    /// `[adapters]`.
    pub(crate) settings: AdapterSettings,
}

impl AdaptersState {
    /// Makes caches.
    #[must_use]
    pub fn new(core: Arc<Core>, api: Arc<ApiState>, settings: AdapterSettings) -> Self {
        Self { core, api, settings }
    }
}
