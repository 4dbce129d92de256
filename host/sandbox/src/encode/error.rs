//! Errors of a response. Knows nothing of statuses: the service decides how each is answered.

use crate::error::BoxError;
use crate::guest::bindings::yearbook::plugin::types as wire;
use crate::guest::{InputSize, sanitize_error};
use crate::limits::Limits;
use crate::observe::{ErrorCause, PluginError};
use crate::trap::Trap;

/// A response without any body. After the first chunk there is only [`TruncatedBody`].
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
        /// The limit.
        trap: Trap,
    },
    /// The input is more than the guest can take within its limits: 413, or 422 for an option.
    #[error("plugin {plugin}: {trap}")]
    TooLarge {
        /// Format of the plugin.
        plugin: String,
        /// The limit.
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

    /// The error that a guest reports.
    pub(super) fn from_guest(plugin: &str, error: wire::Error) -> Self {
        match sanitize_error(error) {
            wire::Error::UnsupportedSchema(sentence) => Self::UnsupportedSchema(sentence),
            wire::Error::InvalidOption(sentence) => Self::InvalidOption(sentence),
            wire::Error::Internal(message) => Self::Internal { plugin: plugin.to_owned(), message },
        }
    }

    /// Trap that stopped the guest, if one did.
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

    /// Returns whether the plugin is at fault: it was stopped, or said so itself.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        self.is_plugin_fault()
    }
}

impl PluginError for EncodeError {
    fn cause(&self) -> ErrorCause<'_> {
        match self {
            Self::UnsupportedSchema(sentence) => ErrorCause::Unsupported(sentence),
            Self::InvalidOption(sentence) => ErrorCause::InvalidOption(sentence),
            Self::Trapped { trap, .. } => ErrorCause::Trapped(trap),
            Self::TooLarge { trap, .. } => ErrorCause::TooLarge(trap),
            Self::Internal { message, .. } => ErrorCause::Internal(message),
            Self::Input(_) => ErrorCause::Input,
            Self::Busy { .. } | Self::ShareUsedUp | Self::Host(_) => ErrorCause::Host,
        }
    }
}

/// A response was cut off after its first byte. The reason is in the log; the client must see a
/// body without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the response was cut off")]
pub struct TruncatedBody {
    /// Set where the plugin is at fault.
    pub by_plugin: bool,
}
