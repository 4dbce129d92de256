//! The rounds of a request (contract-17-rounds): the adapter asks, is told, and asks again, within
//! four calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use yearbook_http::Error;
use yearbook_sandbox::adapter::{Document, Reply, Rows};
use yearbook_sandbox::adapter_limits::{CALLS, FACT_BYTES, QUESTIONS, READS};
use yearbook_sandbox::catalogue::{Fact, Known, Problem, Question, Refusal};
use yearbook_sandbox::{AdapterCalls, AdapterExchange};

use crate::document_cache::{CachedAnswer, DocumentKey, KeptAnswer, KeptFrame, KeptRows, Revision};
use crate::request::Exchange;
use crate::{AdaptersState, facts, failure};

/// Answer of an adapter.
pub(crate) enum Answer {
    /// A document.
    Document(Document),
    /// Rows that the host sends.
    Rows(Box<Rows>),
}

/// Asks the adapter what to do until it says so. What it is told is added to `told`.
///
/// # Errors
/// Those of questions that end the request; 429, 500 and 503 for a call that failed.
pub(crate) async fn run(
    app: &AdaptersState,
    exchange: &mut Exchange,
    calls: &mut AdapterCalls,
    told: &mut Told,
) -> Result<Answer, Error> {
    let mut calls_left = CALLS;
    loop {
        calls_left -= 1;
        let failure = match calls.answer(&told.facts).await {
            Ok(Reply::Document(written)) => {
                told.sample(app, calls, None);
                return Ok(Answer::Document(written));
            }
            Ok(Reply::Rows(rows)) => return Ok(Answer::Rows(Box::new(rows))),
            Ok(Reply::Ask(asked)) if calls_left > 0 => {
                told.ask(app, exchange, asked).await?;
                continue;
            }
            Ok(Reply::Ask(_)) => {
                failure::broken_rule(calls, format!("questions at the last of {CALLS} calls"))
            }
            Err(failure) => failure,
        };
        let datasets: BTreeSet<&str> = told.questions.iter().filter_map(dataset).collect();
        let datasets = datasets.into_iter().map(str::to_owned).collect();
        return Err(failure::record(app, exchange.key_id(), calls, datasets, &failure));
    }
}

/// Returns the answer in memory called `key`, where it is true for `revision`: because it was
/// made for it, or because all that its adapter asked has the same answers now.
pub(crate) async fn recall(
    app: &AdaptersState,
    exchange: &mut Exchange,
    key: &DocumentKey,
    revision: &Revision,
) -> Option<Arc<KeptAnswer>> {
    let (kept, is_true) = app.documents.get(key, revision)?;
    if is_true {
        return Some(kept);
    }
    let mut told = Told::default();
    told.ask(app, exchange, kept.questions.clone()).await.ok()?;
    if exchange.is_passing() || told.digest() != kept.facts {
        return None;
    }
    app.documents.renew(key, &kept, revision.clone());
    Some(kept)
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

/// All that an adapter asked for a request, and was told.
#[derive(Default)]
pub(crate) struct Told {
    /// The questions.
    pub(crate) questions: Vec<Question>,
    /// Their answers.
    pub(crate) facts: Arc<Vec<Fact>>,
    reads: usize,
    bytes: usize,
    hash: Sha256,
    /// Digest of the answers, where they come from memory.
    kept: Option<[u8; 32]>,
}

impl Told {
    /// Everything that `kept` was made of, which are `rows`.
    pub(crate) fn recalled(kept: &KeptAnswer, rows: &KeptRows) -> Self {
        let (questions, facts) = (kept.questions.clone(), Arc::clone(&rows.facts));
        let (bytes, kept) = (rows.fact_bytes, Some(kept.facts));
        Self { questions, facts, bytes, kept, ..Self::default() }
    }

    /// The answer `rows`, to be kept with the bytes around them.
    pub(crate) fn into_kept(self, rows: Rows, frame: KeptFrame) -> KeptAnswer {
        let digest = self.digest();
        let Self { questions, facts, bytes, .. } = self;
        let rows = KeptRows { rows, facts, fact_bytes: bytes, frame };
        KeptAnswer { answer: CachedAnswer::Rows(Box::new(rows)), questions, facts: digest }
    }

    /// Answers `questions`, within what a request has.
    ///
    /// # Errors
    /// Those of questions that end the request.
    async fn ask(
        &mut self,
        app: &AdaptersState,
        exchange: &mut Exchange,
        questions: Vec<Question>,
    ) -> Result<(), Error> {
        for question in questions {
            if facts::is_passing(&question) {
                exchange.note_passing();
            }
            let fact = match self.refuse(&question) {
                Some(refused) => refused,
                None => facts::answer(app, exchange, &question).await?,
            };
            self.questions.push(question);
            self.add(fact)?;
        }
        Ok(())
    }

    /// Refuses a question beyond what a request has.
    fn refuse(&mut self, question: &Question) -> Option<Fact> {
        if self.questions.len() >= QUESTIONS {
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

    /// Adds `fact` where there is room for it, else its refusal.
    fn add(&mut self, mut fact: Fact) -> Result<(), Error> {
        let mut text = to_json(&fact)?;
        if self.bytes + text.len() > FACT_BYTES {
            fact = refused(format!("A request has {FACT_BYTES} bytes of facts; ask for less."));
            text = to_json(&fact)?;
        } else {
            self.bytes += text.len();
        }
        self.hash.update(text.len().to_le_bytes());
        self.hash.update(&text);
        Arc::make_mut(&mut self.facts).push(fact);
        Ok(())
    }

    /// Has the exchange compared with that of a release that waits. `known`: what `frame` is told.
    pub(crate) fn sample(&self, app: &AdaptersState, calls: &AdapterCalls, known: Option<&Known>) {
        app.core.releases.sample_exchange(calls.plugin(), &|| AdapterExchange {
            request: Arc::clone(calls.request()),
            questions: self.questions.clone(),
            facts: Arc::clone(&self.facts),
            known: known.cloned(),
        });
    }

    /// Digest of the answers.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.kept.unwrap_or_else(|| self.hash.clone().finalize().into())
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

fn to_json(fact: &Fact) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(fact).map_err(|failure| Error::internal("weigh a fact", &failure))
}
