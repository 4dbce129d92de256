//! Headers of a data response (spec 4.1, contract 3). Everything but the next page is known before anything is read, so a
//! 304 and a HEAD say the same as a GET would.

use http::header::{LAST_MODIFIED, LINK};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use yearbook_domain::ReadPlan;
use yearbook_sandbox::OptionValue;

use crate::extract::Asked;
use crate::headers::{NEXT_PAGE, ROW_CAP, TRUNCATED};
use crate::respond::head::{Head, put};
use crate::respond::{Tag, conditional, links};
use crate::state::AppState;

/// Where the alias of spec 4.2 begins.
const ALIAS: &str = "/v1/series/";

/// What can be said of `plan`'s response before it is made.
pub(super) fn of(state: &AppState, parts: &Parts, asked: &Asked, plan: &ReadPlan, options: &[OptionValue]) -> Head {
    let tag = Tag::of_plan(plan, asked.encoder.description(), asked.encoder.digest(), options);
    let mut head = Head::new(parts, asked, tag, &plan.namespace, &plan.snapshot, plan.dataset.as_str());
    if let Some(date) = conditional::http_date(plan.snapshot.created_at) {
        head.shared.insert(LAST_MODIFIED, date);
    }
    if parts.uri.path().starts_with(ALIAS) {
        let path = format!("/v1/datasets/{}/data", plan.dataset);
        put(&mut head.shared, LINK, links::canonical(&state.settings.server, parts, &path, &asked.pairs));
    }
    head
}

/// Headers of a response after which rows remain: where they go on, and whether the plan's cap held them back.
pub(super) fn more(headers: &mut HeaderMap, state: &AppState, parts: &Parts, asked: &Asked, plan: &ReadPlan, cursor: &str) {
    let canonical = headers.remove(LINK);
    put(headers, LINK, links::next(&state.settings.server, parts, &asked.pairs, cursor));
    if let Some(canonical) = canonical {
        headers.append(LINK, canonical);
    }
    put(headers, NEXT_PAGE, cursor.to_owned());
    if let Some(cap) = plan.capped_at {
        headers.insert(TRUNCATED, HeaderValue::from_static("true"));
        headers.insert(ROW_CAP, HeaderValue::from(cap));
    }
}
