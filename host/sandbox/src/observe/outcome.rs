//! Outcomes of responses as short words with a fixed number of values, which become labels, and the
//! reasons of failure dumps: how an error is counted, and what a dump says of it.

use serde::{Deserialize, Serialize};
use yearbook_engine::ComponentRejection;

use crate::guest_error::GuestError;

/// End of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseOutcome {
    /// All of it was made.
    Completed,
    /// The plugin cannot carry the schema, a dataset or its rows: 422.
    UnsupportedSchema,
    /// The plugin takes no such option: 422.
    InvalidOption,
    /// The input was more than the plugin can take within its limits: 413 or 422.
    TooLarge,
    /// The plugin reported its own fault.
    Internal,
    /// The plugin was stopped; by what, [`TrapKind`](crate::TrapKind) tells.
    Trapped,
    /// The plugin's files break a rule.
    BadOutput,
    /// The scan failed.
    Input,
    /// The host failed.
    Host,
    /// The client went away, or took nothing for too long.
    Abandoned,
}

impl ResponseOutcome {
    /// Every one, in the order of [`super::PluginMetricsSnapshot::outcomes`].
    pub const ALL: [Self; 10] = [
        Self::Completed,
        Self::UnsupportedSchema,
        Self::InvalidOption,
        Self::TooLarge,
        Self::Internal,
        Self::Trapped,
        Self::BadOutput,
        Self::Input,
        Self::Host,
        Self::Abandoned,
    ];

    /// As a label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::UnsupportedSchema => "unsupported_schema",
            Self::InvalidOption => "invalid_option",
            Self::TooLarge => "too_large",
            Self::Internal => "internal",
            Self::Trapped => "trapped",
            Self::BadOutput => "bad_output",
            Self::Input => "input",
            Self::Host => "host",
            Self::Abandoned => "abandoned",
        }
    }

    /// Returns whether the plugin is at fault.
    #[must_use]
    pub fn is_failure_of_the_plugin(self) -> bool {
        matches!(self, Self::Internal | Self::Trapped | Self::BadOutput)
    }
}

/// Reason of a failed call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureReason {
    /// A [`crate::TrapKind`] by name, `internal`, `bad_output`, `bad_description`,
    /// `unsupported_schema`, `unsupported_rows`, `too_large` or `invalid_option`.
    pub kind: String,
    /// In words.
    pub message: String,
}

impl FailureReason {
    /// A reason of the kind `kind`, in the words of `message`.
    pub(crate) fn new(kind: &str, message: &impl ToString) -> Self {
        Self { kind: kind.to_owned(), message: message.to_string() }
    }
}

impl GuestError {
    /// Outcome of the response.
    pub(crate) fn outcome(&self) -> ResponseOutcome {
        match self {
            Self::Declined(_) | Self::UnsupportedRows(_) => ResponseOutcome::UnsupportedSchema,
            Self::InvalidOption(_) | Self::InvalidTransformOption { .. } => {
                ResponseOutcome::InvalidOption
            }
            Self::TooLarge { .. } | Self::TooManyRows(_) | Self::TooManyGroups { .. } => {
                ResponseOutcome::TooLarge
            }
            Self::Trapped { .. } => ResponseOutcome::Trapped,
            Self::Internal { .. } => ResponseOutcome::Internal,
            Self::Output { .. } => ResponseOutcome::BadOutput,
            Self::Input(_) => ResponseOutcome::Input,
            Self::Busy { .. } | Self::ShareUsedUp | Self::MemoryUsedUp { .. } | Self::Host(_) => {
                ResponseOutcome::Host
            }
        }
    }

    /// Reason for a failure dump; `None` where the plugin has no part in it.
    pub(crate) fn reason(&self) -> Option<FailureReason> {
        Some(match self {
            Self::Declined(sentence) => FailureReason::new("unsupported_schema", sentence),
            Self::InvalidOption(sentence) | Self::InvalidTransformOption { sentence, .. } => {
                FailureReason::new("invalid_option", sentence)
            }
            Self::UnsupportedRows(sentence) => FailureReason::new("unsupported_rows", sentence),
            Self::TooManyRows(sentence) => FailureReason::new("too_large", sentence),
            Self::TooLarge { trap, .. } | Self::Trapped { trap, .. } => {
                FailureReason::new(trap.kind().name(), trap)
            }
            Self::Internal { message, .. } => FailureReason::new("internal", message),
            Self::Output { rule, .. } => FailureReason::new("bad_output", rule),
            Self::TooManyGroups { .. }
            | Self::Busy { .. }
            | Self::ShareUsedUp
            | Self::MemoryUsedUp { .. }
            | Self::Input(_)
            | Self::Host(_) => return None,
        })
    }
}

impl FailureReason {
    /// Reason of a rejected component's dump; `None` where `describe` has no part in it.
    pub(crate) fn from_rejection(rejected: &ComponentRejection) -> Option<Self> {
        match rejected {
            ComponentRejection::Trapped(trap) => Some(Self::new(trap.kind().name(), trap)),
            ComponentRejection::Description(sentence) => {
                Some(Self::new("bad_description", sentence))
            }
            _ => None,
        }
    }
}
