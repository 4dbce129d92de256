//! Refusals of a file, each with its place.

use std::fmt;

use crate::Error;

/// Place in a file, as far as its format has such places.
///
/// ```
/// use yearbook_sdk::reader::FilePlace;
///
/// assert_eq!(FilePlace::line(7, "OBS_VALUE").to_string(), "line 7, OBS_VALUE");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilePlace {
    /// Line, from 1.
    pub line: Option<u64>,
    /// Byte, from 0.
    pub byte: Option<u64>,
    /// Member or column, `$.dimension.time` or `OBS_VALUE`; empty where there is none.
    pub path: String,
}

impl FilePlace {
    /// A line, from 1, and a column.
    ///
    /// ```
    /// use yearbook_sdk::reader::FilePlace;
    ///
    /// assert_eq!(FilePlace::line(7, "").line, Some(7));
    /// ```
    #[must_use]
    pub fn line(line: u64, path: impl Into<String>) -> Self {
        Self { line: Some(line), byte: None, path: path.into() }
    }

    /// A member alone.
    ///
    /// ```
    /// use yearbook_sdk::reader::FilePlace;
    ///
    /// assert_eq!(FilePlace::path("$.size[0]").to_string(), "$.size[0]");
    /// ```
    #[must_use]
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.line.map(|line| format!("line {line}")));
        parts.extend(self.byte.map(|byte| format!("byte {byte}")));
        parts.extend((!self.path.is_empty()).then(|| self.path.clone()));
        f.write_str(&parts.join(", "))
    }
}

/// A fault of a file, with its place.
///
/// ```
/// use yearbook_sdk::reader::{FilePlace, ReadFault};
///
/// let fault = ReadFault { place: FilePlace::path("$.size"), sentence: "is missing".to_owned() };
/// assert_eq!(fault.place.to_string(), "$.size");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFault {
    /// Its place.
    pub place: FilePlace,
    /// The fault, and what to do about it.
    pub sentence: String,
}

/// Reason for which a file is not read. Anything else that goes wrong should panic: the host then
/// stops the guest, and the plugin is at fault.
///
/// ```
/// use yearbook_sdk::reader::{FilePlace, ReadRefusal};
///
/// let refusal = ReadRefusal::malformed(FilePlace::line(7, "OBS_VALUE"), "is no number");
/// assert_eq!(refusal.to_string(), "line 7, OBS_VALUE: is no number");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadRefusal {
    /// The file is not of the format, or is damaged.
    Malformed(ReadFault),
    /// The file is right, and this reader cannot make the requested table of it.
    Unsupported(ReadFault),
    /// An option's value is wrong in a way that its declaration could not express.
    InvalidOption(String),
    /// The plugin's own fault.
    Internal(String),
}

impl ReadRefusal {
    /// A file that is not of the format.
    ///
    /// ```
    /// use yearbook_sdk::reader::{FilePlace, ReadRefusal};
    ///
    /// let refusal = ReadRefusal::malformed(FilePlace::default(), "is empty");
    /// assert!(matches!(refusal, ReadRefusal::Malformed(_)));
    /// ```
    #[must_use]
    pub fn malformed(place: FilePlace, sentence: impl Into<String>) -> Self {
        Self::Malformed(ReadFault { place, sentence: sentence.into() })
    }

    /// A file of which the requested table cannot be made.
    ///
    /// ```
    /// use yearbook_sdk::reader::{FilePlace, ReadRefusal};
    ///
    /// let refusal = ReadRefusal::unsupported(FilePlace::path("$.class"), "is no dataset");
    /// assert!(matches!(refusal, ReadRefusal::Unsupported(_)));
    /// ```
    #[must_use]
    pub fn unsupported(place: FilePlace, sentence: impl Into<String>) -> Self {
        Self::Unsupported(ReadFault { place, sentence: sentence.into() })
    }
}

impl fmt::Display for ReadRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(fault) | Self::Unsupported(fault) => {
                let place = fault.place.to_string();
                if !place.is_empty() {
                    write!(f, "{place}: ")?;
                }
                f.write_str(&fault.sentence)
            }
            Self::InvalidOption(sentence) | Self::Internal(sentence) => f.write_str(sentence),
        }
    }
}

impl std::error::Error for ReadRefusal {}

impl From<Error> for ReadRefusal {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidOption(sentence) => Self::InvalidOption(sentence),
            Error::UnsupportedSchema(sentence) => Self::unsupported(FilePlace::default(), sentence),
            Error::Internal(sentence) => Self::Internal(sentence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_begins_with_its_place() {
        let refusal = ReadRefusal::malformed(FilePlace::line(7, "OBS_VALUE"), "is no number");
        assert_eq!(refusal.to_string(), "line 7, OBS_VALUE: is no number");
        let place = FilePlace { line: None, byte: Some(3), path: String::new() };
        assert_eq!(ReadRefusal::unsupported(place, "is deep").to_string(), "byte 3: is deep");
        assert_eq!(
            ReadRefusal::malformed(FilePlace::default(), "is empty").to_string(),
            "is empty"
        );
    }
}
