//! Reasons for which a table is no dataflow.

use std::fmt;

use super::MAX_CODES;

/// Reason for which a table, or the columns that were asked for, are no dataflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decline {
    /// There is no primary key.
    NoKey,
    /// A column of the key is not among the columns.
    KeyColumn(String),
    /// There are no values.
    NoValues,
    /// A column's name has no id.
    Name(String),
    /// A dimension has too many values for a codelist.
    ManyValues(String),
}

impl fmt::Display for Decline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKey => f.write_str(
                "these rows have no primary key, so that they have no dimensions in SDMX; ask for another format",
            ),
            Self::KeyColumn(name) => write!(
                f,
                "a dataflow needs all columns of the primary key; name `{name}` in `columns` too"
            ),
            Self::NoValues => f.write_str(
                "there is no column of values; name one in `columns`, or ask for another format",
            ),
            Self::Name(name) => write!(
                f,
                "the column `{name}` has no id in SDMX, for which a name must be snake_case; leave it out with `columns`"
            ),
            Self::ManyValues(id) => write!(
                f,
                "the dimension {id} has more than {MAX_CODES} values, too many for a codelist"
            ),
        }
    }
}

impl std::error::Error for Decline {}
