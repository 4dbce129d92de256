//! Columns that a package asks a reader of its file for.

use serde::{Deserialize, Serialize};

/// Type that the values of a column are to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceType {
    /// UTF-8, as the file has it.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A 64-bit float.
    Number,
    /// A boolean.
    Boolean,
    /// Text `YYYY-MM-DD`; of a period of time its first day.
    Date,
    /// Text of one of the four forms of period codes.
    Period,
}

/// A column of a table and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceColumn {
    /// Its name in the table.
    pub name: String,
    /// Its name in the file, where the package says it.
    pub source: Option<String>,
    /// Type of its values.
    pub source_type: SourceType,
}
