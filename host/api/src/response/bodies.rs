//! Bodies of responses with rows: from the response cache, or rendered. The fallback release takes
//! over here where a release fails before the first byte. Never touches headers.

use axum::response::Response;

use super::failure_cache::FailureCache;
use super::open_check::OpenCheckCache;
use super::plan::ResponsePlan;
use super::render::{self, RenderedBody};
use super::response_cache::{CacheLookup, ResponseCache};
use super::without_body::answer_without_body;
use crate::ApiState;
use crate::request::DataRequest;
use yearbook_http::Error;
use yearbook_http::reservation::{Chargeable, Reservation};
use yearbook_http::settings::ServerSettings;

/// Memory of what encoders made, declined and failed at.
pub(crate) struct Bodies {
    /// Bodies of small data responses.
    pub(crate) cache: ResponseCache,
    /// Recent failures of encoders.
    pub(crate) failures: FailureCache,
    /// Schemas and options that encoders accept or decline.
    pub(crate) open_checks: OpenCheckCache,
}

/// The body of a response, with the plan of the release that served it.
pub(crate) enum RowsResponse {
    /// Rows, and 200.
    Rendered(ResponsePlan, RenderedBody),
    /// 304: the client has the body of the fallback release already.
    WithoutBody(Response),
}

impl Chargeable for RowsResponse {
    fn is_charged(&self) -> bool {
        matches!(self, Self::Rendered(..))
    }
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

    /// Returns the body of `plan`, by its release or by the fallback release. When this returns,
    /// the first chunk is there: later failures can only cut the body.
    ///
    /// # Errors
    /// Those of [`render::render`]; 412 where a precondition is false for the fallback release.
    pub(crate) async fn get(
        &self,
        app: &ApiState,
        request: &DataRequest,
        plan: ResponsePlan,
        reservation: &Reservation,
    ) -> Result<RowsResponse, Error> {
        let first = if plan.release_failed {
            Err(Error::PluginFailed)
        } else {
            self.render(app, request, &plan, reservation).await
        };
        match first {
            Ok(body) => Ok(RowsResponse::Rendered(plan, body)),
            Err(Error::PluginFailed) => {
                let fallback =
                    plan.with_fallback_release(&*app.core.releases).ok_or(Error::PluginFailed)?;
                let holder = reservation.holder();
                if let Some(response) = answer_without_body(app, request, holder, &fallback).await?
                {
                    return Ok(RowsResponse::WithoutBody(response));
                }
                let body = self.render(app, request, &fallback, reservation).await?;
                Ok(RowsResponse::Rendered(fallback, body))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the body of `plan` from the cache, or renders it.
    async fn render(
        &self,
        app: &ApiState,
        request: &DataRequest,
        plan: &ResponsePlan,
        reservation: &Reservation,
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
        let outcome = Box::pin(render::render(app, request, plan, reservation.holder())).await;
        if let Some(slot) = slot {
            slot.fill(&outcome);
        }
        outcome
    }
}
