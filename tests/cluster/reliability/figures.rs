//! Figures of a fault: printed, and left in a folder for the page that `cargo xtask fleet` writes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::load::{LoadOutcome, RequestResult};

/// Variable with the folder of figures for the page.
const VARIABLE: &str = "YEARBOOK_TEST_FIGURES";

/// Numbers of one fault.
pub(crate) struct FaultFigures {
    name: &'static str,
    outcomes: Vec<LoadOutcome>,
    /// Time of its end.
    mended: Option<Instant>,
    more: Vec<(&'static str, String)>,
}

impl FaultFigures {
    pub(crate) fn new(name: &'static str, outcomes: Vec<LoadOutcome>) -> Self {
        Self { name, outcomes, mended: None, more: Vec::new() }
    }

    /// The fault ended `at`.
    pub(crate) fn recovered_at(mut self, at: Instant) -> Self {
        self.mended = Some(at);
        self
    }

    /// One more number, in words.
    pub(crate) fn and(mut self, what: &'static str, value: impl ToString) -> Self {
        self.more.push((what, value.to_string()));
        self
    }

    pub(crate) fn correct(&self) -> usize {
        self.count(|ended| matches!(ended, RequestResult::Right(_)))
    }

    pub(crate) fn status(&self, status: u16) -> usize {
        self.count(|ended| *ended == RequestResult::Status(status))
    }

    /// Requests that got neither data nor an honest 503.
    pub(crate) fn failed(&self) -> usize {
        self.outcomes.len() - self.correct() - self.status(503)
    }

    /// From the fault's end to the last answer that was not data; `None` if there was none.
    pub(crate) fn recovery(&self) -> Option<Duration> {
        let mended = self.mended?;
        let late = self
            .outcomes
            .iter()
            .filter(|outcome| !matches!(outcome.ended, RequestResult::Right(_)));
        late.map(|outcome| (outcome.began + outcome.took).saturating_duration_since(mended))
            .max()
            .filter(|took| !took.is_zero())
    }

    /// Prints and keeps them; fails where a byte was wrong, something hung, or nothing was
    /// answered.
    #[track_caller]
    pub(crate) fn assert_and_write(&self) {
        let mut took: Vec<Duration> = self.outcomes.iter().map(|outcome| outcome.took).collect();
        took.sort();
        let quantile = |of: usize| {
            took.get(took.len().saturating_sub(1) * of / 1_000).map_or(0, Duration::as_millis)
        };
        let wrong: Vec<&LoadOutcome> = self
            .outcomes
            .iter()
            .filter(|outcome| matches!(outcome.ended, RequestResult::Wrong(_)))
            .collect();
        let hung = self.count(|ended| *ended == RequestResult::Hung);
        let figures = json!({
            "name": self.name,
            "requests": self.outcomes.len(),
            "right": self.correct(),
            "unavailable": self.status(503),
            "gateway": self.count(|ended| matches!(ended, RequestResult::Status(502 | 504))),
            "other": self.count(|ended| matches!(ended, RequestResult::Status(status) if ![502, 503, 504].contains(status))),
            "cut": self.count(|ended| *ended == RequestResult::Cut),
            "lost": self.count(|ended| *ended == RequestResult::Lost),
            "hung": hung,
            "wrong": wrong.len(),
            "median_ms": quantile(500),
            "p99_ms": quantile(990),
            "slowest_ms": quantile(1_000),
            "recovery_ms": self.mended.map(|_| self.recovery().map_or(0, |took| took.as_millis())),
            "more": self.more.iter().map(|(what, value)| json!([what, value])).collect::<Vec<Value>>(),
        });
        println!("{figures}");
        if let Ok(folder) = std::env::var(VARIABLE) {
            std::fs::write(format!("{folder}/{}.json", self.name), figures.to_string()).unwrap();
        }
        assert!(wrong.is_empty(), "{}: wrong bytes: {wrong:?}", self.name);
        assert_eq!(hung, 0, "{}: something hangs", self.name);
        assert!(
            self.correct() > 0,
            "{}: nothing was answered: {:?}",
            self.name,
            self.outcomes.last()
        );
    }

    fn count(&self, is: impl Fn(&RequestResult) -> bool) -> usize {
        self.outcomes.iter().filter(|outcome| is(&outcome.ended)).count()
    }
}
