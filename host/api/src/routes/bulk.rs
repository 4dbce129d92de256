//! `/v1/bulk/{namespace}/{name}`: the stored file itself (spec-4.3-file). A stream of the file's
//! bytes stands in place of a body, or an address where the store has it (decision 0166). Nothing
//! is decoded, encoded or compressed.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use futures::StreamExt;
use http::header::RANGE;
use yearbook_domain::CanonicalQuery;
use yearbook_domain::bulk::{BulkPlan, FILE_MEDIA_TYPE};
use yearbook_http::bulk_headers::BulkHead;
use yearbook_http::byte_range::{ByteRange, requested_range};
use yearbook_http::reservation::{Patience, Reservation};
use yearbook_http::{AuthenticatedCaller, Error, body, preconditions};

use crate::ApiState;
use crate::request::BulkRequest;
use crate::response::citation_link;

/// `GET /v1/bulk/{namespace}/{name}`.
pub(crate) async fn download(
    State(app): State<Arc<ApiState>>,
    auth: AuthenticatedCaller,
    request: Request,
) -> Result<Response, Error> {
    let request = BulkRequest::parse(request)?;
    let dataset = request.dataset(&app)?;
    let plan = request.plan(&app, &auth, &dataset).await?;
    let head = BulkHead::new(&plan);
    if let Some(response) = head.without_body(&request.parts)? {
        // 304 names no citation, as that of rows does not.
        let is_of_head = response.status().is_success();
        return Ok(if is_of_head {
            with_citation(&app, &request, &plan, response)
        } else {
            response
        });
    }
    let range = requested_range(&request.parts.headers, &head, Some(&dataset))?;
    let reservation = app.core.reserve(&auth, Patience::Queue).await?;
    let response = send_file(&app, &request, &plan, &head, range, &reservation).await;
    let response = response.map(|response| with_citation(&app, &request, &plan, response));
    reservation.settle(response).await
}

/// Adds the link to the citation of the whole snapshot (contract-13-link).
fn with_citation(
    app: &ApiState,
    request: &BulkRequest,
    plan: &BulkPlan,
    mut response: Response,
) -> Response {
    let (dataset, id) = (&plan.dataset, &plan.snapshot.id);
    let whole = CanonicalQuery::default();
    let headers = response.headers_mut();
    citation_link::append(headers, app, &request.parts, dataset, id, &whole);
    response
}

/// Returns 307 to the store, or the bytes of `range`; none: of the whole file.
///
/// # Errors
/// 503 where the store does not answer, 500 where the file is missing or damaged.
async fn send_file(
    app: &ApiState,
    request: &BulkRequest,
    plan: &BulkPlan,
    head: &BulkHead,
    range: Option<ByteRange>,
    reservation: &Reservation,
) -> Result<Response, Error> {
    let (headers, file) = (&request.parts.headers, &plan.snapshot.file);
    // Ranges and conditions are evaluated by our tags and dates, which the store does not know;
    // clients repeat them there.
    if !headers.contains_key(RANGE)
        && !preconditions::has_match_precondition(headers)
        && let Some(link) = app.core.storage.link(file, FILE_MEDIA_TYPE, head.disposition()).await?
    {
        return head.redirect(link);
    }
    let bytes = range.as_ref().map_or(0..file.bytes, |ByteRange(range)| range.clone());
    let holder = reservation.holder().clone();
    // An eighth, so that many downloads at once get smaller chunks long before there is no room.
    let room = move || (holder.room() / 8) as u64;
    let mut chunks = app.core.storage.stream(file, bytes, room);
    // Awaited, so that a missing or damaged file is still an honest status.
    let first = chunks.next().await.transpose()?;
    let rest = chunks.map(|chunk| chunk.map_err(body::BodyError::new)).boxed();
    let body = Body::from_stream(body::log_errors(
        futures::stream::iter(first.map(Ok)).chain(rest).boxed(),
    ));
    Ok(match range {
        Some(range) => head.partial(&range, body),
        None => head.whole(body),
    })
}
