//! Distinct values of a table's columns, as a host tells them before rows are read.

use super::Table;
use crate::{Code, Error, Schema};

/// Values of a column at most that are told.
const CODES: usize = 10_000;

impl Table {
    /// Says that a column may have these values, as a selection of few of a dataset's rows does; in
    /// ascending order.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().text("region", &[Some("south")]);
    /// let table = table.known("region", &["north", "south"]);
    /// assert_eq!(table.codes()[0].as_ref().map(Vec::len), Some(2));
    /// ```
    #[must_use]
    pub fn known<T: AsRef<str>>(mut self, column: &str, values: &[T]) -> Self {
        let values = values.iter().map(|value| value.as_ref().to_owned()).collect();
        self.known.push((column.to_owned(), values));
        self
    }

    /// Distinct values of each column as a host tells them to an encoder that exports its
    /// codelists, ascending; `None` for one that is measured, or that has too many.
    ///
    /// ```
    /// use yearbook_sdk::testing::Table;
    ///
    /// let table = Table::new().integers("n", &[Some(10), None, Some(9)]);
    /// assert_eq!(table.codes(), [Some(vec!["9".to_owned(), "10".to_owned()])]);
    /// ```
    #[must_use]
    pub fn codes(&self) -> Vec<Option<Vec<String>>> {
        let codes = self.columns.iter().map(|(name, data)| {
            if let Some((_, values)) = self.known.iter().find(|(column, _)| column == name) {
                return Some(values.clone());
            }
            let measured = self.about.iter().any(|(column, key, value)| {
                column == name && key == "yearbook.role" && matches!(&**value, "value" | "geometry")
            });
            data.distinct().filter(|values| !measured && values.len() <= CODES)
        });
        codes.collect()
    }

    /// The schema as an encoder is given it.
    ///
    /// # Errors
    /// As the plugin would see them.
    pub(in crate::testing) fn schema(&self, dictionaries: bool) -> Result<Schema, Error> {
        let code = |value: String| Code { value, label: None };
        let codes = self.codes().into_iter();
        let codes = codes.map(|codes| Some(codes?.into_iter().map(code).collect()));
        Ok(Schema::from_wire(self.wire_schema(dictionaries))?.with_codes(codes))
    }
}
