//! Headers of a data response (spec-4.1-attribution, contract-3-rows). Everything but the next page
//! is known before anything is read, so a 304 and a HEAD say the same as a GET would.

use http::header::{LAST_MODIFIED, LINK};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use yearbook_domain::cursor::fingerprint;
use yearbook_domain::{CursorPosition, ReadPlan};
use yearbook_sandbox::OptionValue;
use yearbook_scan::RowCounts;

use crate::extract::DataRequest;
use crate::headers::{NEXT_PAGE, ROW_CAP, ROWS, TOTAL_ROWS, TRUNCATED};
use crate::respond::head::{ResponseHead, insert_text};
use crate::respond::{EntityTag, links, preconditions};
use crate::state::AppState;

/// Where the alias of spec-4.2-alias begins.
const ALIAS: &str = "/v1/series/";

/// The entity tag of `plan`'s response, without coding.
pub(super) fn tag(asked: &DataRequest, plan: &ReadPlan, options: &[OptionValue]) -> EntityTag {
    EntityTag::from_plan(plan, asked.encoder.description(), asked.encoder.digest(), options)
}

/// What can be said of `plan`'s response before it is made.
pub(super) fn response_head(
    state: &AppState,
    parts: &Parts,
    asked: &DataRequest,
    plan: &ReadPlan,
    options: &[OptionValue],
) -> ResponseHead {
    let mut head = ResponseHead::new(
        parts,
        asked,
        tag(asked, plan, options),
        &plan.namespace,
        &plan.snapshot,
        plan.dataset.as_str(),
    );
    if let Some(date) = preconditions::http_date(plan.snapshot.created_at) {
        head.shared.insert(LAST_MODIFIED, date);
    }
    if parts.uri.path().starts_with(ALIAS) {
        let path = format!("/v1/datasets/{}/data", plan.dataset);
        insert_text(
            &mut head.shared,
            LINK,
            links::canonical_link(&state.settings.server, parts, &path, &asked.pairs),
        );
    }
    head
}

/// Headers about how many rows there are: here, in all, and where they go on when some remain.
pub(super) fn count(
    headers: &mut HeaderMap,
    state: &AppState,
    parts: &Parts,
    asked: &DataRequest,
    plan: &ReadPlan,
    counts: RowCounts,
) {
    for (name, rows) in [(ROWS, counts.rows), (TOTAL_ROWS, counts.total)] {
        headers.extend(rows.map(|rows| (name, HeaderValue::from(rows))));
    }
    if let Some(row) = counts.next {
        let filters = fingerprint(&plan.dataset, &asked.query);
        let cursor = state.own().cursors.encode(&CursorPosition {
            snapshot: plan.snapshot.id.clone(),
            row,
            filters,
        });
        insert_next_page(headers, state, parts, asked, plan, &cursor);
    }
}

/// Headers of a response after which rows remain: where they go on, and whether the plan's cap held
/// them back.
fn insert_next_page(
    headers: &mut HeaderMap,
    state: &AppState,
    parts: &Parts,
    asked: &DataRequest,
    plan: &ReadPlan,
    cursor: &str,
) {
    let canonical = headers.remove(LINK);
    insert_text(headers, LINK, links::next(&state.settings.server, parts, &asked.pairs, cursor));
    if let Some(canonical) = canonical {
        headers.append(LINK, canonical);
    }
    insert_text(headers, NEXT_PAGE, cursor.to_owned());
    if let Some(cap) = plan.plan_row_cap {
        headers.insert(TRUNCATED, HeaderValue::from_static("true"));
        headers.insert(ROW_CAP, HeaderValue::from(cap));
    }
}
