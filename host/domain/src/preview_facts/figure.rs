//! Numbers as previews state them: exactly those of the table. Stored as text, since readers of
//! JSON may round floats and integers beyond 53 bits.

use std::cmp::Ordering;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A finite number of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Of an integer column.
    Integer(i64),
    /// Of a number column; never NaN or infinite.
    Number(f64),
}

/// A figure with the date of its row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatedFigure {
    /// `YYYY-MM-DD`.
    pub date: String,
    /// The figure.
    pub value: Figure,
}

impl Figure {
    /// Returns the nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the nearest float is what is asked for"
            )]
            Self::Integer(value) => value as f64,
            Self::Number(value) => value,
        }
    }

    /// Compares two figures of one column; those of different types by the nearest floats.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(&right),
            (left, right) => left.as_f64().total_cmp(&right.as_f64()),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return text.parse().ok().map(Self::Integer);
        }
        text.parse().ok().filter(|value: &f64| value.is_finite()).map(Self::Number)
    }
}

/// The shortest text that reads back as the same figure; floats always have a point or an exponent.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no figure")))
    }
}
