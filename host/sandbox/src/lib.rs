//! Runs plugins: WebAssembly components that turn Arrow batches into bytes, descriptions of
//! datasets into files, or a file into Arrow batches, each in a fresh instance under limits. Owns
//! everything of wasmtime; never touches HTTP, SQL, files of data or Parquet. What a guest returns
//! is untrusted until this crate has checked it.
//!
//! Imports go one way: `sandbox`, `trial` and `replay` use `encode`, `generate` and `read`, these
//! use `guest`, this uses `admission`, `engine` and `observe`. `limits`, `sanitize`, `trap`,
//! `error`, `options`, `description` and `generator_request` are leaves.

mod admission;
mod description;
mod encode;
mod engine;
mod error;
mod generate;
mod generator_request;
mod guest;
mod guest_error;
mod limits;
mod observe;
mod options;
mod plugin_head;
mod read;
mod release_policy;
mod replay;
mod sandbox;
mod sanitize;
mod trap;
mod trial;

pub use encode::{
    Batches, EncodedBody, EncodedChunk, EncodedChunks, EncoderDescription, PluginEncoder,
    TruncatedBody,
};
pub use engine::compile::{Compiler, compile_as_child};
pub use engine::component_cache::CACHE_RESERVED_BYTES;
pub use engine::component_limits::ComponentStats;
pub use error::{BoxError, ComponentRejection, SandboxFailure};
pub use generate::{GeneratedProject, GeneratorDescription, PluginGenerator, ProjectFile};
pub use generator_request::{DatasetWithUrls, GeneratorRequest};
pub use guest_error::{CalledPlugin, GuestError};
pub use limits::Limits;
pub use observe::{
    DUMP_VERSION, DumpMetadata, DumpSink, FIRST_BYTES_BUCKETS_US, FailingComponent, FailureDump,
    FailureReason, GuestFunction, GuestLogLine, InstanceProgress, LoadMetrics, PluginMetrics,
    PluginMetricsSnapshot, ReleaseName, ResourceUsage, ResponseOutcome,
};
pub use options::{OptionValue, PluginParameter};
pub use plugin_head::PluginHead;
pub use read::{FileColumn, FileReading, PluginReader, ReaderDescription, TrialTable};
pub use release_policy::{ReleasePolicy, RequestFingerprint};
pub use replay::{ReplayError, ReplayResult};
pub use sandbox::{Plugin, PluginRegistry, PluginSet, Sandbox, SandboxConfig};
pub use sanitize::sanitize;
pub use trap::{Trap, TrapKind};
pub use trial::{GuestCall, TrialError, TrialResponse};
pub use yearbook_domain::query::options::{OptionScalar, ParameterKind};
