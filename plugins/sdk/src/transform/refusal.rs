//! Reasons for which a transform declines.

use std::fmt;

use crate::Error;

/// Reason for which a transform declines. Anything else that goes wrong should panic: the host then
/// stops the guest, and the plugin is at fault.
///
/// ```
/// use yearbook_sdk::transform::TransformError;
///
/// let error = TransformError::invalid_option("base", "there is no date 2009-02-30");
/// assert_eq!(error.to_string(), "there is no date 2009-02-30");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransformError {
    /// The transform cannot work on these columns. Reaches the client as a 422, so name the column
    /// and say what to do.
    UnsupportedSchema(String),
    /// An option's value is wrong in a way that its declaration could not express. Reaches the
    /// client as a 422.
    InvalidOption {
        /// The option's name, without the transform's.
        option: &'static str,
        /// The sentence.
        sentence: String,
    },
    /// The rows are more than the transform can take. Reaches the client as a 413.
    TooLarge(String),
    /// The rows are not such that there is a result for them. Reaches the client as a 422.
    UnsupportedRows(String),
    /// The plugin's own fault. Logged by the host; the client sees a 500 without the sentence.
    Internal(String),
}

impl TransformError {
    /// An option whose value is wrong.
    ///
    /// ```
    /// use yearbook_sdk::transform::TransformError;
    ///
    /// let error = TransformError::invalid_option("base", "is no date");
    /// assert!(matches!(error, TransformError::InvalidOption { option: "base", .. }));
    /// ```
    #[must_use]
    pub fn invalid_option(option: &'static str, sentence: impl Into<String>) -> Self {
        Self::InvalidOption { option, sentence: sentence.into() }
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedSchema(sentence)
            | Self::InvalidOption { sentence, .. }
            | Self::TooLarge(sentence)
            | Self::UnsupportedRows(sentence)
            | Self::Internal(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for TransformError {}

/// Errors of [`crate::Options`] and of batches.
impl From<Error> for TransformError {
    fn from(error: Error) -> Self {
        match error {
            Error::UnsupportedSchema(sentence) => Self::UnsupportedSchema(sentence),
            // Of an option whose name is not known, which no accessor of options returns.
            Error::InvalidOption(sentence) | Error::Internal(sentence) => Self::Internal(sentence),
        }
    }
}
