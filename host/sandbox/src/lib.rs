//! Runs plugins: WebAssembly components that turn Arrow batches into bytes or into other Arrow
//! batches, descriptions of datasets into files, or a file into Arrow batches, each in a fresh
//! instance under the limits of `engine`, with which it owns everything of wasmtime; never touches
//! HTTP, SQL, files of data or Parquet. What a guest returns is untrusted until this crate has
//! checked it.
//!
//! # The life of an instance
//! ```text
//! Sandbox::load              bytes -> Plugin: compiled, its imports read, described, checked
//!   sandbox/compiled_component   machine code from the cache, or from a process under limits
//!   plugin_world                 the kind that its exports say: linked, described, checked
//!
//! PluginEncoder::encode      CallerShare, schema, options, batches -> EncodedBody
//!   admission                    a place for an instance, or Busy, or ShareUsedUp
//!   encode/coalesce              batches -> parts
//!   plugin_head                  a worker, when it is the plugin's turn; there:
//!     encode/instance              HostState::new_store: memory, tables, stack, log under limits
//!       open, views                  HostState::call: a deadline by two clocks
//!       head                         what a call returns is weighed against what it was given
//!       part                         guest/convert: columns cross; encode/part: splices checked
//!       tail                         with the notes that parts left
//!     dropped                      memory given back, then the place
//!   encode/first_bytes           whole where it fits in a part; else the rest goes to
//!   encode/response_driver       further parts, by further instances where they are independent
//! ```
//! `TransformChain::plan` asks each transform of a chain what it needs and makes, without a row.
//! `TransformChain::start` is the stream of its rows, which an encoder takes in place of stored
//! ones: places for all of them are admitted in one step.
//!
//! `PluginEncoder::check_open` ends after `open`. A generator (`generate`) has one call in the
//! place of four; an adapter (`adapt`) has an instance for each call of a request; a reader
//! (`read`) has `push`, `columns` and `pull`, and no client that waits for it. The instance of a
//! trial (`trial`) or of a replay (`replay`) lives as they do, without a queue.
//!
//! A call ends in what was asked for or in a [`GuestError`], and a failure leaves a dump
//! (`observe`). A guest that was stopped is never called again: its store goes with it.
//!
//! Imports go one way: `sandbox`, `trial` and `replay` use `adapt`, `encode`, `generate`, `read`
//! and `transform`, these use `plugin_head` and `guest`, these use `admission` and `observe`.
//! `guest_error`, `options` and `generator_request` are leaves.

mod adapt;
mod admission;
mod encode;
mod generate;
mod generator_request;
mod guest;
mod guest_error;
mod observe;
mod options;
mod plugin_head;
mod plugin_world;
mod read;
mod release_policy;
mod replay;
mod sandbox;
mod transform;
mod trial;

pub use adapt::{
    AdapterAnswer, AdapterCall, AdapterCalls, AdapterDescription, AdapterExchange, AdapterInput,
    PluginAdapter, adapter, catalogue, limits as adapter_limits,
};
pub use encode::{
    Batches, EncodedBody, EncodedChunk, EncodedChunks, EncoderDescription, PluginEncoder,
    TruncatedBody, with_codes, with_labelled_codes,
};
pub use generate::{GeneratedProject, GeneratorDescription, PluginGenerator, ProjectFile};
pub use generator_request::{DatasetWithUrls, GeneratorRequest};
pub use guest_error::{CalledPlugin, GuestError};
pub use observe::{
    DUMP_VERSION, DumpMetadata, DumpSink, FIRST_BYTES_BUCKETS_US, FailingComponent, FailureDump,
    FailureReason, GuestFunction, GuestLogLine, GuestSample, GuestSamples, InstanceProgress,
    LoadMetrics, PluginMetrics, PluginMetricsSnapshot, ReleaseName, ResourceUsage, ResponseOutcome,
};
pub use options::{OptionValue, PluginParameter, PluginParameters};
pub use plugin_head::PluginHead;
pub use read::{FileColumn, FileReading, PluginReader, ReaderDescription, TrialTable};
pub use release_policy::{ReleasePolicy, RequestFingerprint};
pub use replay::{ReplayError, ReplayResult};
pub use sandbox::{Plugin, PluginRegistry, PluginSet, Sandbox, SandboxConfig};
pub use transform::{
    InstancePlaces, PluginTransform, RowWindow, TransformChain, TransformDescription,
    TransformFailure, TransformInput, TransformStep,
};
pub use trial::{GuestCall, TrialError, TrialResponse};
pub use yearbook_domain::query::options::{OptionScalar, ParameterKind};
pub use yearbook_engine::{
    BoxError, CACHE_RESERVED_BYTES, Compiler, ComponentRejection, ComponentStats, Limits,
    SandboxFailure, Trap, TrapKind, compile_as_child, sanitize,
};
