//! A request that an adapter answered, answered again from the facts that were told then, call by
//! call as the host makes them.

use std::sync::Arc;

use serde_json::Value;
use yearbook_sandbox::adapter::{Document, Reply};
use yearbook_sandbox::{
    AdapterAnswer, AdapterCall, AdapterExchange, AdapterInput, PluginAdapter, TrialError,
};

use super::compare::{Cost, Likeness, describe_bytes};

/// Answers the request of `exchange`. Ends at the first question that was not asked then, or not
/// there: nobody knows its answer.
///
/// # Errors
/// [`TrialError`] of the call that failed.
pub(super) fn answer(
    adapter: &PluginAdapter,
    exchange: &AdapterExchange,
) -> Result<(Vec<AdapterAnswer>, Cost), TrialError> {
    let AdapterExchange { request, questions, facts, known } = exchange;
    let (mut answers, mut cost) = (Vec::new(), Cost::default());
    let mut call = |call| {
        let (answer, usage) =
            adapter.trial(&AdapterInput { request: Arc::clone(request), call })?;
        cost.cpu += usage.cpu;
        cost.memory_bytes = cost.memory_bytes.max(usage.memory_bytes);
        Ok(answer)
    };
    let mut told = 0;
    loop {
        let so_far = Arc::new(facts.get(..told).unwrap_or_default().to_vec());
        let answer = call(AdapterCall::Answer(so_far))?;
        let asked = match &answer {
            AdapterAnswer::Reply(Reply::Ask(asked)) => asked.as_slice(),
            _ => &[],
        };
        let is_known = !asked.is_empty() && questions[told..].starts_with(asked);
        told += asked.len();
        let sends_rows = matches!(answer, AdapterAnswer::Reply(Reply::Rows(_)));
        answers.push(answer);
        if is_known {
            continue;
        }
        if let Some(known) = known.as_ref().filter(|_| sends_rows) {
            answers.push(call(AdapterCall::Frame(Arc::clone(facts), known.clone()))?);
        }
        return Ok((answers, cost));
    }
}

/// Compares the last answers. Questions are a release's own affair: where they are others, nothing
/// can be said.
pub(super) fn compare(one: &[AdapterAnswer], other: &[AdapterAnswer]) -> Likeness {
    let asks = |answers: &[AdapterAnswer]| -> Vec<AdapterAnswer> {
        let asked = |answer: &&AdapterAnswer| matches!(answer, AdapterAnswer::Reply(Reply::Ask(_)));
        answers.iter().filter(asked).cloned().collect()
    };
    if one == other {
        return Likeness::Same;
    }
    if asks(one) != asks(other) {
        return Likeness::Incomparable;
    }
    match (one.last(), other.last()) {
        (
            Some(AdapterAnswer::Reply(Reply::Document(one))),
            Some(AdapterAnswer::Reply(Reply::Document(other))),
        ) => compare_documents(one, other),
        (Some(AdapterAnswer::Framing(_)), Some(AdapterAnswer::Framing(_))) => {
            Likeness::Different("other rows, or other bytes around them".to_owned())
        }
        _ => Likeness::Different("rows in place of a document, or the reverse".to_owned()),
    }
}

fn compare_documents(one: &Document, other: &Document) -> Likeness {
    let head = |document: &Document| Document { body: Vec::new(), ..document.clone() };
    if head(one) != head(other) {
        return Likeness::Different("another status, type or header".to_owned());
    }
    let read = |body: &[u8]| serde_json::from_slice::<Value>(body).ok();
    match (read(&one.body), read(&other.body)) {
        (Some(one), Some(other)) if one == other => Likeness::Rewritten,
        _ => Likeness::Different(describe_bytes(&one.body, &other.body)),
    }
}
