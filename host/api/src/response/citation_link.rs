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
    append_address(headers, address(app, parts, dataset, snapshot_id, query));
}

fn append_address(headers: &mut HeaderMap, address: Option<String>) {
    if let Some(address) = address {
        append_text(headers, LINK, &["<", &address, ">; rel=\"cite-as\""].concat());
    }
}

/// Returns the address of the citation of `query` in a snapshot.
fn address(
    app: &ApiState,
    parts: &Parts,
    dataset: &DatasetName,
    snapshot_id: &SnapshotId,
    query: &CanonicalQuery,
) -> Option<String> {
    let path = query.citation_path(dataset, snapshot_id);
    let is_cited =
        app.settings.has_citation_pages && path.len() <= app.core.settings.server.uri_bytes;
    is_cited.then(|| app.core.base_url(parts) + &path)
}

/// Appends the link to the citation of an answer of `counts` rows.
pub(super) fn append_for_rows(
    headers: &mut HeaderMap,
    app: &ApiState,
    request: &DataRequest,
    read: &ReadPlan,
    counts: RowCounts,
) {
    append_address(headers, address_for_rows(app, request, read, counts));
}

/// Returns the address of the citation of an answer of `counts` rows. `None` for a row by its
/// number and for revisions, which no citation names, and for an answer to HEAD where only reading
/// rows would tell
/// whether `limit` cuts the result.
pub(crate) fn address_for_rows(
    app: &ApiState,
    request: &DataRequest,
    read: &ReadPlan,
    counts: RowCounts,
) -> Option<String> {
    if read.row.is_some() || !request.is_of_snapshot() {
        return None;
    }
    // More rows than an order holds cannot be verified, so any limit that cut them is cited.
    let is_held = !read.order.is_streamed();
    let named = last_value(&request.pairs, "limit").is_some();
    let limit = if is_held {
        read.max_rows.filter(|_| request.selection.cursor.is_none())
    } else {
        CanonicalQuery::explicit_limit(&request.selection, named)
    };
    // Behind rows that are skipped is a page of what was asked for.
    let limit = limit.filter(|_| request.selection.skip == 0);
    if limit.is_some() && counts.rows.is_none() {
        return None;
    }
    // Where the plan's cap held rows back, the answer is a page of what was asked for.
    let cut = counts.next.is_some() && (is_held || read.plan_row_cap.is_none());
    // How many rows transforms make is not known beforehand, so no order of all can be verified.
    let is_cited = cut || (is_held && read.applied.is_some());
    let query = CanonicalQuery::new(read, limit.filter(|_| is_cited));
    address(app, &request.parts, &read.dataset, &read.snapshot.id, &query)
}
