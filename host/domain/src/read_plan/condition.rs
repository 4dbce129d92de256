//! Conditions on columns, with values of the columns' types (contract-15-types).

mod resolve;
mod value;

pub(super) use resolve::resolve_conditions;
pub use resolve::{judge_conditions, parse_value};
pub(crate) use value::json_number;
pub use value::{ColumnValue, FloatKey};

use crate::query::Operator;

/// A condition that each row of a read meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Position of the column in the snapshot.
    pub column: usize,
    /// The test of its values.
    pub test: ColumnTest,
}

/// A test of the values of one column. Null passes [`ColumnTest::IsNull`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnTest {
    /// Equal to one of these, which ascend.
    AnyOf(Vec<ColumnValue>),
    /// Equal to none of these, which ascend.
    NoneOf(Vec<ColumnValue>),
    /// On this side of the bound; NaN is on no side.
    Bound(Side, ColumnValue),
    /// Contains one of these, case folded; ascending, as sent.
    Contains(Vec<String>),
    /// Begins with one of these, case folded; ascending, as sent.
    Starts(Vec<String>),
    /// Null, or not null.
    IsNull(bool),
}

/// A side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The bound and above.
    AtLeast,
    /// Above the bound.
    Above,
    /// The bound and below.
    AtMost,
    /// Below the bound.
    Below,
}

impl Side {
    /// Returns true for a value that compares so with the bound.
    #[must_use]
    pub fn holds(self, value_to_bound: std::cmp::Ordering) -> bool {
        match self {
            Self::AtLeast => value_to_bound.is_ge(),
            Self::Above => value_to_bound.is_gt(),
            Self::AtMost => value_to_bound.is_le(),
            Self::Below => value_to_bound.is_lt(),
        }
    }
}

impl ColumnTest {
    /// Returns the operator in `where.COLUMN.OPERATOR`.
    #[must_use]
    pub fn operator(&self) -> Operator {
        match self {
            Self::AnyOf(_) => Operator::Equal,
            Self::NoneOf(_) => Operator::Not,
            Self::Bound(Side::AtLeast, _) => Operator::AtLeast,
            Self::Bound(Side::Above, _) => Operator::Above,
            Self::Bound(Side::AtMost, _) => Operator::AtMost,
            Self::Bound(Side::Below, _) => Operator::Below,
            Self::Contains(_) => Operator::Contains,
            Self::Starts(_) => Operator::Starts,
            Self::IsNull(_) => Operator::Null,
        }
    }

    /// Returns its values in their canonical text.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        match self {
            Self::AnyOf(values) | Self::NoneOf(values) => {
                values.iter().map(ColumnValue::to_string).collect()
            }
            Self::Bound(_, value) => vec![value.to_string()],
            Self::Contains(texts) | Self::Starts(texts) => texts.clone(),
            Self::IsNull(is_null) => vec![is_null.to_string()],
        }
    }
}
