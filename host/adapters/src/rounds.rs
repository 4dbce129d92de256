//! The rounds of a request (contract-17-rounds): the adapter asks, is told, and asks again, within
//! four calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use yearbook_http::Error;
use yearbook_sandbox::catalogue::{Fact, Problem, Question, Refusal};
use yearbook_sandbox::adapter::{Document, Reply, Rows};
use yearbook_sandbox::{AdapterCalls, GuestError};

use crate::request::Exchange;
use crate::{AdaptersState, facts, failure};

/// Most calls of a request.
const CALLS: usize = 4;
/// Most questions that are answered.
const QUESTIONS: usize = 64;
/// Most of them that are reads.
const READS: usize = 4;
/// Most bytes of facts, as JSON writes them.
const FACT_BYTES: usize = 8 << 20;
/// Questions of a request that are listened to; those beyond [`QUESTIONS`] are refused.
const MAX_ASKED: usize = 1_024;

/// What a request came to.
pub(crate) struct Outcome {
    /// What the adapter answers.
    pub(crate) answer: Answer,
    /// Answers to all that it asked.
    pub(crate) facts: Arc<Vec<Fact>>,
}

/// Answer of an adapter.
pub(crate) enum Answer {
    /// A document.
    Document(Document),
    /// Rows that the host sends.
    Rows(Box<Rows>),
}

/// Asks the adapter what to do until it says so.
///
/// # Errors
/// Those of questions that end the request; 429, 500 and 503 for a call that failed.
pub(crate) async fn run(
    app: &AdaptersState,
    exchange: &mut Exchange,
    calls: &mut AdapterCalls,
) -> Result<Outcome, Error> {
    let mut budget = Budget::default();
    let (mut questions, mut facts) = (Vec::<Question>::new(), Arc::new(Vec::new()));
    for left in (0..CALLS).rev() {
        let asked = match calls.answer(&facts).await {
            Ok(Reply::Ask(asked)) if questions.len() + asked.len() <= MAX_ASKED && left > 0 => {
                asked
            }
            Ok(Reply::Ask(asked)) => {
                let rule = if left == 0 {
                    format!("a question at its last of {CALLS} calls")
                } else {
                    format!("{} more questions, beyond {MAX_ASKED}", asked.len())
                };
                let failure = failure::broken_rule(calls, rule);
                return Err(failed(app, exchange, calls, &questions, &failure));
            }
            Ok(Reply::Document(written)) => {
                return Ok(Outcome { answer: Answer::Document(written), facts });
            }
            Ok(Reply::Rows(rows)) => {
                return Ok(Outcome { answer: Answer::Rows(Box::new(rows)), facts });
            }
            Err(failure) => return Err(failed(app, exchange, calls, &questions, &failure)),
        };
        for question in &asked {
            let fact = match budget.refuse(question) {
                Some(refused) => refused,
                None => budget.weigh(facts::answer(app, exchange, question).await?)?,
            };
            Arc::make_mut(&mut facts).push(fact);
        }
        questions.extend(asked);
    }
    Err(Error::internal("ask an adapter", &"it was asked no more"))
}

fn failed(
    app: &AdaptersState,
    exchange: &Exchange,
    calls: &AdapterCalls,
    questions: &[Question],
    failure: &GuestError,
) -> Error {
    let caller = exchange.auth.as_ref().map(|auth| auth.caller.id());
    let datasets: BTreeSet<&str> = questions.iter().filter_map(dataset).collect();
    let datasets = datasets.into_iter().map(str::to_owned).collect();
    failure::record(app, caller, calls, datasets, failure)
}

/// The dataset that `question` names.
fn dataset(question: &Question) -> Option<&str> {
    match question {
        Question::Datasets(_) | Question::Formats => None,
        Question::Dataset((name, _)) => Some(name),
        Question::Citation(selection) | Question::Count(selection) | Question::Rows(selection) => {
            Some(&selection.dataset)
        }
        Question::Values(query) => Some(&query.selection.dataset),
    }
}

/// What a request has used up.
#[derive(Default)]
struct Budget {
    questions: usize,
    reads: usize,
    bytes: usize,
}

impl Budget {
    /// Counts a question; its refusal where it is beyond what a request has.
    fn refuse(&mut self, question: &Question) -> Option<Fact> {
        self.questions += 1;
        if self.questions > QUESTIONS {
            return Some(refused(format!("A request has {QUESTIONS} questions; ask fewer.")));
        }
        if facts::is_read(question) {
            self.reads += 1;
            if self.reads > READS {
                return Some(refused(format!("A request has {READS} reads; ask fewer.")));
            }
        }
        None
    }

    /// Returns `fact` where there is room for it, else its refusal.
    fn weigh(&mut self, fact: Fact) -> Result<Fact, Error> {
        let bytes = size(&fact)?;
        if self.bytes + bytes > FACT_BYTES {
            return Ok(refused(format!(
                "A request has {FACT_BYTES} bytes of facts; ask for less."
            )));
        }
        self.bytes += bytes;
        Ok(fact)
    }
}

fn refused(sentence: String) -> Fact {
    Fact::Refused(Refusal {
        status: 413,
        code: "too_many_facts".to_owned(),
        problems: vec![Problem { place: Vec::new(), sentence }],
        retry_after: None,
    })
}

/// Bytes of `value` as JSON.
fn size(value: &impl Serialize) -> Result<usize, Error> {
    let written = serde_json::to_vec(value);
    written.map(|bytes| bytes.len()).map_err(|failure| Error::internal("weigh a fact", &failure))
}
