//! Bodies of responses with rows: from the response cache, or rendered. Never touches headers.

use super::failure_cache::FailureCache;
use super::open_check::OpenCheckCache;
use super::plan::ResponsePlan;
use super::render::{self, RenderedBody};
use super::response_cache::{CacheLookup, ResponseCache};
use crate::ApiState;
use crate::request::DataRequest;
use yearbook_http::Error;
use yearbook_http::settings::ServerSettings;
use yearbook_shares::CallerShare;

/// Memory of what encoders made, declined and failed at.
pub(crate) struct Bodies {
    /// Bodies of small data responses.
    pub(crate) cache: ResponseCache,
    /// Recent failures of encoders.
    pub(crate) failures: FailureCache,
    /// Schemas and options that encoders accept or decline.
    pub(crate) open_checks: OpenCheckCache,
}

impl Bodies {
    /// Empty caches, as large as the settings say.
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        Self {
            cache: ResponseCache::new(settings),
            failures: FailureCache::new(settings.failed_input()),
            open_checks: OpenCheckCache::default(),
        }
    }

    /// Returns the body of `plan` from the cache, or renders it. When this returns, the first chunk
    /// is there: later failures can only cut the body.
    ///
    /// # Errors
    /// Those of [`render::render`].
    pub(super) async fn get(
        &self,
        app: &ApiState,
        request: &DataRequest,
        plan: &ResponsePlan,
        holder: &CallerShare,
    ) -> Result<RenderedBody, Error> {
        let slot = if plan.source.is_cacheable() {
            match self.cache.lookup(&plan.tag, plan.coding).await {
                CacheLookup::Hit(body) => return Ok(body),
                CacheLookup::Miss(slot) => Some(slot),
            }
        } else {
            None
        };
        // On the heap, and only where there is something to make: a scan and an encoder in the
        // making are large.
        let outcome = Box::pin(render::render(app, request, plan, holder)).await;
        if let Some(slot) = slot {
            slot.fill(&outcome);
        }
        outcome
    }
}
