//! Single cells of a column, by type.

use crate::{Column, Values};

impl Column<'_> {
    /// The float of a row; `None` when it is null, or the column does not hold 64-bit floats.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().numbers("value", &[Some(1.5), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.column(0).number(0), Some(1.5));
    /// assert_eq!(batch.column(0).number(1), None);
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn number(&self, row: usize) -> Option<f64> {
        match &self.values {
            Values::Float64(values) => self.is_valid(row).then(|| values[row]),
            _ => None,
        }
    }

    /// The integer of a row; `None` when it is null, or the column does not hold 64-bit integers.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().integers("n", &[Some(7), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.column(0).integer(0), Some(7));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn integer(&self, row: usize) -> Option<i64> {
        match &self.values {
            Values::Int64(values) => self.is_valid(row).then(|| values[row]),
            _ => None,
        }
    }

    /// The boolean of a row; `None` when it is null, or the column does not hold booleans.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new().booleans("final", &[Some(true), None]);
    /// let batch = batches(&table, false)?.remove(0);
    /// assert_eq!(batch.column(0).boolean(0), Some(true));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn boolean(&self, row: usize) -> Option<bool> {
        match &self.values {
            Values::Boolean(bits) => self.is_valid(row).then(|| bits.get(row)),
            _ => None,
        }
    }

    /// The days since 1970-01-01 of a row that crosses as [`crate::transform::Form::Days`]; `None`
    /// when it is null.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let days = vec![Some(59_i32.to_le_bytes().to_vec()), None];
    /// let batch = batches(&Table::new().fixed("day", "i", 4, days), false)?.remove(0);
    /// assert_eq!(batch.column(0).days(0), Some(59));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn days(&self, row: usize) -> Option<i32> {
        match &self.values {
            Values::Int32(values) => self.is_valid(row).then(|| values[row]),
            _ => None,
        }
    }

    /// The position in [`crate::transform::Codes::for_column`] of a row that crosses as
    /// [`crate::transform::Form::Coded`]; `None` when it is null.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let codes = vec![Some(2_i32.to_le_bytes().to_vec()), None];
    /// let batch = batches(&Table::new().fixed("region", "i", 4, codes), false)?.remove(0);
    /// assert_eq!(batch.column(0).code(0), Some(2));
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn code(&self, row: usize) -> Option<usize> {
        self.days(row).and_then(|code| usize::try_from(code).ok())
    }
}
