//! Errors of the sandbox itself, and rejections of components. Errors of a response stand beside
//! what makes it. Knows nothing of how an error is answered.

use crate::limits::{NAME_BYTES, STACK_BYTES};
use crate::sanitize::sanitize_sentence;
use crate::trap::Trap;

/// An error from outside the sandbox, such as the scan's.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Our fault: the engine cannot be made or a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SandboxFailure {
    /// The engine refused its configuration or could not reserve address space.
    #[error(
        "the WebAssembly engine cannot start: {0:#}. Fewer `sandbox.instances` need less address space"
    )]
    Engine(wasmtime::Error),
    /// `stack_bytes` is not within [`STACK_BYTES`].
    #[error("sandbox.stack_bytes is {0}; it may be from {min} to {max}", min = STACK_BYTES.start(), max = STACK_BYTES.end())]
    Stack(usize),
    /// The artifact cache cannot be used.
    #[error("the plugin cache {folder}: {reason}")]
    Cache {
        /// The folder.
        folder: String,
        /// The fault and its remedy.
        reason: String,
    },
}

/// A component that is not taken as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum ComponentRejection {
    /// Larger than `sandbox.component_bytes`.
    #[error("the component has {bytes} bytes; {limit} are allowed (sandbox.component_bytes)")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Not a component, or one that the engine does not compile.
    #[error("not a WebAssembly component that can be compiled: {0}")]
    Malformed(String),
    /// There is too much of something for a compiler.
    #[error("the component has {found} {what}; {limit} are allowed")]
    ComponentLimit {
        /// Of what.
        what: &'static str,
        /// Their number, or a lower bound of it.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Compiling took too much, or could not be done.
    #[error("compiling it was given up: {0}")]
    CompileFailed(String),
    /// The process that compiles does not start: too many processes, files or bytes are in use.
    #[error("compiling it cannot begin: the process for it does not start: {0}; try again")]
    CompilerUnavailable(std::io::Error),
    /// It asks for more than `log`.
    #[error("the component imports {}; a plugin may import nothing but yearbook:plugin/log", .0.join(", "))]
    Imports(Vec<String>),
    /// It does not export the interface.
    #[error(
        "the component exports no encoder, generator, reader or transform of yearbook:plugin as documented: {0}"
    )]
    Interface(String),
    /// `describe` was stopped.
    #[error("describe: {0}")]
    Trapped(#[from] Trap),
    /// `describe` returned something that breaks a rule.
    #[error("describe: {0}")]
    Description(String),
    /// A plugin of that format or tool is loaded already.
    #[error(
        "{0:?} is taken by another plugin (names have at most {NAME_BYTES} bytes, one plugin each)"
    )]
    NameTaken(String),
    /// Too many responses hold instances at this moment.
    #[error("no instance is free to ask the component what it is; try again")]
    Busy,
}

/// The engine's refusal of a component.
impl From<wasmtime::Error> for ComponentRejection {
    fn from(error: wasmtime::Error) -> Self {
        Self::Malformed(sanitize_sentence(&format!("{error:#}")))
    }
}
