//! Needs of a transform: what it wants to see of a table.

use crate::calendar::CalendarSpan;
use crate::{DataType, Schema, View};

/// Needs of a transform. [`Needs::default`]: nothing crosses but the number of rows.
///
/// ```
/// use yearbook_sdk::transform::{Form, Need, Needs};
///
/// let needs = Needs { columns: vec![Need { column: 2, form: Form::Plain }], ..Needs::default() };
/// assert_eq!(needs.groups, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Columns that cross, each at most once: [`super::InputRows::column`] has them in this order.
    /// Columns that are only passed on need not cross.
    pub columns: Vec<Need>,
    /// Columns by whose values the host numbers the rows: [`super::InputRows::groups`] has these
    /// numbers. No columns: all rows are one group. `None`: rows have no groups.
    pub groups: Option<Vec<usize>>,
    /// The date column's rows of the same selection that are this much earlier than the client's
    /// `start` are pushed too, and the host leaves out what comes of them. Not with
    /// [`super::Relation::New`].
    pub before: Option<CalendarSpan>,
    /// Rows that come first.
    pub prime: Priming,
}

impl Needs {
    /// The schema of what crosses.
    ///
    /// # Panics
    /// Panics where there is no such column.
    pub(crate) fn crossing(&self, schema: &Schema) -> Schema {
        let field = |need: &Need| schema.fields[need.column].clone();
        let fields = self.columns.iter().map(field).collect();
        let mut crossing = Schema { fields, metadata: Vec::new() };
        crossing.apply_views(&vec![View { plain: true, ..View::WHOLE }; self.columns.len()]);
        for (field, need) in crossing.fields.iter_mut().zip(&self.columns) {
            if need.form != Form::Plain {
                (field.format, field.data_type) = ("i".to_owned(), DataType::Int32);
            }
        }
        crossing
    }
}

/// A column that crosses.
///
/// ```
/// use yearbook_sdk::transform::{Form, Need};
///
/// assert_eq!(Need::plain(2), Need { column: 2, form: Form::Plain });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Position in the schema.
    pub column: usize,
    /// Form of its values.
    pub form: Form,
}

impl Need {
    /// A column in the form that the schema has.
    ///
    /// ```
    /// use yearbook_sdk::transform::{Form, Need};
    ///
    /// assert_eq!(Need::plain(2).form, Form::Plain);
    /// ```
    #[must_use]
    pub fn plain(column: usize) -> Self {
        Self { column, form: Form::Plain }
    }

    /// A column of which the positions of the values in its codes cross.
    ///
    /// ```
    /// use yearbook_sdk::transform::{Form, Need};
    ///
    /// assert_eq!(Need::coded(2).form, Form::Coded);
    /// ```
    #[must_use]
    pub fn coded(column: usize) -> Self {
        Self { column, form: Form::Coded }
    }

    /// A column of dates that cross as days.
    ///
    /// ```
    /// use yearbook_sdk::transform::{Form, Need};
    ///
    /// assert_eq!(Need::days(2).form, Form::Days);
    /// ```
    #[must_use]
    pub fn days(column: usize) -> Self {
        Self { column, form: Form::Days }
    }
}

/// The form in which the values of a column cross.
///
/// ```
/// use yearbook_sdk::transform::{Form, Need};
///
/// assert_eq!(Need::days(0), Need { column: 0, form: Form::Days });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As the schema has them; text never dictionary-encoded. [`crate::Values::Utf8`],
    /// `Int64`, `Float64` or `Boolean`.
    Plain,
    /// [`crate::Values::Int32`]: positions in the column's [`super::Codes`]. The host declines
    /// where the snapshot does not store the column's distinct values.
    Coded,
    /// [`crate::Values::Int32`]: days since 1970-01-01, of a column with
    /// [`crate::Field::is_date`].
    Days,
}

/// Rows that a transform sees before the first push.
///
/// ```
/// use yearbook_sdk::transform::{Needs, Priming};
///
/// assert_eq!(Needs::default().prime, Priming::None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Priming {
    /// None.
    #[default]
    None,
    /// The rows of these dates, `YYYY-MM-DD`, both inclusive, whatever dates the client asked for.
    Dates {
        /// The first date.
        first: String,
        /// The last date.
        last: String,
    },
    /// Every row that will be pushed.
    All,
}
