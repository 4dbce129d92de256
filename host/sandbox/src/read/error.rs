//! Errors of a reading. Each is a sentence with a place that a publisher can act on.

use crate::guest::bindings::reader::exports::yearbook::plugin::reader as guest;
use crate::observe::{ErrorCause, PluginError};
use crate::sanitize::{sanitize, sanitize_sentence};
use crate::trap::Trap;

/// Longest path in a place, bytes.
const PATH_BYTES: usize = 200;

/// A file that is not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is not of the format, is damaged, or has what the reader cannot make a table of:
    /// the guest's sentence behind its place.
    #[error("{0}")]
    Refused(String),
    /// An option is wrong.
    #[error("an option in yearbook.reader_options: {0}")]
    InvalidOption(String),
    /// The guest was stopped.
    #[error(
        "the reader {plugin} was stopped at byte {at} of the data: {trap}; the file may be damaged there, otherwise report this to the plugin's author"
    )]
    Trapped {
        /// Format of the plugin.
        plugin: String,
        /// Bytes that it had been given.
        at: u64,
        /// The limit.
        trap: Trap,
    },
    /// The file is more than the reader can take within its limits.
    #[error(
        "the reader {plugin} cannot hold this file at byte {at} of the data: {trap}; raise that limit, or split the file"
    )]
    TooLarge {
        /// Format of the plugin.
        plugin: String,
        /// Bytes that it had been given.
        at: u64,
        /// The limit.
        trap: Trap,
    },
    /// The guest reported its own fault.
    #[error(
        "the reader {plugin} reports its own fault at byte {at} of the data: {message}; report this to its author"
    )]
    Internal {
        /// Format of the plugin.
        plugin: String,
        /// Bytes that it had been given.
        at: u64,
        /// Its sentence, cut.
        message: String,
    },
    /// Its output breaks a rule.
    #[error(
        "the reader {plugin} returned at byte {at} of the data {rule}; report this to its author"
    )]
    Output {
        /// Format of the plugin.
        plugin: String,
        /// Bytes that it had been given.
        at: u64,
        /// The rule.
        rule: String,
    },
    /// The memory of all guests together is used up, or no instance is free.
    #[error("{0}")]
    Host(String),
}

impl ReadError {
    /// A refusal of a guest that had been given `at` bytes, made harmless.
    pub(super) fn from_guest(plugin: &str, at: u64, refusal: guest::Refusal) -> Self {
        match refusal {
            guest::Refusal::Malformed(fault) | guest::Refusal::Unsupported(fault) => {
                Self::Refused(describe_fault(&fault))
            }
            guest::Refusal::InvalidOption(sentence) => {
                Self::InvalidOption(sanitize_sentence(&sentence))
            }
            guest::Refusal::Internal(sentence) => {
                let message = sanitize_sentence(&sentence);
                Self::Internal { plugin: plugin.to_owned(), at, message }
            }
        }
    }

    /// Returns whether the plugin is at fault: it was stopped, said so itself, or broke a rule.
    #[must_use]
    pub fn is_failure_of_the_plugin(&self) -> bool {
        matches!(self, Self::Trapped { .. } | Self::Internal { .. } | Self::Output { .. })
    }
}

/// Place and sentence on one line.
fn describe_fault(fault: &guest::Fault) -> String {
    let guest::Fault { place, sentence } = fault;
    let path = sanitize(&place.path, PATH_BYTES);
    let parts = [
        place.line.map(|line| format!("line {line}")),
        place.byte.map(|byte| format!("byte {byte}")),
        (!path.is_empty()).then_some(path),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let sentence = sanitize_sentence(sentence);
    if parts.is_empty() { sentence } else { format!("{}: {sentence}", parts.join(", ")) }
}

impl PluginError for ReadError {
    fn cause(&self) -> ErrorCause<'_> {
        match self {
            Self::Refused(_) => ErrorCause::Input,
            Self::InvalidOption(sentence) => ErrorCause::InvalidOption(sentence),
            Self::Trapped { trap, .. } => ErrorCause::Trapped(trap),
            Self::TooLarge { trap, .. } => ErrorCause::TooLarge(trap),
            Self::Internal { message, .. } => ErrorCause::Internal(message),
            Self::Output { rule, .. } => ErrorCause::BadOutput(rule),
            Self::Host(_) => ErrorCause::Host,
        }
    }
}
