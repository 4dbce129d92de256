//! `/v1/datasets/{name}/data` and its alias `/v1/series/{name}/data` (spec 4.1 and 4.2, contract 3): the straight line of
//! a request, one step after the other, in the order of contract 1.

mod head;
mod judge;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use tracing::Instrument;
use yearbook_domain::cursor::fingerprint;
use yearbook_domain::{Position, ReadPlan, Refusal, read};
use yearbook_sandbox::OptionValue;

use crate::charge::charged;
use crate::error::Error;
use crate::extract::Asked;
use crate::middleware::keyed::Keyed;
use crate::respond::conditional::Preconditions;
use crate::respond::head::Head;
use crate::respond::{body, conditional, rows};
use crate::state::AppState;

use self::judge::{Judged, judge};

/// `GET /v1/datasets/{name}/data` and `GET /v1/series/{name}/data`.
pub(crate) async fn rows(State(state): State<AppState>, keyed: Keyed, request: Request) -> Result<Response, Error> {
    let plugins = state.registry.current();
    let (parts, _) = request.into_parts();
    let asked = Asked::parse(&parts, plugins)?;
    state.own().http.note_format(&parts.extensions, &asked.encoder.description().format);
    let dataset = state.live.dataset(asked.name.as_str()).ok_or_else(|| Refusal::NoSuchDataset { name: asked.name.to_string() })?;
    let span = tracing::debug_span!("plan", dataset = asked.name.as_str());
    let Judged { snapshot, first_row, options } = judge(&state, &asked, &dataset).instrument(span).await?;
    let plan = Arc::new(read::plan(&dataset, snapshot, &keyed.caller, keyed.limits, &asked.query, first_row)?);
    let head = head::of(&state, &parts, &asked, &plan, &options);
    let evaluate = |head: &Head| conditional::evaluate(&parts.headers, &head.tag, Some(plan.snapshot.created_at));
    if evaluate(&head)? == Preconditions::NotModified {
        return Ok(head.not_modified());
    }
    if parts.method == Method::HEAD {
        return Ok(head.with(body::unsaid()));
    }
    let work = async {
        let first = Box::pin(answer(&state, &keyed, &parts, &asked, &plan, options.clone(), head)).await;
        let again = async |asked: Asked| {
            let head = head::of(&state, &parts, &asked, &plan, &options);
            // Another release, another tag.
            if evaluate(&head)? == Preconditions::NotModified {
                return Ok(head.not_modified());
            }
            Box::pin(answer(&state, &keyed, &parts, &asked, &plan, options.clone(), head)).await
        };
        rows::or_before(&state, &asked, first, again).await
    };
    charged(&state, &keyed, &parts.method, work).await
}

/// The response of one release: from memory, or read and encoded.
async fn answer(
    state: &AppState,
    keyed: &Keyed,
    parts: &Parts,
    asked: &Asked,
    plan: &Arc<ReadPlan>,
    options: Vec<OptionValue>,
    head: Head,
) -> Result<Response, Error> {
    let make = || {
        let (reader, plan) = (state.reader.clone(), Arc::clone(plan));
        let asker = rows::asker(keyed, &head.tag, &options);
        rows::make(state, asked, asker, options, head.coding, async move { reader.scan(&plan).await })
    };
    let made = state.own().responses.get(&head.tag, head.coding, make).await?;
    let mut response = head.with(made.content.into());
    if let Some(row) = made.next {
        let filters = fingerprint(&plan.dataset, &asked.query);
        let cursor = state.own().cursors.seal(&Position { snapshot: plan.snapshot.id.clone(), row, filters });
        head::more(response.headers_mut(), state, parts, asked, plan, &cursor);
    }
    Ok(response)
}
