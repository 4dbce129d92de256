//! Error of a call of a plugin, of whatever kind. Knows nothing of statuses: who answers a client
//! or a publisher decides how each is answered.

use yearbook_domain::PluginKind;
use yearbook_engine::{BoxError, Trap};

/// A call that made nothing. After the first chunk of a response there is only
/// [`crate::TruncatedBody`].
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The plugin cannot carry the schema, the dataset or the file: its sentence, for a 422 or a
    /// publisher.
    #[error("{0}")]
    Declined(String),
    /// An option is wrong: the plugin's sentence, for a 422 or a publisher.
    #[error("{0}")]
    InvalidOption(String),
    /// An option of a transform is wrong: 422 at the option.
    #[error("{option}: {sentence}")]
    InvalidTransformOption {
        /// The option's name without the transform's.
        option: String,
        /// The plugin's sentence.
        sentence: String,
    },
    /// A transform has no result for these rows: its sentence, for a 422.
    #[error("{0}")]
    UnsupportedRows(String),
    /// The rows are more than a transform takes: its sentence, for a 413.
    #[error("{0}")]
    TooManyRows(String),
    /// The rows have more groups than the host numbers: 413.
    #[error("the rows have more than {groups} groups, or more than {bytes} bytes of their values")]
    TooManyGroups {
        /// The limit of their number.
        groups: usize,
        /// The limit of bytes of their values.
        bytes: usize,
    },
    /// Every instance is taken: 503.
    #[error("every sandbox instance is taken; try again in {retry_after} s")]
    Busy {
        /// Whole seconds.
        retry_after: u64,
    },
    /// The caller holds its share of the instances, and others are free: 429.
    #[error("the caller holds its share of the sandbox's instances")]
    ShareUsedUp,
    /// The memory of all guests together is used up. By this call alone: 500.
    #[error("the memory of all guests together is used up (sandbox.total_memory_bytes); try again")]
    MemoryUsedUp {
        /// Others held some of what this call wanted; they will give it back.
        shared: bool,
    },
    /// The guest was stopped: 500.
    #[error("{}: {trap}{}", .plugin.subject("", "was stopped"), .plugin.advice("the file may be damaged there, otherwise report this to the plugin's author"))]
    Trapped {
        /// The plugin.
        plugin: CalledPlugin,
        /// The limit.
        trap: Trap,
    },
    /// The input is more than the guest can take within its limits: 413, or 422 for an option.
    #[error("{}: {trap}{}", .plugin.subject("", "cannot hold this file"), .plugin.advice("raise that limit, or split the file"))]
    TooLarge {
        /// The plugin.
        plugin: CalledPlugin,
        /// The limit.
        trap: Trap,
    },
    /// The guest reported its own fault: 500.
    #[error("{}: {message}{}", .plugin.subject(" reports", "reports its own fault"), .plugin.advice("report this to its author"))]
    Internal {
        /// The plugin.
        plugin: CalledPlugin,
        /// Its sentence, cut.
        message: String,
    },
    /// The guest's output breaks a rule: 500.
    #[error("{} {rule}{}", .plugin.subject(" returned", "returned"), .plugin.advice("report this to its author"))]
    Output {
        /// The plugin.
        plugin: CalledPlugin,
        /// The rule.
        rule: String,
    },
    /// The scan failed: 500.
    #[error(transparent)]
    Input(BoxError),
    /// A worker panicked or a batch had a type that the interface does not carry: 500.
    #[error("{0}")]
    Host(String),
}

/// The plugin that was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledPlugin {
    /// Its kind.
    pub kind: PluginKind,
    /// Format or tool.
    pub name: String,
    /// Bytes of the file that a reader had been given; `None` of other kinds.
    pub at: Option<u64>,
}

impl CalledPlugin {
    /// Subject and verb of a sentence; of a reader with the place in its file.
    fn subject(&self, verb: &str, of_reader: &str) -> String {
        match self.at {
            None => format!("plugin {}{verb}", self.name),
            Some(at) => format!("the reader {} {of_reader} at byte {at} of the data", self.name),
        }
    }

    /// Advice for a publisher, whom a reader's errors go to.
    fn advice(&self, advice: &str) -> String {
        if self.at.is_some() { format!("; {advice}") } else { String::new() }
    }
}

impl GuestError {
    /// Trap that stopped the guest, if one did.
    #[must_use]
    pub fn trap(&self) -> Option<&Trap> {
        match self {
            Self::Trapped { trap, .. } | Self::TooLarge { trap, .. } => Some(trap),
            _ => None,
        }
    }

    /// The same error for the same input asked for again; `None` where another run may end
    /// otherwise.
    #[must_use]
    pub fn repeated(&self) -> Option<Self> {
        Some(match self {
            // A busy machine, not the input.
            Self::Trapped { trap: Trap::Wall(_), .. } => return None,
            Self::Trapped { plugin, trap } => {
                Self::Trapped { plugin: plugin.clone(), trap: trap.clone() }
            }
            Self::TooLarge { plugin, trap } => {
                Self::TooLarge { plugin: plugin.clone(), trap: trap.clone() }
            }
            Self::Internal { plugin, message } => {
                Self::Internal { plugin: plugin.clone(), message: message.clone() }
            }
            Self::Output { plugin, rule } => {
                Self::Output { plugin: plugin.clone(), rule: rule.clone() }
            }
            _ => return None,
        })
    }

    /// Returns whether the plugin is at fault: it was stopped, said so itself, or returned what
    /// breaks a rule.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        matches!(self, Self::Trapped { .. } | Self::Internal { .. } | Self::Output { .. })
    }
}
