//! `/v1/datasets/{name}/data` and its alias `/v1/series/{name}/data` (spec-4.2-alias): the straight
//! line of a request, one step after the other, in the order of contract-1-order.

mod head;
mod resolve;

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use tracing::Instrument;
use yearbook_domain::{ReadPlan, Refusal, read_plan};
use yearbook_sandbox::OptionValue;
use yearbook_scan::Reader;

use crate::charge::charged;
use crate::error::Error;
use crate::extract::DataRequest;
use crate::middleware::authentication::Authenticated;
use crate::respond::head::ResponseHead;
use crate::respond::preconditions::PreconditionOutcome;
use crate::respond::{body, open_check, preconditions, render};
use crate::state::AppState;

use self::resolve::{ResolvedRequest, resolve};

/// `GET /v1/datasets/{name}/data` and `GET /v1/series/{name}/data`.
pub(crate) async fn rows(
    State(state): State<AppState>,
    keyed: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let plugins = state.registry.current();
    let (parts, _) = request.into_parts();
    let asked = DataRequest::parse(&parts, plugins)?;
    state.own().http.set_format(&parts.extensions, &asked.encoder.description().format);
    let dataset = state
        .live
        .dataset(asked.name.as_str())
        .ok_or_else(|| Refusal::NoSuchDataset { name: asked.name.to_string() })?;
    let span = tracing::debug_span!("plan", dataset = asked.name.as_str());
    let ResolvedRequest { snapshot, first_row, options } =
        resolve(&state, &asked, &dataset).instrument(span).await?;
    let plan = Arc::new(read_plan::plan_read(
        &dataset,
        snapshot,
        keyed.caller.limits(),
        &asked.query,
        first_row,
    )?);
    let request = DataResponder {
        state: &state,
        keyed: &keyed,
        parts: &parts,
        plan: &plan,
        options: &options,
    };
    let head = match request.without_body(&asked).await {
        Continue(head) => head,
        Break(answer) => {
            let again = async |asked: DataRequest| {
                request.without_body(&asked).await.break_value().unwrap_or(Err(Error::PluginFailed))
            };
            return render::with_fallback_release(&state, &asked, answer, again).await;
        }
    };
    // A quota is counted in the database: what the encoder declines is found out without it, and
    // before a used-up month (contract-1-order).
    let opened = if keyed.caller.limits().requests_per_month.is_some() {
        Box::pin(request.check_open(&asked)).await
    } else {
        Ok(())
    };
    let opened = match opened {
        Err(declined @ Error::Refused(_)) => return Err(declined),
        // Another release may do better, within the work.
        Err(Error::PluginFailed) => opened,
        // What has no room now is judged with the work: a used-up month comes before it.
        Ok(()) | Err(_) => Ok(()),
    };
    let work = async {
        let first = match opened {
            Ok(()) => Box::pin(request.body(&asked, head)).await,
            Err(failed) => Err(failed),
        };
        // Another release, another tag: its preconditions are evaluated anew.
        let again = async |asked: DataRequest| match request.without_body(&asked).await {
            Break(answer) => answer,
            Continue(head) => Box::pin(request.body(&asked, head)).await,
        };
        render::with_fallback_release(&state, &asked, first, again).await
    };
    charged(&state, &keyed, &parts.method, work).await
}

/// A request whose refusals by the host have all passed.
struct DataResponder<'a> {
    state: &'a AppState,
    keyed: &'a Authenticated,
    parts: &'a Parts,
    plan: &'a Arc<ReadPlan>,
    options: &'a [OptionValue],
}

impl DataResponder<'_> {
    /// 304, or the answer to HEAD, by the release of `asked`; for a GET that needs a body, its
    /// head.
    async fn without_body(
        &self,
        asked: &DataRequest,
    ) -> ControlFlow<Result<Response, Error>, ResponseHead> {
        let head = head::response_head(self.state, self.parts, asked, self.plan, self.options);
        let preconditions = preconditions::evaluate(
            &self.parts.headers,
            &head.tag,
            Some(self.plan.snapshot.created_at),
        );
        match preconditions {
            Ok(PreconditionOutcome::Met) if self.parts.method != Method::HEAD => Continue(head),
            Ok(PreconditionOutcome::NotModified)
                if open_check::is_named_by_client(&self.parts.headers, &head.tag) =>
            {
                Break(Ok(head.not_modified()))
            }
            _ => Break(Box::pin(self.respond_after_open_check(asked, head, preconditions)).await),
        }
    }

    /// The same once the encoder has taken schema and options: what GET would refuse comes before a
    /// false precondition (RFC 9110, 13.2.1).
    async fn respond_after_open_check(
        &self,
        asked: &DataRequest,
        head: ResponseHead,
        preconditions: Result<PreconditionOutcome, Error>,
    ) -> Result<Response, Error> {
        self.check_open(asked).await?;
        if preconditions? == PreconditionOutcome::NotModified {
            return Ok(head.not_modified());
        }
        let counts = self.state.reader.row_counts(self.plan).await?;
        let mut response = head.with(body::empty());
        head::count(response.headers_mut(), self.state, self.parts, asked, self.plan, counts);
        Ok(response)
    }

    /// Judges whether the release of `asked` takes schema and options.
    async fn check_open(&self, asked: &DataRequest) -> Result<(), Error> {
        let tag = head::tag(asked, self.plan, self.options);
        let asker = render::request_fingerprint(self.keyed, asked, &tag, self.options);
        open_check::check(
            self.state,
            asked,
            &asker,
            &self.keyed.holder,
            Reader::schema(self.plan)?,
            self.options,
        )
        .await
    }

    /// The response of the release of `asked`: from memory, or read and encoded.
    async fn body(&self, asked: &DataRequest, head: ResponseHead) -> Result<Response, Error> {
        let Self { state, keyed, parts, plan, options } = *self;
        let make = || {
            let (reader, plan) = (state.reader.clone(), Arc::clone(plan));
            let asker = render::request_fingerprint(keyed, asked, &head.tag, options);
            render::render(
                state,
                asked,
                asker,
                keyed.holder.clone(),
                options.to_vec(),
                head.coding,
                async move { reader.scan(&plan).await },
            )
        };
        let made = state.own().responses.get(&head.tag, head.coding, make).await?;
        let mut response = head.with(made.content.into());
        head::count(response.headers_mut(), state, parts, asked, plan, made.counts);
        Ok(response)
    }
}
