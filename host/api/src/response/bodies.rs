//! Bodies of responses with rows: from the response cache, or rendered. Never touches headers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::body::Body;
use yearbook_http::Error;
use yearbook_http::body::BodyContent;
use yearbook_sandbox::EncodedBody;
use yearbook_shares::CallerShare;

use super::plan::ResponsePlan;
use super::render::{self, EncodedRows};
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
    let outcome = render::render(app, request, plan, holder).await;
    if let Some(slot) = slot {
        slot.fill(&outcome);
    }
    outcome
}

/// Returns the rows of `plan` in no coding, from the cache or encoded. Where only the end tells
/// their number, they are no matter of the cache, which keeps what is known before.
///
/// # Errors
/// Those of [`render::render`].
pub(super) async fn rows_of(
    app: &ApiState,
    request: &DataRequest,
    plan: &ResponsePlan,
    holder: &CallerShare,
) -> Result<EncodedRows, Error> {
    let read = plan.source.read_plan();
    let is_counted = read.is_some_and(|read| read.max_rows.is_some() || !read.is_filtered());
    let mut slot = None;
    if is_counted {
        match app.bodies.cache.lookup(&plan.tag, None).await {
            CacheLookup::Hit(RenderedBody { content: BodyContent::Whole(bytes), counts }) => {
                let sent_rows = Arc::new(AtomicU64::new(counts.rows.unwrap_or(0)));
                return Ok(EncodedRows { body: EncodedBody::Whole(bytes), counts, sent_rows });
            }
            CacheLookup::Hit(_) => {}
            CacheLookup::Miss(empty) => slot = Some(empty),
        }
    }
    let encoded = render::encode(app, request, plan, holder).await?;
    if let Some(slot) = slot {
        let content = match &encoded.body {
            EncodedBody::Whole(bytes) => BodyContent::Whole(bytes.clone()),
            EncodedBody::Stream(_) => BodyContent::Stream(Body::empty()),
        };
        slot.fill(&Ok(RenderedBody { content, counts: encoded.counts }));
    }
    Ok(encoded)
}
