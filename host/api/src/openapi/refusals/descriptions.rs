//! Sentences that the description has for each status of a route.

use http::StatusCode;

use crate::openapi::operation::RouteKind;

/// Sentence about the cause of a status and its remedy (contract-4-openapi).
pub(super) fn describe(kind: RouteKind, status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "The key is missing, malformed, unknown or revoked.",
        402 => "The plan has no bulk download, or not of this freshness.",
        403 if kind == RouteKind::Bulk => {
            "The licence forbids bulk redistribution; no plan unlocks it."
        }
        403 => {
            "`apply` on a dataset whose licence forbids to pass changed rows on; no plan unlocks it."
        }
        404 if kind == RouteKind::LinkedRows => {
            "There is no such link, or its dataset or pinned snapshot is gone."
        }
        404 if matches!(kind, RouteKind::Data | RouteKind::Changes | RouteKind::Link) => {
            "There is no such dataset, or it never had that snapshot."
        }
        404 => "There is no such dataset.",
        405 => "The method is none of GET, HEAD and OPTIONS.",
        406 => "Nothing that `Accept` asks for can be made.",
        410 if kind == RouteKind::Changes => {
            "What changed since then is no longer known; `X-Service-Watermark` is the oldest that can be followed."
        }
        410 if kind == RouteKind::LinkedRows => {
            "The link has ended (`link_ended`), or the snapshot that it pins is not kept any more."
        }
        410 if kind == RouteKind::Revisions => {
            "The history was cut since the cursor's first page (`history_gone`); start again without the cursor."
        }
        410 => "The pinned snapshot, or the one of the cursor, is not kept any more.",
        412 => "`If-Match` or `If-Unmodified-Since` is false: there is another version now.",
        413 if kind == RouteKind::Link => {
            "The rows would be refused so, or the link would be longer than 2,000 characters (`link_too_long`)."
        }
        413 if kind == RouteKind::Revisions => {
            "What rows would be refused for, too many versions (`too_many_versions`), or more of them than there is room for (`history_too_large`); \
             the sentence says what helps."
        }
        413 if matches!(kind, RouteKind::Data | RouteKind::LinkedRows) => {
            "`limit=0` on a large or spatial dataset without an effective bound (`unbounded_pull`), too many rows in another order than their \
             own (`sort_too_large`), `first` or `last` of too many series or a transform of too many groups (`too_many_series`), more rows \
             than the plan's transforms see (`too_many_rows_to_transform`), a version of the past that takes more room than there is for it \
             (`history_too_large`), or an answer that is larger than its format or transform can make (`answer_too_large`); the sentence \
             says what helps."
        }
        413 if kind == RouteKind::Values => {
            "A version of the past that takes more room than there is for it (`history_too_large`)."
        }
        413 => "The answer is larger than its plugin can make; the sentence says what helps.",
        414 => "The address is too long.",
        416 => "The range lies outside of the file.",
        422 if matches!(
            kind,
            RouteKind::Data
                | RouteKind::Changes
                | RouteKind::Revisions
                | RouteKind::Link
                | RouteKind::LinkedRows
        ) =>
        {
            "Parameters are wrong, in themselves or for this dataset; all of them are listed."
        }
        422 => "Parameters are wrong; all of them are listed.",
        429 if kind == RouteKind::Integration => {
            "The month's requests are used up (`quota_used_up`: the headers are the month's), or too many came at once (`slow_down`: they are \
             those of the requests at once, and a second or so helps)."
        }
        429 if kind == RouteKind::LinkedRows => {
            "The month's requests of the key are used up (`quota_used_up`), too many came at once by its links (`slow_down`), or too many \
             answers are open at once (`too_many_open`)."
        }
        429 if kind.charged() => {
            "The month's requests are used up (`quota_used_up`: the headers are the month's), too many came at once (`slow_down`: they are \
             those of the requests at once, and a second or so helps), or too many answers are open at once (`too_many_open`: read them to \
             their end or close them)."
        }
        429 if matches!(kind, RouteKind::Preview | RouteKind::Link) => {
            "Too many requests came at once (the headers are those of the requests at once), or too many answers are open at once \
             (`too_many_open`)."
        }
        429 => "Too many requests came at once; the headers are those of the requests at once.",
        431 => "The headers are too large.",
        500 => "A fault of ours; report the request's id.",
        503 => "The service cannot answer at the moment; try again after `Retry-After` seconds.",
        _ => "A refusal.",
    }
}
