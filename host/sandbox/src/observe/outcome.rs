//! Outcomes of responses as short words with a fixed number of values, which become labels, and the
//! one trait by which an error says its outcome and whether the plugin is at fault. Errors of
//! responses implement it beside themselves.

use super::FailureReason;
use crate::error::ComponentRejection;
use crate::trap::{Trap, TrapKind};

/// End of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseOutcome {
    /// All of it was made.
    Completed,
    /// The plugin cannot carry the schema, or a dataset: 422.
    UnsupportedSchema,
    /// The plugin takes no such option: 422.
    InvalidOption,
    /// The input was more than the plugin can take within its limits: 413 or 422.
    TooLarge,
    /// The plugin reported its own fault.
    Internal,
    /// The plugin was stopped; by what, [`TrapKind`] tells.
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

/// Cause of an error, in the words that all errors of plugins share.
pub(crate) enum ErrorCause<'a> {
    /// The plugin's sentence about a schema or dataset that it cannot carry.
    Unsupported(&'a str),
    /// The plugin's sentence about an option.
    InvalidOption(&'a str),
    /// A limit that the input ran into.
    TooLarge(&'a Trap),
    /// A limit that the plugin ran into.
    Trapped(&'a Trap),
    /// The plugin's sentence about its own fault.
    Internal(&'a str),
    /// The rule that its files break.
    BadOutput(&'a str),
    /// The rule that its description breaks.
    BadDescription(&'a str),
    /// The scan.
    Input,
    /// The host.
    Host,
}

impl ErrorCause<'_> {
    fn outcome(&self) -> (ResponseOutcome, Option<TrapKind>) {
        match self {
            Self::Unsupported(_) => (ResponseOutcome::UnsupportedSchema, None),
            Self::InvalidOption(_) => (ResponseOutcome::InvalidOption, None),
            Self::TooLarge(trap) => (ResponseOutcome::TooLarge, Some(trap.kind())),
            Self::Trapped(trap) => (ResponseOutcome::Trapped, Some(trap.kind())),
            Self::Internal(_) => (ResponseOutcome::Internal, None),
            Self::BadOutput(_) => (ResponseOutcome::BadOutput, None),
            Self::Input => (ResponseOutcome::Input, None),
            Self::BadDescription(_) | Self::Host => (ResponseOutcome::Host, None),
        }
    }

    fn reason(&self) -> Option<FailureReason> {
        Some(match self {
            Self::Unsupported(sentence) => FailureReason::new("unsupported_schema", sentence),
            Self::InvalidOption(sentence) => FailureReason::new("invalid_option", sentence),
            Self::TooLarge(trap) | Self::Trapped(trap) => {
                FailureReason::new(trap.kind().name(), trap)
            }
            Self::Internal(message) => FailureReason::new("internal", message),
            Self::BadOutput(rule) => FailureReason::new("bad_output", rule),
            Self::BadDescription(sentence) => FailureReason::new("bad_description", sentence),
            Self::Input | Self::Host => return None,
        })
    }
}

/// An error of a plugin, as it is counted and as a failure dump attributes it.
pub(crate) trait PluginError {
    /// Its cause.
    fn cause(&self) -> ErrorCause<'_>;

    /// Outcome of the response, and the kind of trap that stopped the guest.
    fn outcome(&self) -> (ResponseOutcome, Option<TrapKind>) {
        self.cause().outcome()
    }

    /// Reason for a failure dump; none where the plugin has no part in it.
    fn reason(&self) -> Option<FailureReason> {
        self.cause().reason()
    }

    /// Returns whether the plugin is at fault. Otherwise its answer may be right: it declined, or
    /// the input is too large for it.
    fn is_plugin_fault(&self) -> bool {
        self.outcome().0.is_failure_of_the_plugin()
    }
}

impl PluginError for ComponentRejection {
    fn cause(&self) -> ErrorCause<'_> {
        match self {
            Self::Trapped(trap) => ErrorCause::Trapped(trap),
            Self::Description(sentence) => ErrorCause::BadDescription(sentence),
            _ => ErrorCause::Host,
        }
    }

    /// A component that does not load counts as a failure of the host: no response was begun.
    fn outcome(&self) -> (ResponseOutcome, Option<TrapKind>) {
        (ResponseOutcome::Host, None)
    }

    fn is_plugin_fault(&self) -> bool {
        true
    }
}
