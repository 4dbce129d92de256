//! The columns that a transform gives.

use crate::generator::Role;
use crate::value_buffer::Layout;

/// Columns of the output, and the order of its rows.
///
/// ```
/// use yearbook_sdk::transform::{OutputColumn, Relation, TransformOutput};
///
/// let columns = vec![OutputColumn::passed("date", 0)];
/// let output = TransformOutput { columns, rows: Relation::Same, order: Vec::new() };
/// assert_eq!(output.columns[0].name, "date");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformOutput {
    /// 1 to 4,096 columns. [`super::MadeRows`] numbers those of [`Source::Made`] from 0.
    pub columns: Vec<OutputColumn>,
    /// Relation of its rows to those of the input.
    pub rows: Relation,
    /// Positions of the columns by which its rows ascend, null last; empty where they have the
    /// order of the input. Made columns stand first, and the transform gives its rows in their
    /// order; the host sorts by the columns of groups that follow.
    pub order: Vec<usize>,
}

/// A column of the output.
///
/// ```
/// use yearbook_sdk::transform::{MadeType, OutputColumn, Source};
///
/// let column = OutputColumn::made("share", MadeType::Number);
/// assert_eq!(column.source, Source::Made(MadeType::Number));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// snake_case, at most 64 bytes, unique.
    pub name: String,
    /// Its origin.
    pub source: Source,
    /// Role; `None` takes the input's for a column that is passed or a group.
    pub role: Option<Role>,
    /// Unit of the values, likewise.
    pub unit: Option<String>,
    /// Position of an input column of which every value of this made text is one.
    pub values_of: Option<usize>,
}

impl OutputColumn {
    /// The input's column at this position, row by row.
    ///
    /// ```
    /// use yearbook_sdk::transform::{OutputColumn, Source};
    ///
    /// assert_eq!(OutputColumn::passed("date", 2).source, Source::Passed(2));
    /// ```
    #[must_use]
    pub fn passed(name: impl Into<String>, column: usize) -> Self {
        Self::from_source(name.into(), Source::Passed(column))
    }

    /// The input's column at this position, by the group of a row.
    ///
    /// ```
    /// use yearbook_sdk::transform::{OutputColumn, Source};
    ///
    /// assert_eq!(OutputColumn::group("region", 1).source, Source::Group(1));
    /// ```
    #[must_use]
    pub fn group(name: impl Into<String>, column: usize) -> Self {
        Self::from_source(name.into(), Source::Group(column))
    }

    /// A column that is made.
    ///
    /// ```
    /// use yearbook_sdk::transform::{MadeType, OutputColumn};
    ///
    /// assert_eq!(OutputColumn::made("rate", MadeType::Number).role, None);
    /// ```
    #[must_use]
    pub fn made(name: impl Into<String>, made_type: MadeType) -> Self {
        Self::from_source(name.into(), Source::Made(made_type))
    }

    fn from_source(name: String, source: Source) -> Self {
        Self { name, source, role: None, unit: None, values_of: None }
    }
}

/// The origin of a column of the output.
///
/// ```
/// use yearbook_sdk::transform::{OutputColumn, Source};
///
/// assert_eq!(OutputColumn::passed("date", 0).source, Source::Passed(0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The input's column at this position, row by row. It stays with the host.
    Passed(usize),
    /// The input's column at this position, one of [`super::Needs::groups`]: the host looks its
    /// value up by the number of the row's group.
    Group(usize),
    /// Made here. It may hold nulls.
    Made(MadeType),
}

/// The type of a column that is made.
///
/// ```
/// use yearbook_sdk::transform::{MadeType, OutputColumn, Source};
///
/// let column = OutputColumn::made("date", MadeType::Date);
/// assert_eq!(column.source, Source::Made(MadeType::Date));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MadeType {
    Text,
    Integer,
    Number,
    Boolean,
    /// Days since 1970-01-01, from the year 1 to 9999. The host makes text of them.
    Date,
}

impl From<MadeType> for Layout {
    fn from(made_type: MadeType) -> Self {
        match made_type {
            MadeType::Text => Self::Text,
            MadeType::Integer | MadeType::Number => Self::Fixed(8),
            MadeType::Date => Self::Fixed(4),
            MadeType::Boolean => Self::Bits,
        }
    }
}

/// The rows that come out of rows that go in.
///
/// ```
/// use yearbook_sdk::transform::Relation;
///
/// assert_ne!(Relation::Same, Relation::Chosen);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The rows of each batch, in their order.
    Same,
    /// Some of the rows of each batch, named by [`super::MadeRows::take`].
    Chosen,
    /// Rows of their own. No column is passed.
    New,
}
