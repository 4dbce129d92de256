//! `/v1/datasets/{name}/data` and its alias `/v1/series/{name}/data` (spec 4.1 and 4.2, contract 3): the straight line of
//! a request, one step after the other, in the order of contract 1.

mod head;
mod judge;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use futures::StreamExt;
use http::Method;
use http::request::Parts;
use yearbook_domain::cursor::fingerprint;
use yearbook_domain::problem::Place;
use yearbook_domain::{Position, Problem, ReadPlan, Refusal, read};
use yearbook_sandbox::{BoxError, EncodeError, OptionValue};

use crate::charge::charged;
use crate::error::Error;
use crate::extract::Asked;
use crate::middleware::keyed::Keyed;
use crate::respond::{body, conditional};
use crate::state::AppState;

use self::judge::{Judged, judge};
use crate::respond::head::Head;

/// `GET /v1/datasets/{name}/data` and `GET /v1/series/{name}/data`.
pub(crate) async fn rows(State(state): State<AppState>, keyed: Keyed, request: Request) -> Result<Response, Error> {
    let plugins = state.registry.current();
    let (parts, _) = request.into_parts();
    let asked = Asked::parse(&parts, plugins)?;
    let dataset = state.live.dataset(asked.name.as_str()).ok_or_else(|| Refusal::NoSuchDataset { name: asked.name.to_string() })?;
    let Judged { snapshot, first_row, options } = judge(&state, &asked, &dataset).await?;
    let plan = read::plan(&dataset, snapshot, &keyed.caller, keyed.limits, &asked.query, first_row)?;
    let head = head::of(&state, &parts, &asked, &plan, &options);
    if conditional::not_modified(&parts.headers, &head.tag, Some(plan.snapshot.created_at)) {
        return Ok(head.not_modified());
    }
    if parts.method == Method::HEAD {
        return Ok(head.with(body::unsaid()));
    }
    // On the heap: a scan and an encoder in the making are large, and most requests end before this line.
    let work = Box::pin(produce(&state, &parts, &asked, &plan, &options, &head));
    charged(&state, &keyed, &parts.method, work).await
}

/// Reads, encodes and compresses up to the first chunk; what fails up to here is still an honest status.
async fn produce(
    state: &AppState,
    parts: &Parts,
    asked: &Asked,
    plan: &ReadPlan,
    options: &[OptionValue],
    head: &Head,
) -> Result<Response, Error> {
    let scan = state.reader.scan(plan).await?;
    let next = scan.next.map(|row| {
        let filters = fingerprint(&plan.dataset, &asked.query);
        state.own().cursors.seal(&Position { snapshot: plan.snapshot.id.clone(), row, filters })
    });
    let batches = scan.batches.map(|batch| batch.map_err(|failure| Box::new(failure) as BoxError)).boxed();
    let encoded = asked.encoder.encode(Arc::clone(&scan.schema), options, batches).await.map_err(|error| declined(asked, error))?;
    let body = body::of(&state.workers, head.coding, encoded).await.map_err(|cut| Error::broken("compress a response", &cut))?;
    let mut response = head.with(body);
    if let Some(cursor) = next {
        head::more(response.headers_mut(), state, parts, asked, plan, &cursor);
    }
    Ok(response)
}

/// Why an encoder made nothing (contract 1, step 4, as far as only the guest can judge it).
pub(super) fn declined(asked: &Asked, error: EncodeError) -> Error {
    match error {
        EncodeError::UnsupportedSchema(sentence) | EncodeError::InvalidOption(sentence) => {
            let format = &asked.encoder.description().format;
            let raw = asked.query.format.as_deref();
            let problem = Problem::new(Place::Query, "format", "value_error", format!("Value error, {format}: {sentence}"), raw);
            Error::invalid(problem.with_ctx(serde_json::json!({"error": {}})))
        }
        EncodeError::Busy { retry_after } => Error::Busy { retry_after },
        failure => Error::broken("encode a response", &failure),
    }
}
