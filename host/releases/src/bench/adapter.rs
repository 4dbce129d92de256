//! The speed of an adapter: the calls of each of its examples over the SDK's sample catalogue,
//! found by asking once and made again and again. Rows that it selects are not written: that is a
//! format's work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use yearbook_sandbox::{
    AdapterAnswer, AdapterCall, AdapterInput, PluginAdapter, ResourceUsage, TrialError,
};
use yearbook_sdk::adapter::{Document, Fact, Framing, Known, Refusal, Reply, Request, Table};
use yearbook_sdk::testing::adapting::{AdapterTrial, try_adapter};
use yearbook_workers::with_stack;

use super::{BenchError, median, whole};
use crate::trial_calls::TrialCalls;

/// Requests of an example in a run: one takes less than a clock can tell well.
const REQUESTS: u32 = 20;

/// Figures of one example of an adapter: medians of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExampleFigure {
    /// Name of the adapter.
    pub plugin: String,
    /// Path and query of the example.
    pub example: String,
    /// Requests that are answered in a second, one after the other.
    pub requests_per_second: u64,
    /// Time of a call, microseconds, with its instance.
    pub call_us: f64,
    /// Calls of a request.
    pub calls: usize,
    /// Facts of a request, bytes as JSON writes them.
    pub fact_bytes: usize,
    /// Largest linear memory of an instance, bytes.
    pub memory_bytes: usize,
}

/// Measures an adapter in `runs` counted runs after one that is not counted, all of its examples in
/// turn in each run. `stack`: bytes that its thread has.
///
/// # Errors
/// [`BenchError`] of the first example that fails, or where there is none that can be asked.
pub fn bench_adapter(
    adapter: &PluginAdapter,
    runs: usize,
    stack: usize,
) -> Result<Vec<ExampleFigure>, BenchError> {
    with_stack(stack, || {
        let name = &adapter.description().name;
        let examples = examples(adapter)?;
        let mut times = vec![Vec::new(); examples.len()];
        let mut usage = vec![ResourceUsage::default(); examples.len()];
        for run in 0..=runs.max(1) {
            let measured = times.iter_mut().zip(&mut usage);
            for (example, (times, usage)) in examples.iter().zip(measured) {
                let begun = Instant::now();
                for _ in 0..REQUESTS {
                    *usage = usage.and(example.request(adapter, name)?);
                }
                if run > 0 {
                    times.push(begun.elapsed() / REQUESTS);
                }
            }
        }
        let figures = examples.iter().zip(times).zip(usage);
        Ok(figures.map(|((example, times), usage)| example.figure(name, times, usage)).collect())
    })
}

/// An example with the calls that the host makes for it.
struct ExampleCalls {
    name: String,
    calls: Vec<AdapterInput>,
}

impl ExampleCalls {
    /// Makes every call of one request.
    fn request(&self, adapter: &PluginAdapter, name: &str) -> Result<ResourceUsage, BenchError> {
        let mut usage = ResourceUsage::default();
        for call in &self.calls {
            let made = adapter.trial(call);
            let (_, used) = made.map_err(|error| failed(name, &self.name, error))?;
            usage = usage.and(used);
        }
        Ok(usage)
    }

    fn figure(&self, name: &str, mut times: Vec<Duration>, usage: ResourceUsage) -> ExampleFigure {
        let seconds = median(&mut times).max(f64::MIN_POSITIVE);
        let bytes = |call: &AdapterInput| match &call.call {
            AdapterCall::Answer(facts) | AdapterCall::Frame(facts, _) if !facts.is_empty() => {
                serde_json::to_vec(&**facts).map_or(0, |text| text.len())
            }
            _ => 0,
        };
        ExampleFigure {
            plugin: name.to_owned(),
            example: self.name.clone(),
            requests_per_second: whole(1.0 / seconds),
            call_us: (seconds * 1e7 / self.calls.len() as f64).round() / 10.0,
            calls: self.calls.len(),
            fact_bytes: self.calls.iter().map(bytes).max().unwrap_or_default(),
            memory_bytes: usage.memory_bytes,
        }
    }

    /// Keeps a call unless it is one that is only tried: each is made twice, and rows are framed as
    /// if there were others.
    fn add(&mut self, input: AdapterInput) {
        let last = self.calls.last().map(|input| &input.call);
        let is_new = match (&input.call, last) {
            (AdapterCall::Answer(facts), Some(AdapterCall::Answer(before))) => {
                facts.len() > before.len()
            }
            (AdapterCall::Answer(_), last) => last.is_none(),
            (AdapterCall::Frame(..) | AdapterCall::Refuse(_), last) => {
                matches!(last, Some(AdapterCall::Answer(_)))
            }
        };
        if is_new {
            self.calls.push(input);
        }
    }
}

fn failed(plugin: &str, example: &str, error: TrialError) -> BenchError {
    let (plugin, example) = (plugin.to_owned(), example.to_owned());
    BenchError::Example { plugin, example, error: Box::new(error) }
}

/// The calls of every example.
fn examples(adapter: &PluginAdapter) -> Result<Vec<ExampleCalls>, BenchError> {
    let description = adapter.description();
    let mut recorder = CallRecorder { adapter, examples: Vec::new(), open: false, failed: None };
    if let Some(examples) = recorder.convert::<_, Vec<_>>(&description.examples) {
        try_adapter(&mut recorder, &examples, description.posts);
    }
    if let Some((example, error)) = recorder.failed {
        return Err(failed(&description.name, &example, error));
    }
    let mut examples = recorder.examples;
    examples.retain(|example| !example.calls.is_empty());
    if examples.is_empty() {
        return Err(BenchError::NoExample(description.name.clone()));
    }
    Ok(examples)
}

/// An adapter whose calls are made and kept, as far as they are those of an example.
struct CallRecorder<'a> {
    adapter: &'a PluginAdapter,
    examples: Vec<ExampleCalls>,
    /// Set while the last of the examples is tried.
    open: bool,
    /// The first failure, with its example.
    failed: Option<(String, TrialError)>,
}

impl TrialCalls for CallRecorder<'_> {
    fn make(&mut self, input: AdapterInput) -> Option<AdapterAnswer> {
        let made = self.adapter.trial(&input);
        let example = self.examples.last_mut().filter(|_| self.open);
        match (made, example) {
            (Ok((answer, _)), example) => {
                if let Some(example) = example {
                    example.add(input);
                }
                Some(answer)
            }
            (Err(error), Some(example)) => {
                self.failed.get_or_insert_with(|| (example.name.clone(), error));
                None
            }
            (Err(_), None) => None,
        }
    }
}

impl AdapterTrial for CallRecorder<'_> {
    fn name(&self) -> String {
        self.adapter.description().name.clone()
    }

    fn begin(&mut self, place: &str) {
        let example = place.strip_prefix("example ").and_then(|place| place.split_once(", "));
        self.open = example.is_some();
        if let Some((_, name)) = example {
            self.examples.push(ExampleCalls { name: name.to_owned(), calls: Vec::new() });
        }
    }

    fn answer(&mut self, request: &Request, facts: &[Fact]) -> Option<Reply> {
        let facts = self.convert(&facts)?;
        self.ask(request, AdapterCall::Answer(Arc::new(facts)))
    }

    fn frame(&mut self, request: &Request, facts: &[Fact], known: &Known) -> Option<Framing> {
        let (facts, known) = (self.convert(&facts)?, self.convert(known)?);
        self.ask(request, AdapterCall::Frame(Arc::new(facts), known))
    }

    fn refuse(&mut self, request: &Request, refusal: &Refusal) -> Option<Document> {
        let refusal = self.convert(refusal)?;
        self.ask(request, AdapterCall::Refuse(refusal))
    }

    fn own_format(&mut self, _: &[(String, String)], _: &Table) -> Option<(String, Vec<u8>)> {
        Some((String::new(), Vec::new()))
    }

    // Faults are the check's to find.
    fn find(&mut self, _: String, _: &str) {}
}
