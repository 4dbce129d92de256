//! A response that no client waits for: head, parts and tail apart, everything measured, and a
//! failure that says in which call. `plugin check` and canaries are made of it. Blocking
//! throughout: call it on a worker.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use crate::adapt::{AdapterAnswer, AdapterCall, AdapterInput, PluginAdapter};
use crate::encode::{EncoderInstance, Notes, PluginEncoder, ResponseSize};
use crate::generate::{GenerateOutput, GeneratedProject, PluginGenerator};
use crate::generator_request::GeneratorRequest;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, FailureDump, ResourceUsage};
use crate::options::OptionValue;

/// Result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResponse {
    /// Bytes before the first row.
    pub head: Vec<u8>,
    /// Bytes of each batch.
    pub parts: Vec<Vec<u8>>,
    /// Bytes after the last row.
    pub tail: Vec<u8>,
    /// Usage of its instances.
    pub usage: ResourceUsage,
    /// Processor time of all calls together.
    pub cpu: Duration,
    /// Size of the input, as the amplification limit weighs it.
    pub weight: usize,
}

impl TrialResponse {
    /// The response as a client would see it.
    #[must_use]
    pub fn response(&self, separator: Option<&[u8]>) -> Vec<u8> {
        [self.head.as_slice(), &self.parts.join(separator.unwrap_or_default()), &self.tail].concat()
    }

    /// Bytes of head, parts and tail.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.head.len() + self.parts.iter().map(Vec::len).sum::<usize>() + self.tail.len()
    }
}

/// A call of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestCall {
    /// `open`.
    Open,
    /// `head`.
    Head,
    /// `part`, of which batch, from 1.
    Part(usize),
    /// `tail`.
    Tail,
    /// `generate`.
    Generate,
    /// `push`, of which chunk, from 1.
    Push(usize),
    /// `columns` or `pull`, after which chunk, from 1.
    Pull(usize),
    /// `plan`.
    Plan,
    /// `prime`, of which batch, from 1.
    Prime(usize),
    /// `push` of a transform, of which batch, from 1.
    PushRows(usize),
    /// `finish`.
    Finish,
    /// `answer`, with how many facts.
    Answer(usize),
    /// `frame`.
    Frame,
    /// `refuse`.
    Refuse,
}

impl fmt::Display for GuestCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Head => f.write_str("head"),
            Self::Part(batch) => write!(f, "part (batch {batch})"),
            Self::Tail => f.write_str("tail"),
            Self::Generate => f.write_str("generate"),
            Self::Push(chunk) => write!(f, "push (chunk {chunk})"),
            Self::Pull(chunk) => write!(f, "pull (after chunk {chunk})"),
            Self::Plan => f.write_str("plan"),
            Self::Prime(batch) => write!(f, "prime (batch {batch})"),
            Self::PushRows(batch) => write!(f, "push (batch {batch})"),
            Self::Finish => f.write_str("finish"),
            Self::Answer(facts) => write!(f, "answer ({facts} facts)"),
            Self::Frame => f.write_str("frame"),
            Self::Refuse => f.write_str("refuse"),
        }
    }
}

/// A trial that failed.
#[derive(Debug, thiserror::Error)]
#[error("{call}: {error}")]
pub struct TrialError {
    /// In which call.
    pub call: GuestCall,
    /// The error.
    pub error: GuestError,
    /// Dump of the failure; none where the sandbox's sink has it, or where the plugin is not at
    /// fault.
    pub dump: Option<Box<FailureDump>>,
}

impl PluginEncoder {
    /// Encodes `batches`, which are all of one schema. `apart`: each part by an instance of its
    /// own, as the host may do where a separator is promised.
    ///
    /// # Errors
    /// [`TrialError`], with the call that failed.
    pub fn trial(
        &self,
        schema: &Schema,
        chosen: &[OptionValue],
        batches: &[RecordBatch],
        apart: bool,
    ) -> Result<TrialResponse, TrialError> {
        let options = self.description().parameters.complete(chosen);
        let work = self.call_metrics(self.host.dump_target.or_in_memory());
        let mut runner = TrialRunner {
            encoder: self,
            work,
            schema,
            options,
            usage: ResourceUsage::default(),
            weight: 0,
        };
        let mut ends = runner.open()?;
        let mut notes = Notes::new();
        let mut separator = 0;
        let head = runner.map_error(GuestCall::Head, ends.encode_header())?;
        runner.record_output(head.len());
        notes.advance(head.len());
        let mut parts = Vec::with_capacity(batches.len());
        for (position, batch) in batches.iter().enumerate() {
            let call = GuestCall::Part(position + 1);
            let mut own = if apart { Some(runner.open()?) } else { None };
            let instance = own.as_mut().unwrap_or(&mut ends);
            let before = instance.allowance();
            let mut piece = runner.map_error(call, instance.encode_part(batch))?;
            runner.record_input(before, instance.allowance(), piece.weight());
            runner.record_output(piece.len());
            notes.advance(separator);
            separator = self.description().separator.as_ref().map_or(0, Vec::len);
            let (length, note) = piece.take_note();
            notes.take(length, note);
            let mut bytes = Vec::with_capacity(length);
            piece.append_to(&mut bytes);
            parts.push(bytes);
            if let Some(own) = own {
                runner.record_usage(&own);
            }
        }
        let tail = runner.map_error(GuestCall::Tail, ends.encode_footer(&notes))?;
        runner.record_output(tail.len());
        runner.record_usage(&ends);
        Ok(TrialResponse {
            head,
            parts,
            tail,
            usage: runner.usage,
            cpu: runner.work.cpu(),
            weight: runner.weight,
        })
    }
}

impl PluginGenerator {
    /// Makes the files of one answer, with what the instance used.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn trial(
        &self,
        request: &GeneratorRequest,
    ) -> Result<(GeneratedProject, ResourceUsage), TrialError> {
        let work = self.call_metrics(self.host.dump_target.or_in_memory());
        let failed = |error| TrialError {
            call: GuestCall::Generate,
            error,
            dump: work.dump_target().take(),
        };
        let permit = self.try_acquire().map_err(failed)?;
        let GenerateOutput { project, mut usage, .. } =
            self.call(permit, Arc::clone(&work), request);
        let project = project.map_err(failed)?;
        usage.output_bytes = project.files.iter().map(|file| file.content.len()).sum();
        Ok((project, usage))
    }
}

impl PluginAdapter {
    /// Makes one call, with what the instance used.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn trial(
        &self,
        input: &AdapterInput,
    ) -> Result<(AdapterAnswer, ResourceUsage), TrialError> {
        let work = self.call_metrics(self.host.dump_target.or_in_memory());
        let call = match &input.call {
            AdapterCall::Answer(facts) => GuestCall::Answer(facts.len()),
            AdapterCall::Frame(..) => GuestCall::Frame,
            AdapterCall::Refuse(_) => GuestCall::Refuse,
        };
        let failed = |error| TrialError { call, error, dump: work.dump_target().take() };
        let _permit = self.try_acquire().map_err(failed)?;
        let made = self.call(Arc::clone(&work), input);
        Ok((made.answer.map_err(failed)?, made.usage))
    }
}

/// Opens instances and adds up what they use.
struct TrialRunner<'a> {
    encoder: &'a PluginEncoder,
    work: Arc<CallMetrics>,
    schema: &'a Schema,
    options: Vec<OptionValue>,
    usage: ResourceUsage,
    weight: usize,
}

impl TrialRunner<'_> {
    fn open(&self) -> Result<EncoderInstance, TrialError> {
        let opened = self.encoder.try_acquire().and_then(|permit| {
            let (size, work) = (ResponseSize::Small, Arc::clone(&self.work));
            EncoderInstance::open(self.encoder, size, permit, work, self.schema, &self.options)
        });
        self.map_error(GuestCall::Open, opened)
    }

    fn map_error<T>(
        &self,
        call: GuestCall,
        outcome: Result<T, GuestError>,
    ) -> Result<T, TrialError> {
        outcome.map_err(|error| TrialError { call, error, dump: self.work.dump_target().take() })
    }

    fn record_output(&mut self, bytes: usize) {
        self.usage.output_bytes = self.usage.output_bytes.max(bytes);
    }

    /// Adds a batch's weight, from its effect on the allowance.
    fn record_input(&mut self, before: usize, after: usize, returned: usize) {
        let granted = after.saturating_add(returned).saturating_sub(before);
        self.weight =
            self.weight.saturating_add(granted / self.encoder.host.limits.amplification.max(1));
    }

    fn record_usage(&mut self, instance: &EncoderInstance) {
        self.usage = self.usage.and(instance.used());
    }
}
