//! Headers of responses with rows (spec-4.1-attribution, contract-3-rows,
//! contract-4-changes-headers). They are made once, from the plan of the release that served.
//! Everything but the row counts is known before anything is read, so a 304 and a HEAD have the
//! headers that a GET would have. Never touches bodies.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LAST_MODIFIED, LINK,
    VARY,
};
use http::{HeaderMap, HeaderValue};
use yearbook_domain::cursor::fingerprint;
use yearbook_domain::{CursorPosition, Namespace, ReadPlan, Snapshot};
use yearbook_http::credit::write_credit;
use yearbook_http::headers::{
    GEOMETRY_OMITTED, HAS_MORE, MODIFIED, NEXT_PAGE, ROW_CAP, ROWS, TOTAL_ROWS, TRUNCATED,
    WATERMARK, insert_text,
};
use yearbook_http::{body, links, media_types, preconditions, status};
use yearbook_scan::RowCounts;

use super::citation_link;
use super::plan::{ChangesSelection, ResponsePlan, RowSource};
use crate::ApiState;
use crate::request::DataRequest;

/// Headers of a response, about: these and those of limits and middleware.
const HEADERS: usize = 24;

/// Beginning of the alias of spec-4.2-alias.
const ALIAS: &str = "/v1/series/";

/// Headers of a response that are known before anything is read.
pub(crate) struct ResponseHead {
    /// Headers of 200 and 304 alike.
    shared: HeaderMap,
    /// Headers of 200 alone.
    content: HeaderMap,
}

impl ResponseHead {
    /// Headers of the response of `plan`.
    pub(crate) fn new(app: &ApiState, request: &DataRequest, plan: &ResponsePlan) -> Self {
        let read: &ReadPlan = match &plan.source {
            RowSource::Snapshot(read) => read,
            RowSource::Transformed(rows) => &rows.plan,
            RowSource::Changes(selection) => {
                let (namespace, snapshot) = (&selection.plan.namespace, &selection.plan.snapshot);
                let name = format!("{}_changes", selection.plan.dataset);
                let mut head = Self::of_rows(request, plan, namespace, snapshot, &name);
                head.insert_changes_headers(selection);
                return head;
            }
        };
        let (namespace, snapshot) = (&read.namespace, &read.snapshot);
        let mut head = Self::of_rows(request, plan, namespace, snapshot, read.dataset.as_str());
        head.insert_snapshot_headers(app, request, read);
        head
    }

    /// Headers that every response with rows has. `name` is that of the file, without extension.
    fn of_rows(
        request: &DataRequest,
        plan: &ResponsePlan,
        namespace: &Namespace,
        snapshot: &Snapshot,
        name: &str,
    ) -> Self {
        let description = plan.encoder.description();
        let mut shared = HeaderMap::with_capacity(HEADERS);
        write_credit(&mut shared, namespace, snapshot);
        shared.insert(ETAG, plan.tag.header(plan.coding));
        // `Last-Modified` alone would let browsers keep rows for days, past a refresh (RFC 9111,
        // 4.2.2).
        shared.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        // The plan of the key decides how many rows there are.
        let vary = "Accept, Accept-Encoding, X-API-Key, Authorization";
        shared.insert(VARY, HeaderValue::from_static(vary));
        if !request.selection.geometry {
            shared.insert(GEOMETRY_OMITTED, HeaderValue::from_static("true"));
        }

        let mut content = HeaderMap::new();
        insert_text(&mut content, CONTENT_TYPE, &description.media_type);
        // Only JSON is shown in a browser as it is; anything else could be a page with scripts of
        // this origin.
        if description.media_type != media_types::JSON {
            insert_text(
                &mut content,
                CONTENT_DISPOSITION,
                &format!("attachment; filename=\"{name}.{}\"", description.extension),
            );
        }
        if let Some(coding) = plan.coding {
            content.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        Self { shared, content }
    }

    fn insert_snapshot_headers(&mut self, app: &ApiState, request: &DataRequest, read: &ReadPlan) {
        if let Some(date) = preconditions::http_date(read.snapshot.created_at) {
            self.shared.insert(LAST_MODIFIED, date);
        }
        if let Some(applied) = &read.applied {
            insert_text(&mut self.shared, MODIFIED, &applied.to_notice());
        }
        let parts = &request.parts;
        if parts.uri.path().starts_with(ALIAS) {
            let path = format!("/v1/datasets/{}/data", read.dataset);
            insert_text(
                &mut self.shared,
                LINK,
                &links::canonical_link(&app.core.settings.server, parts, &path, &request.pairs),
            );
        }
    }

    fn insert_changes_headers(&mut self, selection: &ChangesSelection) {
        let has_more = if selection.has_more { "true" } else { "false" };
        insert_text(&mut self.shared, WATERMARK, &selection.watermark);
        self.shared.insert(HAS_MORE, HeaderValue::from_static(has_more));
        if let Some(cap) = selection.capped_at {
            insert_row_cap(&mut self.shared, cap);
        }
    }

    /// Returns 304.
    pub(crate) fn not_modified(self) -> Response {
        let mut response = Response::new(body::empty());
        *response.status_mut() = status::NOT_MODIFIED;
        *response.headers_mut() = self.shared;
        response
    }

    /// Returns 200 with `body`, which has `counts` rows.
    pub(super) fn with_body(
        self,
        app: &ApiState,
        request: &DataRequest,
        plan: &ResponsePlan,
        counts: RowCounts,
        body: Body,
    ) -> Response {
        self.with_rows(app, request, plan, counts, body, insert_next_page)
    }

    /// Returns 200 with `body`, which an adapter wrote a part of: without the next page of `/v1`.
    pub(crate) fn with_wrapped_body(
        mut self,
        app: &ApiState,
        request: &DataRequest,
        plan: &ResponsePlan,
        counts: RowCounts,
        body: Body,
    ) -> Response {
        for name in [WATERMARK, HAS_MORE, CONTENT_DISPOSITION] {
            self.shared.remove(&name);
            self.content.remove(&name);
        }
        self.with_rows(app, request, plan, counts, body, |_, _, _, _, _| {})
    }

    /// Returns 200. `insert_next` tells of the rows that remain.
    fn with_rows(
        self,
        app: &ApiState,
        request: &DataRequest,
        plan: &ResponsePlan,
        counts: RowCounts,
        body: Body,
        insert_next: impl FnOnce(&mut HeaderMap, &ApiState, &DataRequest, &ReadPlan, RowCounts),
    ) -> Response {
        let mut response = Response::new(body);
        *response.headers_mut() = self.shared;
        let headers = response.headers_mut();
        headers.extend(self.content);
        if let Some(read) = plan.source.read_plan() {
            for (name, rows) in [(ROWS, counts.rows), (TOTAL_ROWS, counts.total)] {
                headers.extend(rows.map(|rows| (name, HeaderValue::from(rows))));
            }
            insert_next(headers, app, request, read, counts);
            if let Some(cap) = read.plan_row_cap.filter(|_| counts.next.is_some()) {
                insert_row_cap(headers, cap);
            }
            citation_link::append_for_rows(headers, app, request, read, counts);
        }
        response
    }
}

/// The cursor of the rows that remain; `None` if none do.
pub(crate) fn next_cursor(
    app: &ApiState,
    request: &DataRequest,
    read: &ReadPlan,
    counts: RowCounts,
) -> Option<String> {
    let position = CursorPosition {
        source: request.pages_of(&read.snapshot),
        row: counts.next?,
        filters: fingerprint(read, &request.selection),
    };
    Some(app.cursors.encode(&position))
}

/// Writes the next page when rows remain.
fn insert_next_page(
    headers: &mut HeaderMap,
    app: &ApiState,
    request: &DataRequest,
    read: &ReadPlan,
    counts: RowCounts,
) {
    let Some(cursor) = next_cursor(app, request, read, counts) else { return };
    let canonical = headers.remove(LINK);
    let link = links::next(&app.core.settings.server, &request.parts, &cursor);
    insert_text(headers, LINK, &link);
    if let Some(canonical) = canonical {
        headers.append(LINK, canonical);
    }
    insert_text(headers, NEXT_PAGE, &cursor);
}

/// Writes the plan's row cap, which held rows back.
fn insert_row_cap(headers: &mut HeaderMap, cap: u64) {
    headers.insert(TRUNCATED, HeaderValue::from_static("true"));
    headers.insert(ROW_CAP, HeaderValue::from(cap));
}
