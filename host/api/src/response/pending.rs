//! The step between a plan and its rows: preconditions (RFC 9110, 13), the encoder's `open`, and
//! the fallback release of a release that fails. Its result is an answer without a body, which
//! costs nothing, or the only value that can be rendered. Never touches quotas or stored rows
//! beyond their counts.

use axum::response::Response;
use http::Method;
use yearbook_http::preconditions::PreconditionOutcome;
use yearbook_http::reservation::Reservation;
use yearbook_http::{AuthenticatedCaller, Error, body, preconditions};
use yearbook_scan::RowCounts;
use yearbook_shares::CallerShare;

use super::bodies::{body_of, rows_of};
use super::headers::ResponseHead;
use super::open_check;
use super::plan::ResponsePlan;
use super::render::EncodedRows;
use crate::ApiState;
use crate::request::DataRequest;

/// Result of [`open`].
pub(crate) enum Opened {
    /// 304, or the response to HEAD.
    Answered(Response),
    /// A GET whose rows the client does not have.
    Pending(PendingResponse),
}

/// A response that wants rows; [`open`] alone makes one.
pub(crate) struct PendingResponse {
    plan: ResponsePlan,
    /// Failure of the encoder's `open`, which no fallback release mends. A used-up month comes
    /// before it (contract-1-order).
    failure: Option<Error>,
}

/// Opens the response of `plan`. Where the month is counted, the encoder is asked in any case: a
/// quota is counted in the database, and an encoder that declines is found without it, and before a
/// used-up month (contract-1-order).
///
/// # Errors
/// 412 for a false precondition; 422, 503 and 500 of the open check, where it is needed.
pub(crate) async fn open(
    app: &ApiState,
    request: &DataRequest,
    auth: &AuthenticatedCaller,
    plan: ResponsePlan,
) -> Result<Opened, Error> {
    let holder = &auth.holder;
    match answer_without_body(app, request, holder, &plan).await {
        Ok(Some(response)) => return Ok(Opened::Answered(response)),
        Ok(None) => {}
        Err(failed @ Error::PluginFailed) => {
            return open_fallback(app, request, holder, &plan).await?.ok_or(failed);
        }
        Err(error) => return Err(error),
    }
    let is_counted = auth.caller.limits().requests_per_month.is_some();
    let checked = if is_counted {
        Box::pin(open_check::check(app, request, &plan, holder)).await
    } else {
        Ok(())
    };
    match checked {
        Err(declined @ Error::Refused(_)) => Err(declined),
        Err(failed @ Error::PluginFailed) => {
            Ok(match open_fallback(app, request, holder, &plan).await? {
                Some(opened) => opened,
                None => Opened::Pending(PendingResponse { plan, failure: Some(failed) }),
            })
        }
        // A want of capacity is reported by the render: a used-up month comes before it.
        Ok(()) | Err(_) => Ok(Opened::Pending(PendingResponse { plan, failure: None })),
    }
}

/// Opens the same response by the fallback release, whose tag is another. `None` if there is no
/// such release.
///
/// # Errors
/// Those of [`open`].
async fn open_fallback(
    app: &ApiState,
    request: &DataRequest,
    holder: &CallerShare,
    plan: &ResponsePlan,
) -> Result<Option<Opened>, Error> {
    let Some(plan) = plan.with_fallback_release(&*app.core.releases) else { return Ok(None) };
    Ok(Some(match answer_without_body(app, request, holder, &plan).await? {
        Some(response) => Opened::Answered(response),
        None => Opened::Pending(PendingResponse { plan, failure: None }),
    }))
}

/// Returns the answer to HEAD and to a condition that does not hold, by the release of `plan`.
/// `None` for a GET that needs a body.
async fn answer_without_body(
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

impl PendingResponse {
    /// Renders the response: 200 with rows. Where the release fails before the first byte, the
    /// fallback release renders it, or answers 304.
    ///
    /// # Errors
    /// Those of [`render`](super::render::render), and 412 where a precondition is false for the
    /// fallback release.
    pub(crate) async fn render(
        self,
        app: &ApiState,
        request: &DataRequest,
        reservation: &Reservation,
    ) -> Result<Response, Error> {
        let Self { plan, failure } = self;
        if let Some(failure) = failure {
            return Err(failure);
        }
        let holder = reservation.holder();
        match render_release(app, request, holder, &plan).await {
            Err(failed @ Error::PluginFailed) => {
                match open_fallback(app, request, holder, &plan).await?.ok_or(failed)? {
                    Opened::Answered(response) => Ok(response),
                    Opened::Pending(fallback) => {
                        render_release(app, request, holder, &fallback.plan).await
                    }
                }
            }
            rendered => rendered,
        }
    }
}

impl PendingResponse {
    /// The rows in no coding, for a body that others write a part of; and the plan that made them,
    /// which is the fallback release's where that did.
    ///
    /// # Errors
    /// Those of [`render`](super::render::render).
    pub(crate) async fn encode(
        self,
        app: &ApiState,
        request: &DataRequest,
        holder: &CallerShare,
    ) -> Result<(ResponsePlan, EncodedRows), Error> {
        let Self { plan, failure } = self;
        if let Some(failure) = failure {
            return Err(failure);
        }
        match rows_of(app, request, &plan, holder).await {
            Err(failed @ Error::PluginFailed) => {
                let fallback = plan.with_fallback_release(&*app.core.releases).ok_or(failed)?;
                let rows = rows_of(app, request, &fallback, holder).await?;
                Ok((fallback, rows))
            }
            rows => Ok((plan, rows?)),
        }
    }

    /// Returns what is known of the rows without reading them, for an answer to HEAD.
    ///
    /// # Errors
    /// Those that a GET would end with, as far as the encoder's `open` tells.
    pub(crate) async fn check(
        self,
        app: &ApiState,
        request: &DataRequest,
        holder: &CallerShare,
    ) -> Result<(ResponsePlan, RowCounts), Error> {
        let Self { mut plan, failure } = self;
        if let Some(failure) = failure {
            return Err(failure);
        }
        match Box::pin(open_check::check(app, request, &plan, holder)).await {
            Err(failed @ Error::PluginFailed) => {
                plan = plan.with_fallback_release(&*app.core.releases).ok_or(failed)?;
                Box::pin(open_check::check(app, request, &plan, holder)).await?;
            }
            checked => checked?,
        }
        let counts = Box::pin(plan.source.row_counts(&app.core.reader)).await?;
        Ok((plan, counts))
    }
}

/// Renders the response by the release of `plan` alone.
async fn render_release(
    app: &ApiState,
    request: &DataRequest,
    holder: &CallerShare,
    plan: &ResponsePlan,
) -> Result<Response, Error> {
    let body = body_of(app, request, plan, holder).await?;
    let head = ResponseHead::new(app, request, plan);
    Ok(head.with_body(app, request, plan, body.counts, body.content.into()))
}
