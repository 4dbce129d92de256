//! Errors of a generator's call. Knows nothing of statuses: the service decides how each is
//! answered.

use crate::observe::{FailureReason, PluginError, ResponseOutcome};
use crate::trap::{Trap, TrapKind};

/// A generator's call that made no files.
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
        /// The limit.
        trap: Trap,
    },
    /// The datasets or options are more than the guest can take within its limits: 413, or 422 for
    /// an option.
    #[error("plugin {plugin}: {trap}")]
    TooLarge {
        /// Tool of the plugin.
        plugin: String,
        /// The limit.
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
        /// The rule.
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
    /// Returns whether the plugin is at fault: it was stopped, said so itself, or made files that
    /// break a rule.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        matches!(self, Self::Trapped { .. } | Self::Internal { .. } | Self::Output { .. })
    }
}

impl PluginError for GenerateError {
    fn outcome(&self) -> (ResponseOutcome, Option<TrapKind>) {
        match self {
            Self::UnsupportedDataset(_) => (ResponseOutcome::UnsupportedSchema, None),
            Self::InvalidOption(_) => (ResponseOutcome::InvalidOption, None),
            Self::TooLarge { trap, .. } => (ResponseOutcome::TooLarge, Some(trap.kind())),
            Self::Internal { .. } => (ResponseOutcome::Internal, None),
            Self::Trapped { trap, .. } => (ResponseOutcome::Trapped, Some(trap.kind())),
            Self::Output { .. } => (ResponseOutcome::BadOutput, None),
            Self::MemoryUsedUp { .. } | Self::Host(_) => (ResponseOutcome::Host, None),
        }
    }

    fn reason(&self) -> Option<FailureReason> {
        Some(match self {
            Self::Trapped { trap, .. } | Self::TooLarge { trap, .. } => {
                FailureReason::new(trap.kind().name(), trap)
            }
            Self::Internal { message, .. } => FailureReason::new("internal", message),
            Self::Output { rule, .. } => FailureReason::new("bad_output", rule),
            Self::UnsupportedDataset(sentence) => {
                FailureReason::new("unsupported_schema", sentence)
            }
            Self::InvalidOption(sentence) => FailureReason::new("invalid_option", sentence),
            Self::MemoryUsedUp { .. } | Self::Host(_) => return None,
        })
    }

    fn is_plugin_fault(&self) -> bool {
        self.is_failure_of_the_plugin()
    }
}
