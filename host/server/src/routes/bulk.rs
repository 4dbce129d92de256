//! `/v1/bulk/{namespace}/{name}`: the stored file itself (spec-4.3-file). Steps 6 to 10 of a
//! request are replaced by a stream of the file's bytes, or by an address where the store has it
//! (decision 0166); nothing is decoded, encoded or compressed.

mod head;
mod range;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use futures::StreamExt;
use http::Method;
use http::header::RANGE;
use http::request::Parts;
use yearbook_domain::bulk::{self, Freshness};
use yearbook_domain::query::parse_pairs;
use yearbook_domain::{Dataset, Refusal, Snapshot};

use crate::charge::charged;
use crate::error::Error;
use crate::extract::bulk_names;
use crate::middleware::authentication::Authenticated;
use crate::respond::preconditions::PreconditionOutcome;
use crate::respond::{body, preconditions};
use crate::state::AppState;

use self::head::BulkHead;
use self::range::ByteRange;

/// `GET /v1/bulk/{namespace}/{name}`.
pub(crate) async fn download(
    State(state): State<AppState>,
    keyed: Authenticated,
    request: Request,
) -> Result<Response, Error> {
    let (parts, _) = request.into_parts();
    let (namespace, name, freshness) = parse(&parts)?;
    let dataset =
        state.live.dataset(name.as_str()).filter(|dataset| dataset.namespace == namespace);
    // Both names, since either may be the wrong one.
    let dataset =
        dataset.ok_or_else(|| Refusal::NoSuchDataset { name: format!("{namespace}/{name}") })?;
    let freshness = Freshness::resolve(freshness, keyed.caller.limits());
    let snapshot = snapshot_of_freshness(&state, &dataset, freshness).await?;
    let plan = bulk::plan_download(&dataset, snapshot, freshness, keyed.caller.limits())?;
    let head = BulkHead::new(&plan);
    if preconditions::evaluate(&parts.headers, head.tag(), Some(plan.snapshot.created_at))?
        == PreconditionOutcome::NotModified
    {
        return Ok(head.not_modified());
    }
    // Ranges are a matter of GET alone (RFC 9110, 14.2).
    if parts.method == Method::HEAD {
        return Ok(head.whole(body::empty()));
    }
    let part = range::requested_range(&parts.headers, &head, &dataset)?;
    let range = part.as_ref().map_or(0..plan.snapshot.file.bytes, |ByteRange(range)| range.clone());
    charged(&state, &keyed, &parts.method, async {
        // Ranges and conditions are judged by our tags and dates, which the store does not know;
        // clients repeat them there.
        if !parts.headers.contains_key(RANGE)
            && !preconditions::has_match_precondition(&parts.headers)
            && let Some(link) =
                state.files.link(&plan.snapshot.file, head::PARQUET, head.disposition()).await?
        {
            return head.redirect(link);
        }
        let holder = keyed.holder.clone();
        // An eighth, so that many downloads at once get smaller chunks long before there is no
        // room.
        let room = move || (holder.room() / 8) as u64;
        let mut bytes = state.files.stream(&plan.snapshot.file, range, room);
        // Awaited, so that a missing or damaged file is still an honest status.
        let first = bytes.next().await.transpose()?;
        let rest = bytes.map(|chunk| chunk.map_err(body::BodyError::new)).boxed();
        let body = Body::from_stream(body::log_errors(
            futures::stream::iter(first.map(Ok)).chain(rest).boxed(),
        ));
        Ok(match part {
            Some(part) => head.partial(&part, body),
            None => head.whole(body),
        })
    })
    .await
}

/// Path and query, judged in themselves.
fn parse(
    parts: &Parts,
) -> Result<(yearbook_domain::Namespace, yearbook_domain::DatasetName, Option<Freshness>), Error> {
    let names = bulk_names(&parts.uri);
    let freshness = Freshness::parse(&parse_pairs(parts.uri.query().unwrap_or_default()));
    match (names, freshness) {
        (Ok((namespace, name)), Ok(freshness)) => Ok((namespace, name, freshness)),
        (names, freshness) => Err(Refusal::InvalidParameters(
            names.err().into_iter().flatten().chain(freshness.err()).collect(),
        )
        .into()),
    }
}

/// The snapshot that `freshness` names.
async fn snapshot_of_freshness(
    state: &AppState,
    dataset: &Dataset,
    freshness: Freshness,
) -> Result<Arc<Snapshot>, Error> {
    let named = match freshness {
        Freshness::Current => None,
        Freshness::Monthly => {
            yearbook_catalog::monthly_snapshot(&dataset.snapshots, yearbook_catalog::clock::now())
        }
    };
    let Some(named) = named else { return Ok(Arc::clone(&dataset.current)) };
    let found = state.live.snapshot(dataset, &named.id).await?;
    // Retention keeps the one that `monthly` names, so this view of the catalogue is older than a
    // publication.
    found.ok_or_else(|| {
        tracing::warn!(dataset = %dataset.name, snapshot = named.id, "the monthly snapshot was dropped a moment ago");
        Error::Unavailable
    })
}
