//! Replay of a dump's call: on the component that failed, or on one that should not.

use std::sync::Arc;

use arrow::array::{Array, AsArray};
use yearbook_domain::PluginKind;
use yearbook_engine::ComponentRejection;

use crate::adapt::PluginAdapter;
use crate::encode::{EncoderInstance, Notes, PluginEncoder, ResponseSize};
use crate::generate::PluginGenerator;
use crate::generator_request::GeneratorRequest;
use crate::guest_error::GuestError;
use crate::observe::{DumpMetadata, DumpTarget, FailureDump, GuestFunction, GuestLogLine};
use crate::read::{FileReading, PluginReader};
use crate::sandbox::{Plugin, Sandbox};

/// Result of a replay.
#[derive(Clone, Debug)]
pub struct ReplayResult {
    /// The failure; none: the call succeeded.
    pub failed: Option<DumpMetadata>,
    /// Lines that the instance logged.
    pub log: Vec<GuestLogLine>,
    /// Bytes that the call returned; 0 where it failed.
    pub bytes: usize,
}

/// A dump that was not replayed at all.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The component is no plugin.
    #[error(transparent)]
    Rejected(#[from] ComponentRejection),
    /// It is one of another kind.
    #[error("the dump is of a plugin of the kind {expected}, and the component is of another kind")]
    Kind {
        /// Kind that the dump names.
        expected: PluginKind,
    },
    /// The host failed, or cannot hand these rows over.
    #[error("{0}")]
    Host(String),
}

impl ReplayResult {
    /// Returns whether it failed at the same call, and in the same way, as `dump`; other words
    /// count as the same.
    #[must_use]
    pub fn reproduces(&self, dump: &FailureDump) -> bool {
        let way = |about: &DumpMetadata| (about.call, about.failure.kind.clone());
        self.failed.as_ref().is_some_and(|failed| way(failed) == way(&dump.about))
    }
}

impl Sandbox {
    /// Makes the call of `dump` again, on `component`. The sandbox's own limits are in force:
    /// make it with those of the dump. Blocking.
    ///
    /// # Errors
    /// [`ReplayError`] when the call was not made.
    pub fn replay(
        self: &Arc<Self>,
        component: &[u8],
        dump: &FailureDump,
    ) -> Result<ReplayResult, ReplayError> {
        let hand = DumpTarget::in_memory();
        let failed = |dump: Box<FailureDump>| ReplayResult {
            log: dump.about.log.clone(),
            failed: Some(dump.about),
            bytes: 0,
        };
        let plugin = match self.load_with_target(component, &hand) {
            Ok(plugin) => plugin,
            Err(rejected) => return hand.take().map(failed).ok_or(ReplayError::Rejected(rejected)),
        };
        let kind = dump.about.component.kind;
        let plugin = match plugin {
            // The format that it brings failed.
            Plugin::Adapter(adapter) if kind == PluginKind::Encoder => {
                adapter.encoder.clone().map_or(Plugin::Adapter(adapter), Plugin::Encoder)
            }
            plugin => plugin,
        };
        let made = match (&dump.request, &plugin) {
            _ if dump.about.call == GuestFunction::Describe => Ok((0, Vec::new())),
            (Some(request), Plugin::Generator(generator)) => {
                generator.replay(request, hand.clone())
            }
            (None, Plugin::Adapter(adapter)) if dump.adapter.is_some() => {
                adapter.replay(dump, hand.clone())
            }
            (None, Plugin::Reader(reader)) if kind == PluginKind::Reader => {
                reader.replay(dump, hand.clone())
            }
            (None, Plugin::Transform(transform)) if kind == PluginKind::Transform => {
                transform.replay(dump, hand.clone())
            }
            (None, Plugin::Encoder(encoder)) if kind == PluginKind::Encoder => {
                encoder.replay(dump, hand.clone())
            }
            _ => return Err(ReplayError::Kind { expected: kind }),
        };
        match made {
            Ok((bytes, log)) => Ok(ReplayResult { failed: None, log, bytes }),
            Err(error) => {
                hand.take().map(failed).ok_or_else(|| ReplayError::Host(error.to_string()))
            }
        }
    }
}

impl PluginGenerator {
    fn replay(
        &self,
        request: &GeneratorRequest,
        hand: DumpTarget,
    ) -> Result<(usize, Vec<GuestLogLine>), GuestError> {
        let made = self.call(self.try_acquire()?, self.call_metrics(hand), request);
        let project = made.project?;
        Ok((project.files.iter().map(|file| file.content.len()).sum(), made.log))
    }
}

impl PluginAdapter {
    fn replay(
        &self,
        dump: &FailureDump,
        hand: DumpTarget,
    ) -> Result<(usize, Vec<GuestLogLine>), GuestError> {
        let _permit = self.try_acquire()?;
        let Some(input) = &dump.adapter else { return Ok((0, Vec::new())) };
        let made = self.call(self.call_metrics(hand), input);
        made.answer.map(|_| (made.usage.output_bytes, made.log))
    }
}

impl PluginEncoder {
    fn replay(
        &self,
        dump: &FailureDump,
        hand: DumpTarget,
    ) -> Result<(usize, Vec<GuestLogLine>), GuestError> {
        let permit = self.try_acquire()?;
        let work = self.call_metrics(hand);
        let DumpMetadata { call, before, options, .. } = &dump.about;
        let options = self.description().parameters.complete(options);
        let (size, counted) = (ResponseSize::Small, Arc::clone(&work));
        let mut instance =
            EncoderInstance::open(self, size, permit, counted, &dump.schema, &options)?;
        let mut bytes = 0;
        if before.head && *call != GuestFunction::Head {
            instance.encode_header()?;
        }
        if let (GuestFunction::Tail, Some(batch)) = (call, &dump.batch) {
            instance.encode_part(batch)?;
        }
        instance.set_allowance(before.allowance);
        match call {
            GuestFunction::Head => bytes = instance.encode_header()?.len(),
            GuestFunction::Part => {
                work.record_notes(before.noted);
                if let Some(batch) = &dump.batch {
                    bytes = instance.encode_part(batch)?.len();
                }
            }
            GuestFunction::Tail => {
                bytes = instance.encode_footer(&Notes::from_entries(&dump.notes))?.len()
            }
            // That of `open` has been made.
            _ => {}
        }
        Ok((bytes, instance.guest_log().to_vec()))
    }
}

impl PluginReader {
    /// Gives it the chunks again and takes every row.
    fn replay(
        &self,
        dump: &FailureDump,
        hand: DumpTarget,
    ) -> Result<(usize, Vec<GuestLogLine>), GuestError> {
        let DumpMetadata { requests, options, before, .. } = &dump.about;
        let mut reading = FileReading::open(self, requests, options, hand)?;
        let chunks = dump.batch.as_ref().and_then(|batch| batch.columns().first());
        let chunks = chunks.and_then(|column| column.as_binary_opt::<i32>());
        let count = chunks.map_or(0, Array::len);
        let mut bytes = 0;
        for (at, chunk) in chunks.into_iter().flatten().enumerate() {
            reading.push(chunk.unwrap_or_default(), before.last && at + 1 == count)?;
            while let Some(batch) = reading.pull()? {
                bytes += batch.get_array_memory_size();
            }
        }
        Ok((bytes, reading.guest_log().to_vec()))
    }
}
