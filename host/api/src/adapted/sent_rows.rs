//! Rows that are sent with bytes of an adapter around them (contract-17-rows): the line of `/data`,
//! with a pause before the first byte in which the adapter is told what is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use http::HeaderMap;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::request::Parts;
use sha2::{Digest as _, Sha256};
use yearbook_http::content_coding::ContentCoding;
use yearbook_http::headers::insert_text;
use yearbook_http::preconditions::PreconditionOutcome;
use yearbook_http::{AuthenticatedCaller, EntityTag, Error, body, preconditions};
use yearbook_sandbox::{
    EncodedBody, EncodedChunk, EncodedChunks, PluginEncoder, adapter, catalogue,
};
use yearbook_scan::RowCounts;
use yearbook_shares::CallerShare;

use super::catalogue_view::describe_rows;
use crate::ApiState;
use crate::request::{DataRequest, SelectedOutput};
use crate::response::headers::ResponseHead;
use crate::response::plan::{ResponsePlan, RowSource};
use crate::response::{Opened, PendingResponse, open};

/// Rows that an adapter wants to be sent.
pub struct RowsToSend<'a> {
    /// Method, address and headers of the request to the adapter.
    pub parts: &'a Parts,
    /// The adapter's answer.
    pub rows: &'a adapter::Rows,
    /// Format that the adapter brings, for rows without another.
    pub own: Option<&'a Arc<PluginEncoder>>,
    /// Digest of all that decides the bytes around the rows: release, request and facts.
    pub frame: [u8; 32],
}

/// Rows that no rule of the host refuses. Nothing was read or charged for them.
pub enum PlannedRows {
    /// The client has them.
    Unchanged(Response),
    /// To be rendered, or checked where the request is a HEAD.
    Pending(Box<PendingRows>),
}

/// Rows to be rendered or checked.
pub struct PendingRows {
    request: DataRequest,
    pending: PendingResponse,
    sent: SentHead,
}

/// Parts of the head of a response that are the adapter's.
struct SentHead {
    frame: [u8; 32],
    coding: Option<ContentCoding>,
    media_type: Option<String>,
    file_name: Option<String>,
}

/// Rows whose first chunk is encoded, or the head of them.
pub struct ReadyRows {
    request: DataRequest,
    plan: ResponsePlan,
    counts: RowCounts,
    /// None in an answer to HEAD.
    body: Option<EncodedBody>,
    sent_rows: Arc<AtomicU64>,
    sent: SentHead,
    known: catalogue::Known,
}

impl ApiState {
    /// Plans the rows that an adapter selects for the caller of `auth`.
    ///
    /// # Errors
    /// The refusals of `/data` and `/changes`, in their order, and 412.
    pub async fn plan_rows(
        &self,
        auth: &AuthenticatedCaller,
        asked: &RowsToSend<'_>,
    ) -> Result<PlannedRows, Error> {
        let RowsToSend { parts, rows, own, frame } = *asked;
        let output = SelectedOutput::Encoded { rows, own };
        let request = DataRequest::of_selection(self, parts, &rows.selection, &output)?;
        let dataset = self.core.dataset(&request.name)?;
        let mut plan = request.plan(self, auth, &dataset).await?;
        let (media_type, file_name) = (rows.media_type.clone(), rows.file_name.clone());
        // Bytes around the rows are compressed with them.
        let sent = SentHead { frame, coding: plan.coding.take(), media_type, file_name };
        let tag = sent.tag(&plan);
        let outcome = preconditions::evaluate(&parts.headers, &tag, plan.source.modified());
        let pending = match open(self, &request, auth, plan).await? {
            Opened::Answered(response) => return Ok(PlannedRows::Unchanged(response)),
            Opened::Pending(pending) => pending,
        };
        match outcome {
            Ok(PreconditionOutcome::Met) => {
                Ok(PlannedRows::Pending(Box::new(PendingRows { request, pending, sent })))
            }
            outcome => {
                // A refusal of GET comes before a false precondition (RFC 9110, 13.2.1).
                let (mut plan, _) = pending.check(self, &request, &auth.holder).await?;
                outcome?;
                sent.apply(&mut plan);
                let head = ResponseHead::new(self, &request, &plan);
                Ok(PlannedRows::Unchanged(head.not_modified()))
            }
        }
    }
}

impl SentHead {
    /// The tag of the rows of `plan` with the bytes around them.
    fn tag(&self, plan: &ResponsePlan) -> EntityTag {
        let mut hash = Sha256::new();
        hash.update(plan.tag.as_str());
        hash.update(self.frame);
        // Rows that a plan may cut have been sent as if they were all.
        let cap = match &plan.source {
            RowSource::Changes(changes) => changes.capped_at,
            source => source.read_plan().and_then(|read| read.plan_row_cap),
        };
        if cap.is_some() {
            hash.update("capped");
        }
        EntityTag::from_hash(&hash.finalize())
    }

    /// Gives `plan` the tag and the coding of what is sent.
    fn apply(&self, plan: &mut ResponsePlan) {
        plan.tag = self.tag(plan);
        plan.coding = self.coding;
    }

    fn insert_headers(&self, headers: &mut HeaderMap) {
        if let Some(media_type) = &self.media_type {
            insert_text(headers, CONTENT_TYPE, media_type);
        }
        if let Some(name) = &self.file_name {
            let disposition = format!("attachment; filename=\"{name}\"");
            insert_text(headers, CONTENT_DISPOSITION, &disposition);
        }
    }
}

impl PendingRows {
    /// Returns what is known of the rows without reading them, for an answer to HEAD.
    ///
    /// # Errors
    /// Those of a GET, as far as they are known before rows are read.
    pub async fn check(
        self,
        app: &ApiState,
        auth: &AuthenticatedCaller,
    ) -> Result<ReadyRows, Error> {
        let Self { request, pending, sent } = self;
        let (plan, counts) = pending.check(app, &request, &auth.holder).await?;
        Ok(ReadyRows::new(app, request, plan, counts, sent))
    }

    /// Reads and encodes the first rows on the account of `holder`.
    ///
    /// # Errors
    /// Those of `/data` up to the first byte.
    pub async fn render(self, app: &ApiState, holder: &CallerShare) -> Result<ReadyRows, Error> {
        let Self { request, pending, sent } = self;
        let (plan, rows) = pending.encode(app, &request, holder).await?;
        let ready = ReadyRows::new(app, request, plan, rows.counts, sent);
        Ok(ReadyRows { body: Some(rows.body), sent_rows: rows.sent_rows, ..ready })
    }
}

impl ReadyRows {
    fn new(
        app: &ApiState,
        request: DataRequest,
        mut plan: ResponsePlan,
        counts: RowCounts,
        sent: SentHead,
    ) -> Self {
        let known = describe_rows(app, &request, &plan, counts);
        sent.apply(&mut plan);
        let sent_rows = Arc::default();
        Self { request, plan, counts, body: None, sent_rows, sent, known }
    }

    /// Returns what is known before the first byte.
    #[must_use]
    pub fn known(&self) -> &catalogue::Known {
        &self.known
    }

    /// Returns the tag of the response, which decides its bytes.
    #[must_use]
    pub fn tag(&self) -> &EntityTag {
        &self.plan.tag
    }

    /// Returns 200 with `before`, the rows and `after`, compressed together on the account of
    /// `holder`; without them in an answer to HEAD.
    ///
    /// # Errors
    /// 500 where what is whole cannot be compressed.
    pub async fn send(
        self,
        app: &ApiState,
        holder: &CallerShare,
        before: Vec<u8>,
        after: Vec<adapter::Segment>,
    ) -> Result<Response, Error> {
        let Self { request, plan, counts, body, sent_rows, sent, .. } = self;
        let content: Body = match body {
            None => body::empty(),
            Some(rows) => {
                let wrapped = wrap(rows, before.into(), after, sent_rows);
                let workers = &app.core.workers;
                let coded = body::apply_coding(workers, holder, sent.coding, wrapped).await;
                coded.map_err(|cut| Error::internal("compress a response", &cut))?.into()
            }
        };
        let head = ResponseHead::new(app, &request, &plan);
        let mut response = head.with_wrapped_body(app, &request, &plan, counts, content);
        sent.insert_headers(response.headers_mut());
        Ok(response)
    }
}

/// `rows` between `before` and `after`. A body that is cut off has no end.
fn wrap(
    rows: EncodedBody,
    before: Bytes,
    after: Vec<adapter::Segment>,
    sent_rows: Arc<AtomicU64>,
) -> EncodedBody {
    match rows {
        EncodedBody::Whole(rows) => {
            let after = end(after, &sent_rows);
            let mut whole = BytesMut::with_capacity(before.len() + rows.len() + after.len());
            for part in [before, rows, after] {
                whole.extend_from_slice(&part);
            }
            EncodedBody::Whole(whole.freeze())
        }
        EncodedBody::Stream(rows) => {
            let before = stream::iter((!before.is_empty()).then(|| chunk(before)));
            let last = stream::once(async move { end(after, &sent_rows) });
            let last = last.filter(|bytes| std::future::ready(!bytes.is_empty())).map(chunk);
            let mut is_cut = false;
            let parts: EncodedChunks = before.chain(rows).chain(last).boxed();
            let whole = parts.take_while(move |part| {
                let goes_on = !is_cut;
                is_cut |= part.is_err();
                std::future::ready(goes_on)
            });
            EncodedBody::Stream(whole.boxed())
        }
    }
}

fn chunk<E>(bytes: Bytes) -> Result<EncodedChunk, E> {
    Ok(EncodedChunk::new(bytes, Vec::new()))
}

/// Bytes that stand behind the rows, all of which have been sent.
fn end(after: Vec<adapter::Segment>, sent_rows: &AtomicU64) -> Bytes {
    let mut end = BytesMut::new();
    for segment in after {
        match segment {
            adapter::Segment::Bytes(bytes) => end.extend_from_slice(&bytes),
            adapter::Segment::RowCount => {
                let rows = sent_rows.load(Ordering::Acquire).to_string();
                end.extend_from_slice(rows.as_bytes());
            }
        }
    }
    end.freeze()
}
