//! What can go wrong in the sandbox: with a component, with a guest's call, with a response.

use crate::description::NAME_BYTES;
use crate::input_size::InputSize;
use crate::limits::{Limits, STACK_BYTES};
use crate::sanitize::sanitize_sentence;

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
    /// The folder of capsules cannot be made.
    #[error(
        "the folder {folder} for capsules cannot be made: {reason}; choose another with plugins.capsules"
    )]
    DumpFolder {
        /// The folder.
        folder: String,
        /// The operating system's reason.
        reason: String,
    },
    /// The artifact cache cannot be used.
    #[error("the plugin cache {folder}: {reason}")]
    Cache {
        /// The folder.
        folder: String,
        /// What is wrong and what to do.
        reason: String,
    },
}

/// Why a component is not taken as a plugin.
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
        /// How many there are, or more.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Compiling took too much, or could not be done.
    #[error("compiling it was given up: {0}")]
    CompileFailed(String),
    /// It asks for more than `log`.
    #[error("the component imports {}; a plugin may import nothing but yearbook:plugin/log", .0.join(", "))]
    Imports(Vec<String>),
    /// It does not export the interface.
    #[error(
        "the component exports neither yearbook:plugin/encoder@1.0.0 nor yearbook:plugin/generator@1.0.0 as documented: {0}"
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

/// The guest's fault: a call was stopped, by which limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// `cpu_ms_per_call`.
    #[error("stopped after {0} ms of processor time (sandbox.cpu_ms_per_call)")]
    Cpu(u64),
    /// `wall_ms_per_call`.
    #[error("stopped after {0} ms (sandbox.wall_ms_per_call)")]
    Wall(u64),
    /// `memory_bytes`.
    #[error("wanted more memory than {0} bytes (sandbox.memory_bytes)")]
    Memory(usize),
    /// `total_memory_bytes`: not this guest's fault.
    #[error(
        "the memory of all guests together, {bytes} bytes, is used up (sandbox.total_memory_bytes)"
    )]
    TotalMemory {
        /// What all may have.
        bytes: usize,
        /// Others held some of what this guest wanted; they will give it back.
        shared: bool,
    },
    /// `table_elements`.
    #[error("wanted a table of more than {0} elements (sandbox.table_elements)")]
    Table(usize),
    /// `stack_bytes`.
    #[error("used up its stack of {0} bytes (sandbox.stack_bytes)")]
    Stack(usize),
    /// `output_bytes_per_call`.
    #[error("returned more than {0} bytes in one call (sandbox.output_bytes_per_call)")]
    Output(usize),
    /// `note_bytes`.
    #[error("left notes of more than {0} bytes for its tail (sandbox.note_bytes)")]
    Notes(usize),
    /// `amplification`.
    #[error(
        "returned {returned} bytes for {allowed} that its input allows (sandbox.amplification)"
    )]
    Amplification {
        /// Bytes returned.
        returned: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// Anything that WebAssembly itself stops: a panic, an access out of bounds.
    #[error("trapped: {0}")]
    Wasm(String),
}

impl Trap {
    /// Tells whether it depends on the input where a guest runs into this limit. Processor time,
    /// stack and tables do not grow with rows in a guest that is well made.
    pub(crate) fn depends_on_input(&self) -> bool {
        matches!(
            self,
            Self::Memory(_) | Self::Output(_) | Self::Notes(_) | Self::Amplification { .. }
        )
    }
}

/// Why there is no response body at all. After the first chunk there is only [`TruncatedBody`].
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The format cannot carry the schema: the guest's sentence, for a 422.
    #[error("{0}")]
    UnsupportedSchema(String),
    /// An option is wrong: the guest's sentence, for a 422.
    #[error("{0}")]
    InvalidOption(String),
    /// Every instance is taken: 503.
    #[error("every sandbox instance is taken; try again in {retry_after} s")]
    Busy {
        /// Whole seconds.
        retry_after: u64,
    },
    /// The caller holds its share of the instances, and others are free: 429.
    #[error("the caller holds its share of the sandbox's instances")]
    ShareUsedUp,
    /// The guest was stopped: 500.
    #[error("plugin {plugin}: {trap}")]
    Trapped {
        /// Format of the plugin.
        plugin: String,
        /// Which limit.
        trap: Trap,
    },
    /// The input is more than the guest can take within its limits: 413, or 422 for an option.
    #[error("plugin {plugin}: {trap}")]
    TooLarge {
        /// Format of the plugin.
        plugin: String,
        /// Which limit.
        trap: Trap,
    },
    /// The guest reported its own fault: 500.
    #[error("plugin {plugin} reports: {message}")]
    Internal {
        /// Format of the plugin.
        plugin: String,
        /// Its sentence, cut.
        message: String,
    },
    /// The scan failed: 500.
    #[error(transparent)]
    Input(BoxError),
    /// A worker panicked or a batch had a type that the interface does not carry: 500.
    #[error("{0}")]
    Host(String),
}

impl EncodeError {
    /// A guest was stopped while it worked on `input`.
    pub(crate) fn stopped(plugin: &str, trap: Trap, input: &InputSize, limits: &Limits) -> Self {
        match trap {
            Trap::TotalMemory { .. } => {
                tracing::warn!(plugin, "a response was given up: {trap}");
                Self::Busy { retry_after: 1 }
            }
            trap if input.attributes_to_input(&trap, limits) => {
                Self::TooLarge { plugin: plugin.to_owned(), trap }
            }
            trap => Self::Trapped { plugin: plugin.to_owned(), trap },
        }
    }

    /// What stopped the guest, where something did.
    pub(crate) fn trap(&self) -> Option<&Trap> {
        match self {
            Self::Trapped { trap, .. } | Self::TooLarge { trap, .. } => Some(trap),
            _ => None,
        }
    }

    /// The same error for the same input asked for again; none where another run may end otherwise.
    #[must_use]
    pub fn repeated(&self) -> Option<Self> {
        match self {
            // A busy machine, not the input.
            Self::Trapped { trap: Trap::Wall(_), .. } => None,
            Self::Trapped { plugin, trap } => {
                Some(Self::Trapped { plugin: plugin.clone(), trap: trap.clone() })
            }
            Self::TooLarge { plugin, trap } => {
                Some(Self::TooLarge { plugin: plugin.clone(), trap: trap.clone() })
            }
            Self::Internal { plugin, message } => {
                Some(Self::Internal { plugin: plugin.clone(), message: message.clone() })
            }
            _ => None,
        }
    }

    /// Whether the plugin is to blame: it was stopped, or said so itself.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        matches!(self, Self::Trapped { .. } | Self::Internal { .. })
    }
}

/// Why a generator made no files.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The tool cannot take one of the datasets: the guest's sentence, for a 422.
    #[error("{0}")]
    UnsupportedDataset(String),
    /// An option is wrong: the guest's sentence, for a 422.
    #[error("{0}")]
    InvalidOption(String),
    /// The guest was stopped: 500.
    #[error("plugin {plugin}: {trap}")]
    Trapped {
        /// Tool of the plugin.
        plugin: String,
        /// Which limit.
        trap: Trap,
    },
    /// The datasets or options are more than the guest can take within its limits: 413, or 422 for
    /// an option.
    #[error("plugin {plugin}: {trap}")]
    TooLarge {
        /// Tool of the plugin.
        plugin: String,
        /// Which limit.
        trap: Trap,
    },
    /// The guest reported its own fault: 500.
    #[error("plugin {plugin} reports: {message}")]
    Internal {
        /// Tool of the plugin.
        plugin: String,
        /// Its sentence, cut.
        message: String,
    },
    /// A file breaks a rule: 500.
    #[error("plugin {plugin} returned {rule}")]
    Output {
        /// Tool of the plugin.
        plugin: String,
        /// Which rule.
        rule: String,
    },
    /// The memory of all guests together is used up. By this call alone: 500.
    #[error("the memory of all guests together is used up (sandbox.total_memory_bytes)")]
    MemoryUsedUp {
        /// Others held some of what this call wanted; they will give it back.
        shared: bool,
    },
    /// A worker panicked: 500.
    #[error("{0}")]
    Host(String),
}

impl GenerateError {
    /// Whether the plugin is to blame: it was stopped, said so itself, or made files that break a
    /// rule.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        matches!(self, Self::Trapped { .. } | Self::Internal { .. } | Self::Output { .. })
    }
}

/// A response was cut off after its first byte. The reason is in the log; the client must see a
/// body without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the response was cut off")]
pub struct TruncatedBody {
    /// Whether the plugin is to blame.
    pub by_plugin: bool,
}
