//! The `Link` to the citation of an answer (RFC 8574, contract-13-link). Costs no read: a citation
//! states its digest only where it is asked for.

use http::HeaderMap;
use http::header::LINK;
use http::request::Parts;
use yearbook_domain::query::last_value;
use yearbook_domain::{CanonicalQuery, DatasetName, ReadPlan, SnapshotId};
use yearbook_http::headers::append_text;
use yearbook_scan::RowCounts;

use crate::ApiState;
use crate::request::DataRequest;

/// Appends the link to the citation of `query` in a snapshot; nothing where there are no citations
/// (contract-9-off), and where its address is longer than one may be.
pub(crate) fn append(
    headers: &mut HeaderMap,
    app: &ApiState,
    parts: &Parts,
    dataset: &DatasetName,
    snapshot_id: &SnapshotId,
    query: &CanonicalQuery,
) {
    if !app.settings.has_citation_pages {
        return;
    }
    let path = query.citation_path(dataset, snapshot_id);
    if path.len() > app.core.settings.server.uri_bytes {
        return;
    }
    let base_url = app.core.base_url(parts);
    append_text(headers, LINK, &format!("<{base_url}{path}>; rel=\"cite-as\""));
}

/// Appends the link to the citation of an answer of `counts` rows. An answer to HEAD leaves it out
/// where only reading rows would tell whether `limit` cuts the result.
pub(super) fn append_for_rows(
    headers: &mut HeaderMap,
    app: &ApiState,
    request: &DataRequest,
    read: &ReadPlan,
    counts: RowCounts,
) {
    // A citation is of stored rows.
    if read.applied.is_some() {
        return;
    }
    // More rows than an order holds cannot be verified, so any limit that cut them is cited.
    let is_held = !read.order.is_streamed();
    let named = last_value(&request.pairs, "limit").is_some();
    let limit = if is_held {
        read.max_rows.filter(|_| request.selection.cursor.is_none())
    } else {
        CanonicalQuery::explicit_limit(&request.selection, named)
    };
    if limit.is_some() && counts.rows.is_none() {
        return;
    }
    // Where the plan's cap held rows back, the answer is a page of what was asked for.
    let cut = counts.next.is_some() && (is_held || read.plan_row_cap.is_none());
    let query = CanonicalQuery::new(read, limit.filter(|_| cut));
    append(headers, app, &request.parts, &read.dataset, &read.snapshot.id, &query);
}
