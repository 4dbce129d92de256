//! Reasons for which a table of the past is not given, and what they are to clients.

use yearbook_catalog::CatalogError;
use yearbook_domain::Refusal;
use yearbook_http::Error;
use yearbook_publish::PublishError;
use yearbook_storage::StorageFailure;

/// Seconds after which files that are read may have been given up.
const RETRY_WHEN_FULL: u64 = 60;

/// Reason for which a table was not made.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The history changed meanwhile.
    Changed,
    /// There is no room beside what is read.
    Full,
    /// There never is room for so many bytes.
    TooLarge(u64),
    /// The catalog does not answer; it was logged.
    Catalog,
    /// The store does not answer, or what it has is damaged.
    Storage(StorageFailure),
    /// Our fault; it was logged.
    Internal,
}

impl From<CatalogError> for Failure {
    fn from(failure: CatalogError) -> Self {
        tracing::error!(%failure, "the catalog does not answer");
        Self::Catalog
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Storage(failure) => Self::Storage(failure),
            failure => {
                tracing::error!(%failure, "cannot make a table of the past");
                Self::Internal
            }
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Changed => Self::Rebuilding { retry_after: 1 },
            Failure::Full => Self::Rebuilding { retry_after: RETRY_WHEN_FULL },
            Failure::TooLarge(_) => Refusal::HistoryTooLarge.into(),
            Failure::Catalog => Self::Unavailable,
            Failure::Storage(failure) => failure.into(),
            Failure::Internal => Self::Internal,
        }
    }
}
