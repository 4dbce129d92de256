//! Falls of a table that a refresh does not believe: a source that has lost most of its rows or
//! values is more often broken than right. Knows neither files nor the catalog.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
#[cfg(feature = "catalog")]
use yearbook_domain::PreviewFacts;

/// Largest part of a table's rows, and of each column's values, that may be gone from one snapshot
/// to the next: 0 to 1. Default 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MaxLoss(f64);

impl Default for MaxLoss {
    fn default() -> Self {
        Self(0.5)
    }
}

impl MaxLoss {
    /// Description of the values that there are.
    pub(crate) const EXPECTED: &str = "a number from 0 (nothing may be lost) to 1 (anything may)";

    /// Returns `None` unless `part` is within 0 to 1.
    #[must_use]
    pub fn new(part: f64) -> Option<Self> {
        (0.0..=1.0).contains(&part).then_some(Self(part))
    }

    /// Returns the sentence for the first fall that is too large, from a table of `rows` with the
    /// facts `old`, where they are known, to `new`.
    #[cfg(feature = "catalog")]
    pub(crate) fn describe_excess(
        self,
        rows: u64,
        old: Option<&PreviewFacts>,
        new: &PreviewFacts,
    ) -> Option<String> {
        let values = old.iter().flat_map(|old| &old.values).filter_map(|old| {
            let points = new.value(&old.column)?.points;
            Some((format!("finite values of column {}", old.column), old.points, points))
        });
        let mut counts = std::iter::once(("rows".to_owned(), rows, new.rows)).chain(values);
        let (what, before, after) = counts.find(|(_, before, after)| {
            before.saturating_sub(*after) as f64 > self.0 * *before as f64
        })?;
        let Self(max_loss) = self;
        Some(format!(
            "the number of {what} falls from {before} to {after}, by more than refresh.max_loss ({max_loss}); if the source is right, raise `yearbook.max_loss` in the descriptor and refresh again"
        ))
    }
}

impl<'de> Deserialize<'de> for MaxLoss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = f64::deserialize(deserializer)?;
        Self::new(part).ok_or_else(|| D::Error::custom(format!("expected {}", Self::EXPECTED)))
    }
}
