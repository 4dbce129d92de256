//! Outcomes of responses as short words with a fixed number of values, which become labels, and the
//! one trait by which an error says its outcome and whether the plugin is at fault. Errors of
//! responses implement it beside themselves.

use super::FailureReason;
use crate::error::ComponentRejection;
use crate::trap::TrapKind;

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

/// An error of a plugin, as it is counted and as a failure dump attributes it.
pub(crate) trait PluginError {
    /// Outcome of the response, and the kind of trap that stopped the guest.
    fn outcome(&self) -> (ResponseOutcome, Option<TrapKind>);

    /// Reason for a failure dump; none where the plugin has no part in it.
    fn reason(&self) -> Option<FailureReason>;

    /// Returns whether the plugin is at fault. Otherwise its answer may be right: it declined, or
    /// the input is too large for it.
    fn is_plugin_fault(&self) -> bool;
}

impl PluginError for ComponentRejection {
    /// A component that does not load counts as a failure of the host: no response was begun.
    fn outcome(&self) -> (ResponseOutcome, Option<TrapKind>) {
        (ResponseOutcome::Host, None)
    }

    fn reason(&self) -> Option<FailureReason> {
        Some(match self {
            Self::Trapped(trap) => FailureReason::new(trap.kind().name(), trap),
            Self::Description(sentence) => FailureReason::new("bad_description", sentence),
            _ => return None,
        })
    }

    fn is_plugin_fault(&self) -> bool {
        true
    }
}
