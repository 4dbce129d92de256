//! Texts that stand for a missing value in files of an agency, as the option `missing_values` of a
//! reader lists them.

use crate::{Error, Kind, Options, Parameter};

/// Texts that stand for a missing value. Readers of formats in which agencies write such texts take
/// them as an option of one name.
///
/// ```
/// use yearbook_sdk::reader::MissingValues;
/// use yearbook_sdk::{Options, Value};
///
/// let parameter = MissingValues::parameter("#N/A");
/// let chosen = Options(vec![(parameter.name.to_owned(), Value::Text(": ..".to_owned()))]);
/// let missing = MissingValues::from_options(&chosen)?;
/// assert!(missing.contains("..") && !missing.contains("#N/A"));
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingValues(Vec<String>);

impl MissingValues {
    const NAME: &'static str = "missing_values";

    /// The option, with the texts that stand for a missing value where a package says nothing.
    ///
    /// ```
    /// use yearbook_sdk::reader::MissingValues;
    ///
    /// assert_eq!(MissingValues::parameter("#N/A").name, "missing_values");
    /// ```
    #[must_use]
    pub fn parameter(default: &'static str) -> Parameter {
        Parameter {
            name: Self::NAME,
            kind: Kind::Text,
            default,
            allowed: &[],
            docs: "Texts that stand for a missing value, with spaces between them.",
        }
    }

    /// The texts that were chosen.
    ///
    /// ```
    /// use yearbook_sdk::reader::MissingValues;
    /// use yearbook_sdk::{Options, Value};
    ///
    /// let chosen = Options(vec![("missing_values".to_owned(), Value::Text("-".to_owned()))]);
    /// assert!(MissingValues::from_options(&chosen)?.contains("-"));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Internal`] where the reader does not declare the option.
    pub fn from_options(options: &Options) -> Result<Self, Error> {
        let texts = options.text(Self::NAME)?;
        Ok(Self(texts.split_whitespace().map(str::to_owned).collect()))
    }

    /// Returns whether `text` stands for a missing value.
    ///
    /// ```
    /// use yearbook_sdk::reader::MissingValues;
    ///
    /// assert!(!MissingValues::default().contains(":"));
    /// ```
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        self.0.iter().any(|missing| missing == text)
    }
}
