//! Runs plugins: WebAssembly components that turn Arrow batches into bytes, or descriptions of
//! datasets into files, each response in a fresh instance under limits. Owns everything of
//! wasmtime; never touches HTTP, SQL, files of data or Parquet. What a guest returns is untrusted
//! until this crate has checked it.

mod bindings;
mod cache;
mod capsule;
mod claims;
mod compile;
mod convert;
mod description;
mod encoder;
mod engine;
mod failure;
mod generator;
mod host;
mod input;
mod instance;
mod lane;
mod limits;
mod memory;
mod place;
mod registry;
mod sandbox;
mod shape;
mod tally;
mod trial;
mod usage;
mod words;

pub use capsule::{
    About, DUMP_VERSION, FailingComponent, FailureDump, Fault, GuestFunction, InstanceProgress,
    Line, MAX_DUMP_BYTES, ReplayError, ReplayResult, Unreadable,
};
pub use claims::claimed_uncompressed_bytes;
pub use compile::{Compiler, compile_as_child};
pub use description::{Description, OptionValue, Parameter, ParameterKind, Value};
pub use encoder::{Admission, Batches, Encoded, Encoder};
pub use failure::{BoxError, EncodeError, Failure, GenerateError, Rejected, Trap, TruncatedBody};
pub use generator::{DatasetWithUrls, File, Generator, GeneratorDescription, Project, Request};
pub use limits::Limits;
pub use registry::{PluginRegistry, Plugins};
pub use sandbox::{Plugin, Sandbox, SandboxConfig};
pub use shape::Shape;
pub use tally::{
    Counts, FIRST_BYTES_BUCKETS_US, LoadMetrics, Outcome, ReleaseName, Tally, TrapKind,
};
pub use trial::{Call, Failed, Trial};
pub use usage::Usage;
