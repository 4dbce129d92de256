//! `/v1/datasets/{name}/changes`: what changed since a watermark (contract 4). The same straight line as `/data`; only what is
//! read differs, and where it goes on is known before anything is read.

mod head;
mod since;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use yearbook_domain::changes::{self, ChangeSet, Mark};
use yearbook_domain::query::last;
use yearbook_domain::{Dataset, PlanLimits, Refusal, Snapshot};
use yearbook_sandbox::OptionValue;
use yearbook_snapshot::ChangesPlan;

use crate::charge::charged;
use crate::error::Error;
use crate::extract::Asked;
use crate::middleware::keyed::Keyed;
use crate::respond::conditional::Preconditions;
use crate::respond::head::Head;
use crate::respond::{body, conditional, rows};
use crate::state::AppState;

/// What one answer holds, and how far the client is then.
struct Answer {
    plan: ChangesPlan,
    watermark: String,
    more: bool,
    /// The plan's row cap, where it is what held changes back.
    capped_at: Option<u64>,
}

/// `GET /v1/datasets/{name}/changes`.
pub(crate) async fn rows(State(state): State<AppState>, keyed: Keyed, request: Request) -> Result<Response, Error> {
    let plugins = state.registry.current();
    let (parts, _) = request.into_parts();
    let asked = Asked::parse_by(&parts, plugins, changes::query)?;
    state.own().http.note_format(&parts.extensions, &asked.encoder.description().format);
    let dataset = state.live.dataset(asked.name.as_str()).ok_or_else(|| Refusal::NoSuchDataset { name: asked.name.to_string() })?;
    let history = state.store.changes(&dataset.name).await?;
    // Every problem at once: a watermark that is none, then options that are wrong.
    let since = since::read(&state, &dataset, last(&asked.pairs, "since"));
    let (since, options) = match (since, asked.options()) {
        (Ok(since), Ok(options)) => (since, options),
        (since, options) => {
            return Err(Refusal::Invalid(since.err().into_iter().chain(options.err().into_iter().flatten()).collect()).into());
        }
    };
    let start = since::place(&state, &dataset, &history, since).await?;
    let answer = Arc::new(answer(&state, &asked, &dataset, &history, start, keyed.limits));
    let head = head::of(&parts, &asked, &answer, &options);
    if conditional::evaluate(&parts.headers, &head.tag, None)? == Preconditions::NotModified {
        return Ok(head.not_modified());
    }
    if parts.method == Method::HEAD {
        return Ok(head.with(body::unsaid()));
    }
    let work = async {
        let first = made(&state, &keyed, &asked, &answer, &options, head).await;
        let again = async |asked: Asked| {
            let head = head::of(&parts, &asked, &answer, &options);
            // Another release, another tag.
            if conditional::evaluate(&parts.headers, &head.tag, None)? == Preconditions::NotModified {
                return Ok(head.not_modified());
            }
            made(&state, &keyed, &asked, &answer, &options, head).await
        };
        rows::or_before(&state, &asked, first, again).await
    };
    charged(&state, &keyed, &parts.method, work).await
}

/// The response of one release.
async fn made(
    state: &AppState,
    keyed: &Keyed,
    asked: &Asked,
    answer: &Arc<Answer>,
    options: &[OptionValue],
    head: Head,
) -> Result<Response, Error> {
    let (reader, answer) = (state.reader.clone(), Arc::clone(answer));
    let asker = rows::asker(keyed, &head.tag, options);
    let scan = async move { reader.changes(&answer.plan).await };
    let made = Box::pin(rows::make(state, asked, asker, options.to_vec(), head.coding, scan)).await?;
    Ok(head.with(made.content.into()))
}

/// Decides what is sent: no I/O.
fn answer(state: &AppState, asked: &Asked, dataset: &Dataset, history: &[ChangeSet], start: Mark, limits: PlanLimits) -> Answer {
    let cap = limits.row_cap.filter(|cap| *cap < asked.query.limit);
    let pull = changes::pull(history, start, cap.unwrap_or(asked.query.limit));
    let parts: Vec<_> = pull.parts.into_iter().filter_map(|(set, rows)| Some((history.get(set)?.clone(), rows))).collect();
    // The id that the client is at, as soon as it is at one; the credit is today's.
    let reached = parts.last().map(|(set, _)| set).or(history.last());
    let snapshot = Snapshot {
        id: reached.map_or(&dataset.current.id, |set| &set.to).clone(),
        columns: reached.map_or(&dataset.current.columns, |set| &set.columns).clone(),
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
    Answer { plan, watermark: since::watermark(state, dataset, history, pull.end), more: pull.more, capped_at: cap.filter(|_| pull.full) }
}
