//! Errors with which a plugin declines: the three cases of `types.error` in the WIT package.

use std::fmt;

/// An error with which a plugin declines. Anything else that goes wrong should panic: the host then
/// stops the guest.
///
/// ```
/// use yearbook_sdk::Error;
///
/// let error = Error::UnsupportedSchema("column `shape` is a geometry; leave it out".to_owned());
/// assert!(error.to_string().contains("`shape`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The format cannot carry this schema. The sentence reaches the client as a 422, so name the
    /// column and say what to do.
    UnsupportedSchema(String),
    /// An option's value is wrong in a way that its declaration could not express. Reaches the
    /// client as a 422.
    InvalidOption(String),
    /// The plugin's own fault. Logged by the host; the client sees a 500 without the sentence.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedSchema(sentence)
            | Self::InvalidOption(sentence)
            | Self::Internal(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for Error {}
