//! Runs plugins: WebAssembly components that turn Arrow batches into bytes, each response in a fresh
//! instance under limits. Owns everything of wasmtime; never touches HTTP, SQL, files of data or
//! Parquet. What a guest returns is untrusted until this crate has checked it.

mod bindings;
mod cache;
mod convert;
mod description;
mod encoder;
mod engine;
mod failure;
mod host;
mod instance;
mod limits;
mod registry;
mod sandbox;

pub use description::{Description, OptionValue, Parameter, ParameterKind, Value};
pub use encoder::{Batches, Encoded, Encoder};
pub use failure::{BoxError, CutOff, EncodeError, Failure, Rejected, Trap};
pub use limits::Limits;
pub use registry::{Plugins, Registry};
pub use sandbox::{Config, Sandbox};
