//! Answers without a body: 304, 412 and HEAD. They are given before anything is charged. Never
//! touches quotas or stored rows beyond their counts.

use axum::response::Response;
use http::Method;
use yearbook_shares::CallerShare;

use super::headers::ResponseHead;
use super::open_check;
use super::plan::ResponsePlan;
use crate::ApiState;
use crate::request::DataRequest;
use yearbook_http::Authenticated;
use yearbook_http::Error;
use yearbook_http::preconditions::PreconditionOutcome;
use yearbook_http::{body, preconditions};

/// Returns the answer to HEAD and to a condition that does not hold; none for a GET that needs a
/// body. Sets `plan.release_failed` where the encoder fails at this request.
///
/// # Errors
/// 412 for a false precondition; 422, 503 and 500 of the open check, where it is needed.
pub(crate) async fn without_body(
    app: &ApiState,
    request: &DataRequest,
    auth: &Authenticated,
    plan: &mut ResponsePlan,
) -> Result<Option<Response>, Error> {
    let response = match answer_without_body(app, request, &auth.holder, plan).await {
        Err(Error::PluginFailed) => {
            let fallback =
                plan.with_fallback_release(&*app.core.releases).ok_or(Error::PluginFailed)?;
            let response = answer_without_body(app, request, &auth.holder, &fallback).await?;
            return response.ok_or(Error::PluginFailed).map(Some);
        }
        answered => answered?,
    };
    // A quota is counted in the database. An encoder that declines is found without the database,
    // and before a used-up month (contract-1-order).
    if response.is_none() && auth.caller.limits().requests_per_month.is_some() {
        match Box::pin(open_check::check(app, request, plan, &auth.holder)).await {
            Err(declined @ Error::Refused(_)) => return Err(declined),
            // The fallback release may do better, once the request is charged.
            Err(Error::PluginFailed) => plan.release_failed = true,
            // A want of capacity is reported by the render: a used-up month comes before it.
            Ok(()) | Err(_) => {}
        }
    }
    Ok(response)
}

/// Returns the same answer, by the release of `plan` alone.
///
/// # Errors
/// As with [`without_body`].
pub(super) async fn answer_without_body(
    app: &ApiState,
    request: &DataRequest,
    holder: &CallerShare,
    plan: &ResponsePlan,
) -> Result<Option<Response>, Error> {
    let headers = &request.parts.headers;
    let outcome = preconditions::evaluate(headers, &plan.tag, plan.source.modified());
    match outcome {
        Ok(PreconditionOutcome::Met) if request.parts.method != Method::HEAD => return Ok(None),
        Ok(PreconditionOutcome::NotModified)
            if open_check::is_named_by_client(headers, &plan.tag) =>
        {
            return Ok(Some(ResponseHead::new(app, request, plan).not_modified()));
        }
        _ => {}
    }
    // A refusal of GET comes before a false precondition (RFC 9110, 13.2.1).
    Box::pin(open_check::check(app, request, plan, holder)).await?;
    let head = ResponseHead::new(app, request, plan);
    Ok(Some(match outcome? {
        PreconditionOutcome::NotModified => head.not_modified(),
        PreconditionOutcome::Met => {
            let counts = Box::pin(plan.source.row_counts(&app.core.reader)).await?;
            head.with_body(app, request, plan, counts, body::empty())
        }
    }))
}
