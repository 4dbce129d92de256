//! Bodies of responses with rows: from the response cache, or rendered. Never touches headers.

use yearbook_http::Error;
use yearbook_shares::CallerShare;

use super::plan::ResponsePlan;
use super::render;
use super::response_cache::{CacheLookup, RenderedBody};
use crate::ApiState;
use crate::request::DataRequest;

/// Returns the body of `plan` from the cache, or renders it. When this returns, the first chunk
/// is there: later failures can only cut the body.
///
/// # Errors
/// Those of [`render::render`].
pub(super) async fn body_of(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
) -> Result<RenderedBody, Error> {
    let slot = if plan.source.is_cacheable() {
        match app.bodies.cache.lookup(&plan.tag, plan.coding).await {
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
