//! The digest of a result (contract-13-digest): the same for the same rows and columns, whatever
//! format, plugin or compression carried them. Clients compute it by themselves. It is no
//! signature: an attacker who can change the rows can change the digest that travels with them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{ColumnType, Digest};

/// Name of the method, before the hexadecimal digits.
const PREFIX: &str = "yb1:";

/// First bytes of every digest; they change when the method does.
const METHOD: &str = "yearbook-result-1";

/// The bits that stand for every NaN.
const CANONICAL_NAN: u64 = 0x7ff8_0000_0000_0000;

/// A digest: `yb1:` and 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ResultDigest(Digest);

/// A value as the digest takes it in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DigestedValue<'a> {
    /// Text, or the text of a date.
    Text(&'a str),
    /// An integer.
    Integer(i64),
    /// A number; every NaN counts as the same, -0 is not 0.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

impl ResultDigest {
    /// Creates the digest of a result of `rows` rows, whose columns have these names, types and
    /// SHA-256 of their values ([`write_value`]), in the order of the result.
    #[must_use]
    pub fn from_columns<'a>(
        rows: u64,
        columns: impl Iterator<Item = (&'a str, ColumnType, [u8; 32])>,
    ) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(METHOD);
        hasher.update(rows.to_le_bytes());
        for (name, column_type, values) in columns {
            hasher.update(length(name));
            hasher.update(name);
            hasher.update([type_byte(column_type)]);
            hasher.update(values);
        }
        Self(Digest::from_sha256(hasher.finalize().into()))
    }

    /// Reads a digest; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Digest::parse(text.strip_prefix(PREFIX)?).map(Self)
    }
}

/// Appends the bytes of one value; `None` if null.
pub fn write_value(value: Option<DigestedValue<'_>>, out: &mut Vec<u8>) {
    out.push(u8::from(value.is_some()));
    match value {
        None => {}
        Some(DigestedValue::Text(text)) => {
            out.extend(length(text));
            out.extend(text.as_bytes());
        }
        Some(DigestedValue::Integer(value)) => out.extend(value.to_le_bytes()),
        Some(DigestedValue::Number(value)) => {
            let bits = if value.is_nan() { CANONICAL_NAN } else { value.to_bits() };
            out.extend(bits.to_le_bytes());
        }
        Some(DigestedValue::Boolean(value)) => out.push(u8::from(value)),
    }
}

/// Bytes of a text, of which no table holds one of 4 GiB.
fn length(text: &str) -> [u8; 4] {
    u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes()
}

fn type_byte(column_type: ColumnType) -> u8 {
    match column_type {
        ColumnType::String => 0,
        ColumnType::Integer => 1,
        ColumnType::Number => 2,
        ColumnType::Boolean => 3,
        ColumnType::Date => 4,
    }
}

impl fmt::Display for ResultDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl TryFrom<String> for ResultDigest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is no digest of a result"))
    }
}

impl From<ResultDigest> for String {
    fn from(digest: ResultDigest) -> Self {
        digest.to_string()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        title: String,
        columns: Vec<CaseColumn>,
        rows: Vec<Vec<Option<String>>>,
        digest: ResultDigest,
    }

    #[derive(Deserialize)]
    struct CaseColumn {
        name: String,
        #[serde(rename = "type")]
        column_type: ColumnType,
    }

    fn value(column_type: ColumnType, text: &str) -> DigestedValue<'_> {
        match column_type {
            ColumnType::String | ColumnType::Date => DigestedValue::Text(text),
            ColumnType::Integer => DigestedValue::Integer(text.parse().unwrap()),
            ColumnType::Number => DigestedValue::Number(text.parse().unwrap()),
            ColumnType::Boolean => DigestedValue::Boolean(text.parse().unwrap()),
        }
    }

    #[test]
    fn digests_are_those_of_the_vectors_that_clients_check_contract_13() {
        let vectors = include_str!("../../../tests/fixtures/result_digest.json");
        let vectors: Vectors = serde_json::from_str(vectors).unwrap();
        assert!(vectors.cases.len() > 10);
        for Case { title, columns, rows, digest } in &vectors.cases {
            let hashed = columns.iter().enumerate().map(|(index, column)| {
                let mut bytes = Vec::new();
                for row in rows {
                    let cell = row[index].as_deref();
                    write_value(cell.map(|text| value(column.column_type, text)), &mut bytes);
                }
                (column.name.as_str(), column.column_type, Sha256::digest(&bytes).into())
            });
            assert_eq!(ResultDigest::from_columns(rows.len() as u64, hashed), *digest, "{title}");
            for other in vectors.cases.iter().filter(|other| other.title != *title) {
                assert_ne!(other.digest, *digest, "{title} and {}", other.title);
            }
        }
    }

    #[test]
    fn every_nan_is_the_same_and_zeros_are_not_contract_13() {
        let bytes = |value: f64| {
            let mut bytes = Vec::new();
            write_value(Some(DigestedValue::Number(value)), &mut bytes);
            bytes
        };
        for bits in [0x7ff8_0000_0000_0001, 0xfff8_0000_0000_0000, 0x7ff0_0000_0000_0001] {
            assert_eq!(bytes(f64::from_bits(bits)), bytes(f64::NAN));
        }
        assert_ne!(bytes(-0.0), bytes(0.0));
        assert_ne!(bytes(0.1), bytes(0.1_f64.next_up()));
    }

    #[test]
    fn only_its_own_text_is_a_digest() {
        let digest = ResultDigest(Digest::compute(b""));
        assert_eq!(ResultDigest::parse(&digest.to_string()), Some(digest));
        for wrong in ["", "yb1:", "yb2:00", &"ab".repeat(32), &format!("yb1:{}", "AB".repeat(32))] {
            assert_eq!(ResultDigest::parse(wrong), None, "{wrong}");
        }
    }
}
