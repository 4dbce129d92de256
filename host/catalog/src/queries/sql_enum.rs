//! Values of the domain in the database: words, JSON, counts. Works for every database.

use serde::Serialize;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::error::UnreadableValue;

/// Returns a value of several parts, such as a list whose order matters, as JSON.
pub(crate) fn encode_json<T: Serialize>(value: &T) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// Returns a count (rows, bytes, requests) as databases hold it.
pub(crate) fn encode_u64(number: u64) -> Result<i64, sqlx::Error> {
    i64::try_from(number).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// Place of values that are read, for the message about one that cannot be read.
pub(crate) struct RowContext<'a> {
    /// The table.
    pub(crate) table: &'static str,
    /// The row, as people would call it.
    pub(crate) row: &'a str,
}

impl RowContext<'_> {
    /// Reads the word of an enum, or another value that is one text.
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        column: &'static str,
        word: &str,
    ) -> Result<T, sqlx::Error> {
        let deserializer: StrDeserializer<'_, WordError> = word.into_deserializer();
        T::deserialize(deserializer).map_err(|_| self.unreadable_value(column, word))
    }

    /// The opposite of [`encode_json`].
    pub(crate) fn decode_json<T: DeserializeOwned>(
        &self,
        column: &'static str,
        json: &str,
    ) -> Result<T, sqlx::Error> {
        serde_json::from_str(json).map_err(|_| self.unreadable_value(column, json))
    }

    /// The opposite of [`encode_u64`].
    pub(crate) fn count(&self, column: &'static str, number: i64) -> Result<u64, sqlx::Error> {
        u64::try_from(number).map_err(|_| self.unreadable_value(column, &number.to_string()))
    }

    /// Reads 32 bytes. They are in no message: they may stand for an address, or be a secret.
    pub(crate) fn bytes32(
        &self,
        column: &'static str,
        stored: &[u8],
    ) -> Result<[u8; 32], sqlx::Error> {
        let unreadable = |_| self.unreadable_value(column, &format!("{} bytes", stored.len()));
        stored.try_into().map_err(unreadable)
    }

    fn unreadable_value(&self, column: &'static str, value: &str) -> sqlx::Error {
        UnreadableValue {
            table: self.table,
            column,
            row: self.row.to_owned(),
            value: format!("{value:?}"),
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_domain::credit::SourceUrlPrecision;
    use yearbook_domain::{
        CheckOutcome, ColumnRole, ColumnType, FailureCause, Plan, ReleaseState, StoredKind,
        TableLayout,
    };

    use super::*;

    #[test]
    fn words_come_back_as_what_they_were() {
        fn check<T: DeserializeOwned + PartialEq + std::fmt::Debug>(all: &[(T, &'static str)]) {
            let place = RowContext { table: "columns", row: "cpi" };
            for (value, word) in all {
                assert_eq!(place.parse::<T>("a column", word).unwrap(), *value);
            }
        }
        check(&ColumnRole::ALL.map(|value| (value, value.as_str())));
        check(&ColumnType::ALL.map(|value| (value, value.as_str())));
        check(&TableLayout::ALL.map(|value| (value, value.as_str())));
        check(&SourceUrlPrecision::ALL.map(|value| (value, value.as_str())));
        check(&Plan::ALL.map(|value| (value, value.as_str())));
        check(&ReleaseState::ALL.map(|value| (value, value.as_str())));
        check(&StoredKind::ALL.map(|value| (value, value.as_str())));
        check(&CheckOutcome::ALL.map(|value| (value, value.as_str())));
        check(&FailureCause::ALL.map(|value| (value, value.as_str())));
    }

    #[test]
    fn an_unknown_word_says_where_it_stands() {
        let place = RowContext { table: "columns", row: "value of cpi" };
        let error = place.parse::<ColumnRole>("role", "colour").unwrap_err().to_string();
        assert!(error.contains(r#"columns.role of value of cpi holds "colour""#), "{error}");
        let error = place.count("row_count", -1).unwrap_err().to_string();
        assert!(error.contains(r#"columns.row_count of value of cpi holds "-1""#), "{error}");
    }
}
