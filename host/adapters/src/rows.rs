//! Rows that an adapter selects, and bytes around them (contract-17-rows): the line of `/data`,
//! with a call of the adapter before the first byte.

use std::sync::Arc;

use axum::response::Response;
use http::Method;
use http::header::VARY;
use sha2::{Digest as _, Sha256};
use yearbook_api::adapted::{PlannedRows, RowsToSend};
use yearbook_domain::Refusal;
use yearbook_http::Error;
use yearbook_http::headers::{insert_browser_headers, insert_text};
use yearbook_sandbox::adapter::Framing;
use yearbook_sandbox::{AdapterCalls, adapter, catalogue};

use crate::document::{self, PreparedDocument};
use crate::document_cache::KeptFrame;
use crate::refusal::AdapterRefusal;
use crate::request::Exchange;
use crate::rounds::Told;
use crate::{AdaptersState, failure};

/// Sends the rows that the adapter selects, charged as rows are. `known`: bytes around the rows as
/// they were sent last; `made`: those of this response, where the adapter was asked for them.
///
/// # Errors
/// Those of `/data`; 500 for an adapter that breaks a rule.
pub(crate) async fn send(
    app: &AdaptersState,
    mut exchange: Exchange,
    calls: &mut AdapterCalls,
    told: &Told,
    rows: &adapter::Rows,
    known: Option<&KeptFrame>,
    made: &mut Option<KeptFrame>,
) -> Result<Response, Error> {
    // On the heap: the rounds are over when rows begin.
    let sent = Box::pin(render(app, &mut exchange, calls, told, rows, known, made)).await;
    exchange.settle(sent).await
}

async fn render(
    app: &AdaptersState,
    exchange: &mut Exchange,
    calls: &mut AdapterCalls,
    told: &Told,
    rows: &adapter::Rows,
    known: Option<&KeptFrame>,
    made: &mut Option<KeptFrame>,
) -> Result<Response, Error> {
    exchange.note_passing();
    let auth = exchange.auth.clone().ok_or(Refusal::KeyMissing)?;
    let plugin = Arc::clone(calls.plugin());
    let frame = frame_digest(calls, told)?;
    let asked = RowsToSend { parts: &exchange.parts, rows, own: plugin.encoder(), frame };
    let planned = Box::pin(app.api.plan_rows(&auth, &asked)).await?;
    let vary = document::vary(&plugin, true);
    let pending = match planned {
        PlannedRows::Unchanged(mut response) => {
            insert_text(response.headers_mut(), VARY, &vary);
            return Ok(response);
        }
        PlannedRows::Pending(pending) => pending,
    };
    let (holder, ready) = if exchange.parts.method == Method::HEAD {
        (auth.holder.clone(), Box::pin(pending.check(&app.api, &auth)).await?)
    } else {
        let holder = exchange.reserve(app).await?.holder().clone();
        let ready = Box::pin(pending.render(&app.api, &holder)).await?;
        (holder, ready)
    };
    told.sample(app, calls, Some(ready.known()));
    // An answer to HEAD knows less of its rows, and its tag is the same.
    let is_head = exchange.parts.method == Method::HEAD;
    let wrapping = match known.filter(|known| !is_head && known.tag == *ready.tag()) {
        Some(known) => known.wrapping.clone(),
        None => match calls.frame(&told.facts, ready.known().clone()).await {
            Ok(Framing::Wrap(wrapping)) => {
                if !is_head {
                    let (tag, wrapping) = (ready.tag().clone(), wrapping.clone());
                    *made = Some(KeptFrame { tag, wrapping });
                }
                wrapping
            }
            Ok(Framing::Instead(written)) => {
                let document = PreparedDocument::new(&plugin, written)?;
                return exchange.respond(app, &plugin, &document).await;
            }
            Err(failure) => {
                let datasets = vec![rows.selection.dataset.clone()];
                return Err(failure::record(app, exchange.key_id(), calls, datasets, &failure));
            }
        },
    };
    if is_cut(ready.known(), &wrapping) {
        return Err(AdapterRefusal::RowsCut { rows: ready.known().rows }.into());
    }
    let adapter::Wrapping { before, after, links } = wrapping;
    let mut response = ready.send(&app.api, &holder, before, after).await?;
    let headers = response.headers_mut();
    insert_browser_headers(headers, document::SECURITY_POLICY);
    insert_text(headers, VARY, &vary);
    document::insert_links(&app.core, headers, &links);
    Ok(response)
}

/// Returns whether the plan of the caller holds rows back and `wrapping` does not say where they go
/// on: a client would take the part for the whole.
fn is_cut(known: &catalogue::Known, wrapping: &adapter::Wrapping) -> bool {
    let Some(next) = known.next.as_deref().filter(|next| known.truncated && !next.is_empty())
    else {
        return false;
    };
    let adapter::Wrapping { before, after, links } = wrapping;
    let has_next = |bytes: &[u8]| bytes.windows(next.len()).any(|part| part == next.as_bytes());
    let is_told = has_next(before)
        || after.iter().any(|segment| match segment {
            adapter::Segment::Bytes(bytes) => has_next(bytes),
            adapter::Segment::RowCount => false,
        })
        || links.iter().any(|link| {
            let mut relations = link.rel.split(' ');
            relations.any(|one| one.eq_ignore_ascii_case("next")) || link.href.contains(next)
        });
    !is_told
}

/// Digest of all that decides the bytes around rows besides the rows: an adapter is pure.
fn frame_digest(calls: &AdapterCalls, told: &Told) -> Result<[u8; 32], Error> {
    let mut hash = Sha256::new();
    hash.update(calls.plugin().digest().as_str());
    hash.update(told.digest());
    let text = serde_json::to_vec(&**calls.request());
    hash.update(text.map_err(|failure| Error::internal("make a tag", &failure))?);
    Ok(hash.finalize().into())
}
