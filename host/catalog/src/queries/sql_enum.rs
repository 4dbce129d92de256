//! Words of the domain's enums in the database: their serde names, so that each word has one home.
//! Works for every database.

use serde::Serialize;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::error::UnreadableValue;

/// Returns the word of a unit variant.
pub(crate) fn encode_enum<T: Serialize>(value: &T) -> Result<String, sqlx::Error> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        Ok(other) => Err(sqlx::Error::Encode(format!("{other} is no word").into())),
        Err(error) => Err(sqlx::Error::Encode(error.into())),
    }
}

/// Returns a list, whose order matters, as a JSON array.
pub(crate) fn encode_list<T: Serialize>(names: &[T]) -> Result<String, sqlx::Error> {
    serde_json::to_string(names).map_err(|error| sqlx::Error::Encode(error.into()))
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
    /// The opposite of [`encode_enum`].
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        column: &'static str,
        word: &str,
    ) -> Result<T, sqlx::Error> {
        let deserializer: StrDeserializer<'_, WordError> = word.into_deserializer();
        T::deserialize(deserializer).map_err(|_| self.unreadable_value(column, word))
    }

    /// The opposite of [`encode_list`].
    pub(crate) fn names(
        &self,
        column: &'static str,
        json: &str,
    ) -> Result<Vec<String>, sqlx::Error> {
        self.decode_list(column, json)
    }

    /// The opposite of [`encode_list`] for any list.
    pub(crate) fn decode_list<T: DeserializeOwned>(
        &self,
        column: &'static str,
        json: &str,
    ) -> Result<Vec<T>, sqlx::Error> {
        self.decode_json(column, json)
    }

    /// Reads any value from JSON.
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

    use yearbook_domain::{ColumnRole, ColumnType, Plan, TableLayout};

    use super::*;

    #[test]
    fn words_come_back_as_what_they_were() {
        let place = RowContext { table: "columns", row: "cpi" };
        assert_eq!(encode_enum(&ColumnRole::Geometry).unwrap(), "geometry");
        assert_eq!(place.parse::<ColumnRole>("role", "geometry").unwrap(), ColumnRole::Geometry);
        assert_eq!(
            place
                .parse::<ColumnType>("column_type", &encode_enum(&ColumnType::Date).unwrap())
                .unwrap(),
            ColumnType::Date
        );
        assert_eq!(
            place
                .parse::<TableLayout>("layout", &encode_enum(&TableLayout::Wide).unwrap())
                .unwrap(),
            TableLayout::Wide
        );
        for plan in Plan::ALL {
            assert_eq!(encode_enum(&plan).unwrap(), plan.as_str());
        }
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
