//! The trial of an adapter: the SDK's list over its sample catalogue, each call in the sandbox,
//! which checks what answers hold; and bodies of JSON and XML, which must be whole.

mod well_formed;

use std::sync::Arc;

use yearbook_sandbox::{
    AdapterAnswer, AdapterCall, AdapterInput, OptionValue, PluginAdapter, PluginEncoder,
};
use yearbook_sdk::adapter::{Document, Fact, Framing, Known, Refusal, Reply, Request, Table};
use yearbook_sdk::testing::adapting::{AdapterTrial, test_table, try_adapter};

use super::encoder::batches_for;
use super::report::ReportBuilder;
use crate::trial_calls::TrialCalls;

pub(super) fn check(adapter: &PluginAdapter, tally: &mut ReportBuilder) {
    let description = adapter.description();
    let mut trial = SandboxTrial { adapter, tally, place: "describe".to_owned() };
    if let Some(examples) = trial.convert::<_, Vec<_>>(&description.examples) {
        try_adapter(&mut trial, &examples, description.posts);
    }
}

/// An adapter that is called in the sandbox.
struct SandboxTrial<'a> {
    adapter: &'a PluginAdapter,
    tally: &'a mut ReportBuilder,
    place: String,
}

impl TrialCalls for SandboxTrial<'_> {
    fn make(&mut self, input: AdapterInput) -> Option<AdapterAnswer> {
        if let AdapterCall::Answer(facts) = &input.call {
            let bytes = serde_json::to_vec(&**facts).map_or(0, |text| text.len());
            self.tally.record_facts(bytes);
        }
        match self.adapter.trial(&input) {
            Ok((answer, usage)) => {
                self.tally.record_usage(usage);
                Some(answer)
            }
            Err(failed) => {
                self.tally.find_failure(&self.place, failed);
                None
            }
        }
    }

    fn note_unreadable(&mut self, error: &serde_json::Error) {
        // JSON has no NaN and no infinities.
        let wrong = format!("it returned what cannot be read: {error}");
        self.tally.find(&*self.place, wrong, "use finite numbers alone");
    }
}

impl SandboxTrial<'_> {
    /// Options as the format takes them.
    fn options(
        &mut self,
        encoder: &PluginEncoder,
        options: &[(String, String)],
    ) -> Option<Vec<OptionValue>> {
        let parameters = &encoder.description().parameters;
        let option = |(name, text): &(String, String)| {
            let parameter = parameters.iter().find(|parameter| parameter.name == *name);
            let value = parameter.and_then(|parameter| parameter.parse(text));
            let name = name.clone();
            value.map(|value| OptionValue { name, value }).ok_or_else(|| format!("{text:?}"))
        };
        let read: Result<Vec<_>, String> = options.iter().map(option).collect();
        read.map_err(|text| {
            let wrong = format!("it gives its format an option with the value {text}");
            self.find(wrong, "give options that the format declares, with values that it allows");
        })
        .ok()
    }
}

impl AdapterTrial for SandboxTrial<'_> {
    fn name(&self) -> String {
        self.adapter.description().name.clone()
    }

    fn begin(&mut self, place: &str) {
        place.clone_into(&mut self.place);
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

    fn own_format(
        &mut self,
        options: &[(String, String)],
        rows: &Table,
    ) -> Option<(String, Vec<u8>)> {
        let encoder = self.adapter.encoder()?;
        let options = self.options(encoder, options)?;
        let (schema, batches) = batches_for(encoder, &test_table(rows)).ok()?;
        let description = encoder.description();
        match encoder.trial(&schema, &options, &batches, false) {
            Ok(encoded) => {
                self.tally.record_usage(encoded.usage);
                let body = encoded.response(description.separator.as_deref());
                Some((description.media_type.clone(), body))
            }
            Err(failed) => {
                self.tally.find_failure(&self.place, failed);
                None
            }
        }
    }

    fn read(&self, media_type: &str, body: &[u8]) -> Result<(), String> {
        well_formed::read(media_type, body)
    }

    fn used(&mut self, calls: usize, questions: usize, reads: usize) {
        self.tally.record_rounds(calls, questions, reads);
    }

    fn find(&mut self, wrong: String, advice: &str) {
        self.tally.find(&*self.place, wrong, advice);
    }
}
