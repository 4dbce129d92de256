//! Dump of a plugin's failure: everything that one call needs to fail again, as one value. It names
//! the component, the call and the reason, and holds the call's input: schema, options, the last
//! batch, notes, a generator's request, or an adapter's with its facts. Knows nothing of files or
//! readers (decision 0160).

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use yearbook_domain::{Digest, PluginKind, SourceColumn};
use yearbook_engine::Limits;

use super::{CallMetrics, FailureReason, GuestFunction, ReleaseName};
use crate::adapt::AdapterInput;
use crate::generator_request::GeneratorRequest;
use crate::guest_error::GuestError;
use crate::options::OptionValue;

/// Version of a dump's form; a reader takes no other.
pub const DUMP_VERSION: u32 = 1;

/// A call that failed, with what it was given.
#[derive(Clone, Debug)]
pub struct FailureDump {
    /// The failure, its component and the limits in force.
    pub about: DumpMetadata,
    /// The response's schema with its metadata; without columns where there was none.
    pub schema: SchemaRef,
    /// The rows of the part that failed; of a tail the last rows that its instance saw; of a reader
    /// the chunks of the file, a row each.
    pub batch: Option<RecordBatch>,
    /// Notes for the footer: each with the place of its part in the response.
    pub notes: Vec<(u64, Vec<u8>)>,
    /// Request for a generator.
    pub request: Option<GeneratorRequest>,
    /// Input of an adapter.
    pub adapter: Option<AdapterInput>,
}

/// Everything of a dump that is not data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DumpMetadata {
    /// [`DUMP_VERSION`].
    pub version: u32,
    /// Component that failed.
    pub component: FailingComponent,
    /// The call that failed.
    pub call: GuestFunction,
    /// Reason of the failure.
    pub failure: FailureReason,
    /// Lines that the instance logged until then.
    pub log: Vec<GuestLogLine>,
    /// Every option of the response.
    pub options: Vec<OptionValue>,
    /// Columns that a reader was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<SourceColumn>,
    /// Values that columns of a transform's input may have, for those that it or the host looked
    /// up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<Option<Vec<String>>>,
    /// Progress of the instance before that call.
    pub before: InstanceProgress,
    /// The limits in force.
    pub limits: Limits,
}

/// A component that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailingComponent {
    /// Its kind.
    pub kind: PluginKind,
    /// Format or tool; empty where `describe` failed.
    pub name: String,
    /// The plugin's own version, likewise.
    pub version: String,
    /// SHA-256 of the component.
    pub digest: Digest,
}

/// A line that a guest logged, as the host's log has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestLogLine {
    /// `trace`, `debug`, `info`, `warn` or `error`.
    pub level: String,
    /// Escaped and cut.
    pub message: String,
}

/// Progress of an instance before the call that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InstanceProgress {
    /// Set where it had made the header.
    pub head: bool,
    /// Chunks that it had made; a dump holds the last alone, and that for a footer only.
    pub parts: usize,
    /// Bytes that it might still give out, as the amplification limit counts them.
    pub allowance: usize,
    /// Bytes of notes that the parts of the response had left.
    pub noted: usize,
    /// Set where a reader was told that no more chunks follow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
}

impl FailureDump {
    /// Of a component that has not said what it is.
    pub(crate) fn for_component(kind: PluginKind, digest: &Digest, limits: &Limits) -> Self {
        let component =
            FailingComponent { kind, name: String::new(), version: String::new(), digest: *digest };
        let about = DumpMetadata {
            version: DUMP_VERSION,
            component,
            call: GuestFunction::Describe,
            failure: FailureReason { kind: String::new(), message: String::new() },
            log: Vec::new(),
            options: Vec::new(),
            requests: Vec::new(),
            codes: Vec::new(),
            before: InstanceProgress::default(),
            limits: *limits,
        };
        Self {
            about,
            schema: Schema::empty().into(),
            batch: None,
            notes: Vec::new(),
            request: None,
            adapter: None,
        }
    }

    /// Of a response that begins.
    pub(crate) fn for_response(
        release: &ReleaseName,
        schema: &Schema,
        options: &[OptionValue],
        limits: &Limits,
    ) -> Self {
        let mut dump = Self::for_release(release, limits);
        dump.schema = schema.clone().into();
        dump.about.options = options.to_vec();
        dump
    }

    /// Of a generator's answer.
    pub(crate) fn for_request(
        release: &ReleaseName,
        request: &GeneratorRequest,
        options: Vec<OptionValue>,
        limits: &Limits,
    ) -> Self {
        let mut dump = Self::for_release(release, limits);
        dump.request = Some(request.clone());
        dump.about.options = options;
        dump
    }

    /// Of a call of an adapter.
    pub(crate) fn for_adapter(
        release: &ReleaseName,
        input: &AdapterInput,
        limits: &Limits,
    ) -> Self {
        Self { adapter: Some(input.clone()), ..Self::for_release(release, limits) }
    }

    fn for_release(release: &ReleaseName, limits: &Limits) -> Self {
        let mut dump = Self::for_component(release.id.kind, &release.id.digest, limits);
        dump.about.component.name.clone_from(&release.id.name);
        dump.about.component.version.clone_from(&release.version);
        dump
    }

    /// Leaves it behind, if the plugin has part in the failure.
    pub(crate) fn write_failure(
        self,
        call: GuestFunction,
        error: &GuestError,
        log: &[GuestLogLine],
        work: &CallMetrics,
    ) {
        if let Some(reason) = error.reason() {
            self.write(call, reason, !error.is_failure_of_the_plugin(), log, work);
        }
    }

    /// Leaves it behind. `is_refusal`: clients can provoke it.
    pub(crate) fn write(
        mut self,
        call: GuestFunction,
        reason: FailureReason,
        is_refusal: bool,
        log: &[GuestLogLine],
        work: &CallMetrics,
    ) {
        self.about.call = call;
        self.about.failure = reason;
        self.about.log = log.to_vec();
        work.dump_target().write(self, is_refusal);
    }

    /// The file's name: one for each way in which a component can fail.
    #[must_use]
    pub fn file_name(&self) -> String {
        let DumpMetadata { component, call, failure, .. } = &self.about;
        format!(
            "{}-{call}-{}.dump.arrow",
            component.digest.as_str().get(..16).unwrap_or_default(),
            failure.kind
        )
    }
}
