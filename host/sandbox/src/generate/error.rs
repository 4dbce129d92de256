//! Errors of a generator's call. Knows nothing of statuses: the service decides how each is
//! answered.

use crate::guest::bindings::yearbook::plugin::types as wire;
use crate::guest::{InputSize, sanitize_error};
use crate::limits::Limits;
use crate::observe::{ErrorCause, PluginError};
use crate::trap::Trap;

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
    /// A guest was stopped while it worked on `input`.
    pub(super) fn stopped(plugin: &str, trap: Trap, input: &InputSize, limits: &Limits) -> Self {
        match trap {
            Trap::TotalMemory { shared, .. } => Self::MemoryUsedUp { shared },
            trap if input.attributes_to_input(&trap, limits) => {
                Self::TooLarge { plugin: plugin.to_owned(), trap }
            }
            trap => Self::Trapped { plugin: plugin.to_owned(), trap },
        }
    }

    /// The error that a guest reports.
    pub(super) fn from_guest(plugin: &str, error: wire::Error) -> Self {
        match sanitize_error(error) {
            wire::Error::UnsupportedSchema(sentence) => Self::UnsupportedDataset(sentence),
            wire::Error::InvalidOption(sentence) => Self::InvalidOption(sentence),
            wire::Error::Internal(message) => Self::Internal { plugin: plugin.to_owned(), message },
        }
    }

    /// Returns whether the plugin is at fault: it was stopped, said so itself, or made files that
    /// break a rule.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        self.is_plugin_fault()
    }
}

impl PluginError for GenerateError {
    fn cause(&self) -> ErrorCause<'_> {
        match self {
            Self::UnsupportedDataset(sentence) => ErrorCause::Unsupported(sentence),
            Self::InvalidOption(sentence) => ErrorCause::InvalidOption(sentence),
            Self::Trapped { trap, .. } => ErrorCause::Trapped(trap),
            Self::TooLarge { trap, .. } => ErrorCause::TooLarge(trap),
            Self::Internal { message, .. } => ErrorCause::Internal(message),
            Self::Output { rule, .. } => ErrorCause::BadOutput(rule),
            Self::MemoryUsedUp { .. } | Self::Host(_) => ErrorCause::Host,
        }
    }
}
