//! Failures of a check: a kind for metrics, a sentence for operators, and the decision to try again
//! (contract-8-retry).

use std::time::Duration;

use yearbook_catalog::CatalogError;
use yearbook_domain::FailureCause;
use yearbook_outbound::OutboundError;
use yearbook_publish::{PublishError, PublishFailure};

/// Longest reason, characters: it is one line of a table and of `last_check`.
const MAX_REASON: usize = 1_000;

/// Repetition of an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAdvice {
    /// It would fail again.
    Never,
    /// It may go well, not before the source said.
    After(Duration),
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckFailure {
    pub(crate) cause: FailureCause,
    pub(crate) reason: String,
    pub(crate) retry: RetryAdvice,
}

impl CheckFailure {
    /// A failure that another attempt would not mend.
    pub(crate) fn new(cause: FailureCause, reason: impl Into<String>) -> Self {
        Self { cause, reason: one_line(&reason.into()), retry: RetryAdvice::Never }
    }

    /// A failure that another attempt may mend.
    pub(crate) fn temporary(cause: FailureCause, reason: impl Into<String>) -> Self {
        Self { retry: RetryAdvice::After(Duration::ZERO), ..Self::new(cause, reason) }
    }

    /// The same with a word more about it.
    pub(crate) fn with_note(self, note: &str) -> Self {
        Self { reason: one_line(&format!("{}; {note}", self.reason)), ..self }
    }
}

impl From<OutboundError> for CheckFailure {
    fn from(error: OutboundError) -> Self {
        match error {
            OutboundError::Forbidden(error) => Self::new(
                FailureCause::PrivateAddress,
                format!(
                    "{error}; set refresh.allow_private if every package may reach private networks"
                ),
            ),
            OutboundError::Refused { .. } => Self::new(
                FailureCause::Answer,
                format!("the source {error}; correct resources[0].path if it has moved"),
            ),
            OutboundError::TooLarge { limit, .. } => too_large(limit),
            OutboundError::NoTls { .. } => Self::new(FailureCause::Internal, error.to_string()),
            error => Self::temporary(FailureCause::Connection, error.to_string()),
        }
    }
}

impl From<PublishError> for CheckFailure {
    fn from(error: PublishError) -> Self {
        let cause = match &error {
            PublishError::Descriptor { .. } => FailureCause::Descriptor,
            PublishError::Table { .. }
            | PublishError::Loss { .. }
            | PublishError::Unreadable { .. } => FailureCause::Data,
            _ => FailureCause::Internal,
        };
        Self::new(cause, chain(&error))
    }
}

impl From<PublishFailure> for CheckFailure {
    fn from(failure: PublishFailure) -> Self {
        match failure {
            PublishFailure::Package(error) => error.into(),
            failure => Self::new(FailureCause::Internal, chain(&failure)),
        }
    }
}

impl From<CatalogError> for CheckFailure {
    fn from(error: CatalogError) -> Self {
        Self::new(FailureCause::Internal, chain(&error))
    }
}

/// Of a download, which is the only file that a check reads by itself.
impl From<std::io::Error> for CheckFailure {
    fn from(error: std::io::Error) -> Self {
        Self::new(FailureCause::Internal, format!("cannot read the answer on disk: {error}"))
    }
}

/// The failure of an answer with more bytes than are allowed.
pub(crate) fn too_large(max_bytes: u64) -> CheckFailure {
    let reason = format!(
        "the answer has more than {max_bytes} bytes; raise refresh.max_bytes if that is right"
    );
    CheckFailure::new(FailureCause::TooLarge, reason)
}

/// An error with its causes, without those that it quotes itself.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

/// A text on one line, cut where it is too long.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(MAX_REASON) {
        line.truncate(cut);
        line.push('…');
    }
    line
}
