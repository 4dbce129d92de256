//! Summaries of values, one after the other: sums and means are exact and rounded once, and the
//! order of the values counts for the first and the last one alone.

use std::cmp::Ordering;

use yearbook_sdk::exact::Sum;
use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{MadeType, OutputColumn};
use yearbook_sdk::{DataType, Field};

use crate::Number;

/// Kind of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryKind {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The first one, null or not.
    First,
    /// The last one, null or not.
    Last,
    /// The least one.
    Min,
    /// The greatest one.
    Max,
    /// The number of those that are not null.
    Count,
}

impl SummaryKind {
    /// Returns the one of a name that clients write.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Self::Sum,
            "mean" => Self::Mean,
            "first" => Self::First,
            "last" => Self::Last,
            "min" => Self::Min,
            "max" => Self::Max,
            "count" => Self::Count,
            _ => return None,
        })
    }

    /// Returns the column of summaries of a field, with its type. A count has no unit.
    #[must_use]
    pub fn output_column(self, field: &Field) -> (OutputColumn, MadeType) {
        let made_type = match self {
            Self::Sum | Self::Mean => MadeType::Number,
            Self::Count => MadeType::Integer,
            _ if *field.value_type() == DataType::Int64 => MadeType::Integer,
            _ => MadeType::Number,
        };
        let unit = field.unit().filter(|_| self != Self::Count);
        let column = OutputColumn {
            role: Some(Role::Value),
            unit: unit.map(str::to_owned),
            ..OutputColumn::made(&field.name, made_type)
        };
        (column, made_type)
    }
}

/// A summary of the values so far.
#[derive(Debug, Clone)]
pub struct Summary {
    kind: SummaryKind,
    rows: u64,
    /// Values that are not null.
    count: u64,
    /// The value that it has come to, where it is one of them.
    chosen: Option<Number>,
    total: Sum,
    /// The weights, where there are some.
    weights: Option<Box<Sum>>,
}

impl Summary {
    /// A summary of nothing.
    #[must_use]
    pub fn new(kind: SummaryKind) -> Self {
        let total = Sum::default();
        Self { kind, rows: 0, count: 0, chosen: None, total, weights: None }
    }

    /// Takes a value.
    pub fn add(&mut self, value: Option<Number>) {
        let is_first = self.rows == 0;
        self.rows += 1;
        self.count += u64::from(value.is_some());
        match (self.kind, value) {
            (SummaryKind::First, value) if is_first => self.chosen = value,
            (SummaryKind::Last, value) => self.chosen = value,
            (SummaryKind::Sum | SummaryKind::Mean, Some(Number::Number(value))) => {
                self.total.add(value);
            }
            (SummaryKind::Sum | SummaryKind::Mean, Some(Number::Integer(value))) => {
                self.total.add_integer(value);
            }
            (SummaryKind::Min, Some(value)) => self.choose(value, Ordering::Less),
            (SummaryKind::Max, Some(value)) => self.choose(value, Ordering::Greater),
            _ => {}
        }
    }

    /// Takes a value with its weight, for a mean. Without one of the two it takes neither.
    pub fn add_weighted(&mut self, value: Option<Number>, weight: Option<Number>) {
        let weights = self.weights.get_or_insert_default();
        let (Some(value), Some(weight)) = (value, weight) else { return };
        self.count += 1;
        doubles(weight).for_each(|part| weights.add(part));
        let (nearest, nearest_weight) = (value.to_f64(), weight.to_f64());
        if !(nearest.is_finite() && nearest_weight.is_finite()) {
            // Parts of an integer may be 0, or of two signs: times an infinity they add up to NaN.
            self.total.add_product(nearest, nearest_weight);
            return;
        }
        for weight in doubles(weight) {
            for part in doubles(value) {
                self.total.add_product(part, weight);
            }
        }
    }

    /// Returns what it has come to; `None` of nothing, and of weights without a sum.
    #[must_use]
    pub fn result(&self) -> Option<Number> {
        match self.kind {
            SummaryKind::Count => i64::try_from(self.count).ok().map(Number::Integer),
            SummaryKind::Sum | SummaryKind::Mean if self.count == 0 => None,
            SummaryKind::Sum => Some(Number::Number(self.total.value())),
            SummaryKind::Mean => match self.weights.as_deref() {
                None => Some(Number::Number(self.total.mean(self.count))),
                Some(weights) if weights.value() == 0.0 => None,
                Some(weights) => Some(Number::Number(self.total.quotient(weights))),
            },
            _ => self.chosen,
        }
    }

    /// Takes a value that is NaN, or lies on this side of the one so far; of equal ones the first
    /// stays.
    fn choose(&mut self, value: Number, side: Ordering) {
        let replaces = match (self.chosen, value) {
            (Some(Number::Integer(old)), Number::Integer(new)) => new.cmp(&old) == side,
            (Some(old), new) => {
                let (old, new) = (old.to_f64(), new.to_f64());
                !old.is_nan() && new.partial_cmp(&old).is_none_or(|order| order == side)
            }
            (None, _) => true,
        };
        if replaces {
            self.chosen = Some(value);
        }
    }
}

/// Returns the doubles of which a value is the sum.
fn doubles(value: Number) -> impl Iterator<Item = f64> {
    let (high, low) = match value {
        Number::Number(value) => (value, None),
        #[expect(clippy::cast_precision_loss, reason = "32 bits each")]
        Number::Integer(value) => {
            let low = value & 0xffff_ffff;
            ((value - low) as f64, Some(low as f64))
        }
    };
    std::iter::once(high).chain(low)
}
