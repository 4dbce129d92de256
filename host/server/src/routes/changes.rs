//! `/v1/datasets/{name}/changes`: what changed since a watermark (contract-4-changes-law). The same
//! straight line as `/data`; only what is read differs, and where it goes on is known before
//! anything is read.

mod head;
mod since;

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use yearbook_domain::changes::{self, ChangeSet, Watermark};
use yearbook_domain::query::last_value;
use yearbook_domain::{Credit, CreditLine, Dataset, PlanLimits, Refusal, Snapshot};
use yearbook_sandbox::OptionValue;
use yearbook_scan::ChangesPlan;

use crate::charge::charged;
use crate::error::Error;
use crate::extract::DataRequest;
use crate::middleware::authentication::Authenticated;
use crate::respond::head::ResponseHead;
use crate::respond::preconditions::PreconditionOutcome;
use crate::respond::{EntityTag, body, open_check, preconditions, render};
use crate::state::AppState;

/// What one answer holds, and how far the client is then.
struct ChangesSelection {
    plan: ChangesPlan,
    watermark: String,
    more: bool,
    /// The plan's row cap, where it is what held changes back.
    capped_at: Option<u64>,
}

/// `GET /v1/datasets/{name}/changes`.
pub(crate) async fn rows(
    State(state): State<AppState>,
    keyed: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let plugins = state.registry.current();
    let (parts, _) = request.into_parts();
    let asked = DataRequest::parse_with(&parts, plugins, changes::parse_query)?;
    state.own().http.set_format(&parts.extensions, &asked.encoder.description().format);
    let dataset = state
        .live
        .dataset(asked.name.as_str())
        .ok_or_else(|| Refusal::NoSuchDataset { name: asked.name.to_string() })?;
    let history = state.store.changes(&dataset.name).await?;
    // Every problem at once: a watermark that is none, then options that are wrong.
    let since = since::read(&state, &dataset, last_value(&asked.pairs, "since"));
    let (since, options) = match (since, asked.options()) {
        (Ok(since), Ok(options)) => (since, options),
        (since, options) => {
            return Err(Refusal::InvalidParameters(
                since.err().into_iter().chain(options.err().into_iter().flatten()).collect(),
            )
            .into());
        }
    };
    let start = since::locate(&state, &dataset, &history, since).await?;
    let answer =
        Arc::new(select_changes(&state, &asked, &dataset, &history, start, keyed.caller.limits()));
    let request = ChangesResponder {
        state: &state,
        keyed: &keyed,
        parts: &parts,
        answer: &answer,
        options: &options,
    };
    let head = match request.without_body(&asked).await {
        Continue(head) => head,
        Break(response) => {
            let again = async |asked: DataRequest| {
                request.without_body(&asked).await.break_value().unwrap_or(Err(Error::PluginFailed))
            };
            return render::with_fallback_release(&state, &asked, response, again).await;
        }
    };
    // A quota is counted in the database: what the encoder declines is found out without it, and
    // before a used-up month (contract-1-order).
    let limited = keyed.caller.limits().requests_per_month.is_some();
    let opened =
        if limited { Box::pin(request.check_open(&asked, &head.tag)).await } else { Ok(()) };
    let opened = match opened {
        Err(declined @ Error::Refused(_)) => return Err(declined),
        // Another release may do better, within the work.
        Err(Error::PluginFailed) => opened,
        // What has no room now is judged with the work: a used-up month comes before it.
        Ok(()) | Err(_) => Ok(()),
    };
    let work = async {
        let first = match opened {
            Ok(()) => request.body(&asked, head).await,
            Err(failed) => Err(failed),
        };
        // Another release, another tag: its preconditions are evaluated anew.
        let again = async |asked: DataRequest| match request.without_body(&asked).await {
            Break(response) => response,
            Continue(head) => request.body(&asked, head).await,
        };
        render::with_fallback_release(&state, &asked, first, again).await
    };
    charged(&state, &keyed, &parts.method, work).await
}

/// A request whose refusals by the host have all passed.
struct ChangesResponder<'a> {
    state: &'a AppState,
    keyed: &'a Authenticated,
    parts: &'a Parts,
    answer: &'a Arc<ChangesSelection>,
    options: &'a [OptionValue],
}

impl ChangesResponder<'_> {
    /// 304, or the answer to HEAD, by the release of `asked`; for a GET that needs a body, its
    /// head.
    async fn without_body(
        &self,
        asked: &DataRequest,
    ) -> ControlFlow<Result<Response, Error>, ResponseHead> {
        let head = head::response_head(self.parts, asked, self.answer, self.options);
        let preconditions = preconditions::evaluate(&self.parts.headers, &head.tag, None);
        match preconditions {
            Ok(PreconditionOutcome::Met) if self.parts.method != Method::HEAD => {
                return Continue(head);
            }
            Ok(PreconditionOutcome::NotModified)
                if open_check::is_named_by_client(&self.parts.headers, &head.tag) =>
            {
                return Break(Ok(head.not_modified()));
            }
            _ => {}
        }
        // What GET would refuse comes before a false precondition (RFC 9110, 13.2.1).
        if let Err(refused) = Box::pin(self.check_open(asked, &head.tag)).await {
            return Break(Err(refused));
        }
        Break(preconditions.map(|preconditions| match preconditions {
            PreconditionOutcome::NotModified => head.not_modified(),
            PreconditionOutcome::Met => head.with(body::empty()),
        }))
    }

    /// Judges whether the release of `asked` takes schema and options.
    async fn check_open(&self, asked: &DataRequest, tag: &EntityTag) -> Result<(), Error> {
        let asker = render::request_fingerprint(self.keyed, asked, tag, self.options);
        open_check::check(
            self.state,
            asked,
            &asker,
            &self.keyed.holder,
            self.answer.plan.schema(),
            self.options,
        )
        .await
    }

    /// The response of the release of `asked`.
    async fn body(&self, asked: &DataRequest, head: ResponseHead) -> Result<Response, Error> {
        let (reader, answer) = (self.state.reader.clone(), Arc::clone(self.answer));
        let asker = render::request_fingerprint(self.keyed, asked, &head.tag, self.options);
        let scan = async move { reader.changes(&answer.plan).await };
        let made = Box::pin(render::render(
            self.state,
            asked,
            asker,
            self.keyed.holder.clone(),
            self.options.to_vec(),
            head.coding,
            scan,
        ))
        .await?;
        Ok(head.with(made.content.into()))
    }
}

/// Decides what is sent: no I/O.
fn select_changes(
    state: &AppState,
    asked: &DataRequest,
    dataset: &Dataset,
    history: &[ChangeSet],
    start: Watermark,
    limits: PlanLimits,
) -> ChangesSelection {
    let cap = limits.row_cap.filter(|cap| *cap < asked.query.limit);
    let pull = changes::next_page(history, start, cap.unwrap_or(asked.query.limit));
    let parts: Vec<_> = pull
        .ranges
        .into_iter()
        .filter_map(|(set, rows)| Some((history.get(set)?.clone(), rows)))
        .collect();
    // The id that the client is at, as soon as it is at one; rows keep the credit that they were
    // published with.
    let reached = parts.last().map(|(set, _)| set).or(history.last());
    let CreditLine { attribution, licence } =
        changes::credit_between(history, start, pull.end, &(&dataset.current.credit).into());
    let snapshot = Snapshot {
        id: reached.map_or(&dataset.current.id, |set| &set.to).clone(),
        columns: reached.map_or(&dataset.current.columns, |set| &set.columns).clone(),
        credit: Credit { attribution, licence, ..dataset.current.credit.clone() },
        ..Snapshot::clone(&dataset.current)
    };
    let plan = ChangesPlan {
        dataset: dataset.name.clone(),
        namespace: dataset.namespace.clone(),
        columns: snapshot.columns.clone(),
        snapshot: Arc::new(snapshot),
        geometry: asked.query.geometry,
        parts,
    };
    ChangesSelection {
        plan,
        watermark: since::watermark(state, dataset, history, pull.end),
        more: pull.has_more,
        capped_at: cap.filter(|_| pull.row_limit_reached),
    }
}
