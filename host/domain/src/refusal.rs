//! Every correct "no" to a caller (contract-1-order, contract-2-sentence). Closed: a new refusal
//! does not compile until the server gives it a status.

use crate::{Millis, SnapshotId, ValidationError};

/// Reason of a refusal. The order of variants is the order in which they are checked
/// (contract-1-order).
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// 401: no `X-API-Key`.
    KeyMissing,
    /// 401: the key is malformed, unknown or revoked.
    KeyInvalid,
    /// 422: parameters that are wrong.
    InvalidParameters(Vec<ValidationError>),
    /// 406: no loaded format satisfies `Accept`; the media types that there are.
    NotAcceptable {
        /// Media types of the loaded formats.
        available: Vec<String>,
    },
    /// 404: no such dataset.
    NoSuchDataset {
        /// The name requested.
        name: String,
    },
    /// 404: no such integration.
    NoSuchIntegration {
        /// The tool requested.
        tool: String,
        /// Tools of the loaded generators.
        available: Vec<String>,
    },
    /// 410: a pinned snapshot, or the one of a cursor, is no longer kept.
    SnapshotGone {
        /// The id requested.
        id: String,
        /// Time as of which its rows are read again; `None` where history does not have them.
        as_of: Option<Millis>,
    },
    /// 404: no version of the dataset ever had this id.
    NoSuchSnapshot {
        /// The id requested.
        id: String,
    },
    /// 404: the dataset had no version yet at that time.
    NotPublishedYet {
        /// Time of the first one.
        first: Millis,
    },
    /// 410: the version of that time is not known any more.
    HistoryGone {
        /// The next time whose version can be read.
        oldest: Millis,
    },
    /// 413: more versions, or more credit of them, than one answer has.
    TooManyVersions {
        /// Versions of an answer at most.
        limit: u64,
    },
    /// 413: a version that retention dropped, or a table of revisions, that takes more room than
    /// this server has for all of them.
    HistoryTooLarge,
    /// 410: what changed since then is no longer known.
    WatermarkGone {
        /// The oldest watermark from which changes can be followed.
        oldest: SnapshotId,
        /// Time as of which the rows are read again that the client has; `None` where history does
        /// not have them, or the client has a part of a version.
        as_of: Option<Millis>,
    },
    /// 403: the licence forbids bulk redistribution.
    BulkForbidden,
    /// 403: the licence forbids to hand changed rows on.
    NoDerivatives {
        /// The licence.
        licence: String,
    },
    /// 402: the plan has no bulk download (or not of this freshness).
    PaymentRequired {
        /// One sentence: what to do instead.
        advice: String,
    },
    /// 413: an unbounded pull (spec-7-413, spec-8-guard).
    UnboundedRequest {
        /// Rows of the dataset.
        rows: u64,
        /// True when geometry is part of the reason.
        geometry: bool,
        /// True when `start` and `end` would relieve it.
        dated: bool,
        /// True when the caller may download the dataset whole.
        bulk: bool,
    },
    /// 413: rows in another order than their own, of which too many would be held.
    SortTooLarge {
        /// Rows that are sorted at most.
        limit: u64,
    },
    /// 413: a selection whose keys, counts or values take more memory than there is for them.
    SelectionTooLarge,
    /// 413: the first or last rows of more series than are held.
    TooManySeries {
        /// Series of a dataset at most.
        limit: u64,
    },
    /// 413: a transform would see more rows than the plan has.
    TooManyRowsToTransform {
        /// Rows that it would see.
        rows: u64,
        /// Rows of the plan.
        limit: u64,
        /// True when `start` and `end` would leave fewer.
        dated: bool,
    },
    /// 413: rows of more groups than are numbered for a transform.
    TooManyGroups {
        /// The transform.
        transform: String,
        /// Groups at most.
        limit: u64,
    },
    /// 413: the rows are more than a transform takes, in its own words.
    TransformTooLarge {
        /// The transform.
        transform: String,
        /// Its sentence.
        sentence: String,
    },
    /// 413: more rows than are held before the first byte of rows that transforms make.
    TransformedRowsTooLarge {
        /// Rows for which any answer is held.
        limit: u64,
    },
    /// 413: the answer is more than its plugin can make within the limits of the sandbox.
    ResponseTooLarge {
        /// Format or tool of the plugin.
        plugin: String,
        /// Remedies, each as an imperative.
        ways: Vec<String>,
    },
    /// 429: the month's requests are used up.
    QuotaExceeded {
        /// Requests a month.
        limit: u64,
        /// Start of the next month.
        resets_at: Millis,
    },
    /// 429: the caller holds its share of what all callers share: open responses, and the bytes of
    /// their bodies.
    CallerShareExceeded {
        /// Whole seconds to wait.
        retry_after: u64,
    },
    /// 429: too many requests at once.
    RateLimited {
        /// Whole seconds to wait.
        retry_after: u64,
    },
}
