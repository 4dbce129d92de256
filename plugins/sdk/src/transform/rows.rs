//! Rows that a transform takes, and the codes of columns.

use crate::{Batch, Code, Column};

/// Rows of the input, at least one.
///
/// ```
/// use yearbook_sdk::transform::InputRows;
///
/// fn sum_of_first_group(rows: &InputRows) -> f64 {
///     let values = rows.column(0);
///     let of_first = (0..rows.rows()).filter(|row| rows.group(*row) == 0);
///     of_first.filter_map(|row| values.number(row)).sum()
/// }
/// ```
#[derive(Debug)]
pub struct InputRows {
    batch: Batch,
    groups: Vec<u32>,
}

impl InputRows {
    /// Rows with the number of each row's group.
    pub(crate) fn new(batch: Batch, groups: Vec<u32>) -> Self {
        Self { batch, groups }
    }

    /// Number of the rows.
    ///
    /// ```
    /// use yearbook_sdk::transform::InputRows;
    ///
    /// fn has_groups(rows: &InputRows) -> bool {
    ///     rows.groups().len() == rows.rows()
    /// }
    /// ```
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batch.rows()
    }

    /// Number of each row's group, with [`super::Needs::groups`]; otherwise empty. Groups are
    /// numbered from 0 in the order in which they appear over all calls of the response.
    ///
    /// ```
    /// use yearbook_sdk::transform::InputRows;
    ///
    /// fn last_group(rows: &InputRows) -> Option<u32> {
    ///     rows.groups().last().copied()
    /// }
    /// ```
    #[must_use]
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Number of a row's group.
    ///
    /// ```
    /// use yearbook_sdk::transform::InputRows;
    ///
    /// fn first_group(rows: &InputRows) -> usize {
    ///     rows.group(0)
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics where rows have no groups.
    #[must_use]
    #[inline]
    pub fn group(&self, row: usize) -> usize {
        self.groups[row] as usize
    }

    /// A view of a column, by its position among [`super::Needs::columns`].
    ///
    /// ```
    /// use yearbook_sdk::transform::InputRows;
    ///
    /// fn nulls_of_first_column(rows: &InputRows) -> usize {
    ///     rows.column(0).null_count
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics where there is no such column.
    #[must_use]
    pub fn column(&self, need: usize) -> Column<'_> {
        self.batch.column(need)
    }
}

/// Values of the columns that a transform asked for as [`super::Form::Coded`].
///
/// ```
/// use yearbook_sdk::transform::{Code, Codes};
///
/// let north = Code { value: "north".to_owned(), label: None };
/// let codes = Codes(vec![None, Some(vec![north])]);
/// assert_eq!(codes.for_column(1)[0].value, "north");
/// assert!(codes.for_column(0).is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Codes(pub Vec<Option<Vec<Code>>>);

impl Codes {
    /// Distinct values of a column, ascending; none for a column that is not coded. `column` is a
    /// position in the schema.
    ///
    /// ```
    /// use yearbook_sdk::transform::Codes;
    ///
    /// assert!(Codes::default().for_column(0).is_empty());
    /// ```
    #[must_use]
    pub fn for_column(&self, column: usize) -> &[Code] {
        self.0.get(column).and_then(Option::as_deref).unwrap_or_default()
    }
}
