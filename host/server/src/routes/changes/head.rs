//! Headers of an answer with changes (contract-4-changes-headers). All of them are known before
//! anything is read.

use http::HeaderValue;
use http::request::Parts;
use yearbook_sandbox::OptionValue;
use yearbook_scan::BATCHING_VERSION;

use super::ChangesSelection;
use crate::extract::DataRequest;
use crate::headers::{HAS_MORE, ROW_CAP, TRUNCATED, WATERMARK};
use crate::respond::EntityTag;
use crate::respond::head::{ResponseHead, insert_text};

/// What can be said of `answer`.
pub(super) fn response_head(
    parts: &Parts,
    asked: &DataRequest,
    answer: &ChangesSelection,
    options: &[OptionValue],
) -> ResponseHead {
    let plan = &answer.plan;
    // The plan decides the rows and their credit, the others how they are written; how a value is
    // printed here is of no matter.
    let decides = (
        plan,
        asked.encoder.digest(),
        asked.encoder.description().complete(options),
        BATCHING_VERSION,
    );
    let tag = EntityTag::from_bytes(format!("{decides:?}").as_bytes());
    let mut head = ResponseHead::new(
        parts,
        asked,
        tag,
        &plan.namespace,
        &plan.snapshot,
        &format!("{}_changes", plan.dataset),
    );
    insert_text(&mut head.shared, WATERMARK, answer.watermark.clone());
    head.shared
        .insert(HAS_MORE, HeaderValue::from_static(if answer.more { "true" } else { "false" }));
    if let Some(cap) = answer.capped_at {
        head.shared.insert(TRUNCATED, HeaderValue::from_static("true"));
        head.shared.insert(ROW_CAP, HeaderValue::from(cap));
    }
    head
}
