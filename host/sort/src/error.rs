//! Reasons why rows cannot be sorted or read back.

use arrow::error::ArrowError;

/// A temporary file or the rows themselves failed.
#[derive(Debug, thiserror::Error)]
pub enum SortError {
    /// The temporary folder refused an operation.
    #[error(transparent)]
    Io(std::io::Error),
    /// A fault of this program.
    #[error(transparent)]
    Rows(ArrowError),
}

impl From<std::io::Error> for SortError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ArrowError> for SortError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => Self::Io(source),
            error => Self::Rows(error),
        }
    }
}
