//! Runs plugins: WebAssembly components that turn Arrow batches into bytes, or descriptions of
//! datasets into files, each response in a fresh instance under limits. Owns everything of
//! wasmtime; never touches HTTP, SQL, files of data or Parquet. What a guest returns is untrusted
//! until this crate has checked it.

mod admission;
mod bindings;
mod compile;
mod component_cache;
mod component_limits;
mod convert;
mod description;
mod encoder;
mod engine;
mod failure;
mod failure_dump;
mod generator;
mod host_state;
mod input_size;
mod instance;
mod ipc_size_check;
mod limits;
mod memory_budget;
mod metrics;
mod registry;
mod release_policy;
mod resource_usage;
mod sandbox;
mod sanitize;
mod slow_plugin_limiter;
mod trial;

pub use compile::{Compiler, compile_as_child};
pub use component_limits::ComponentStats;
pub use description::{
    EncoderDescription, OptionScalar, OptionValue, ParameterKind, PluginParameter,
};
pub use encoder::{Batches, EncodedBody, InstanceAdmission, PluginEncoder};
pub use failure::{
    BoxError, ComponentRejection, EncodeError, GenerateError, SandboxFailure, Trap, TruncatedBody,
};
pub use failure_dump::{
    DUMP_VERSION, DumpMetadata, DumpReadError, FailingComponent, FailureDump, FailureReason,
    GuestFunction, GuestLogLine, InstanceProgress, MAX_DUMP_BYTES, ReplayError, ReplayResult,
};
pub use generator::{
    DatasetWithUrls, GeneratedProject, GeneratorDescription, GeneratorRequest, PluginGenerator,
    ProjectFile,
};
pub use ipc_size_check::claimed_uncompressed_bytes;
pub use limits::Limits;
pub use metrics::{
    FIRST_BYTES_BUCKETS_US, LoadMetrics, PluginMetrics, PluginMetricsSnapshot, ReleaseName,
    ResponseOutcome, TrapKind,
};
pub use registry::{PluginRegistry, PluginSet};
pub use release_policy::{ReleasePolicy, RequestFingerprint};
pub use resource_usage::ResourceUsage;
pub use sandbox::{Plugin, Sandbox, SandboxConfig};
pub use trial::{GuestCall, TrialError, TrialResponse};
