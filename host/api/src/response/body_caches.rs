//! Memory of what encoders made, declined and failed at, and of what transforms would make. Never
//! touches a request.

use yearbook_http::settings::ServerSettings;

use super::chain_cache::ChainCache;
use super::failure_cache::FailureCache;
use super::open_outcomes::OpenCheckCache;
use super::response_cache::ResponseCache;

/// Memory of what encoders made, declined and failed at.
pub(crate) struct BodyCaches {
    /// Bodies of small data responses.
    pub(crate) cache: ResponseCache,
    /// Recent failures of encoders.
    pub(crate) failures: FailureCache,
    /// Schemas and options that encoders accept or decline.
    pub(crate) open_checks: OpenCheckCache,
    /// Planned chains of transforms.
    pub(crate) chains: ChainCache,
}

impl BodyCaches {
    /// Empty caches, as large as the settings say.
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        Self {
            cache: ResponseCache::new(settings),
            failures: FailureCache::new(settings.failed_input()),
            open_checks: OpenCheckCache::default(),
            chains: ChainCache::default(),
        }
    }
}
