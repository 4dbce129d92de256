//! Columns as the schema of a file has them, and their physical types.

use yearbook_sdk::{DataType, Field};

/// Physical type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PhysicalType {
    Boolean,
    Int64,
    Double,
    Text,
    /// Like text, but of any bytes, so without bounds.
    Binary,
}

impl PhysicalType {
    /// Type of a column that this writer takes; `None` for any other.
    pub(crate) fn from_field(field: &Field) -> Option<Self> {
        match (field.value_type(), field.dictionary.is_some()) {
            (DataType::Boolean, false) => Some(Self::Boolean),
            (DataType::Int64, false) => Some(Self::Int64),
            (DataType::Float64, false) => Some(Self::Double),
            (DataType::Utf8, _) => Some(Self::Text),
            (DataType::Binary, _) => Some(Self::Binary),
            _ => None,
        }
    }

    /// Number of the type in the format.
    pub(crate) fn id(self) -> i32 {
        match self {
            Self::Boolean => 0,
            Self::Int64 => 2,
            Self::Double => 5,
            Self::Text | Self::Binary => 6,
        }
    }
}

/// Column as the file's schema has it.
pub(crate) struct FileColumn {
    pub(crate) name: String,
    pub(crate) physical: PhysicalType,
    pub(crate) nullable: bool,
}
