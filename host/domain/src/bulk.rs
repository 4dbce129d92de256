//! Entitlement to download a stored file whole (spec-4.3-plan, spec-5-licence,
//! contract-4-bulk-best). Never decides where the file lies or how it travels.

use std::sync::Arc;

use crate::plan::BulkEntitlement;
use crate::query::{last_value, scalar};
use crate::{Dataset, DatasetName, Namespace, PlanLimits, Refusal, Snapshot, ValidationError};

/// Media type of every stored file.
pub const FILE_MEDIA_TYPE: &str = "application/vnd.apache.parquet";

/// Extension of a stored file's name.
pub const FILE_EXTENSION: &str = "parquet";

/// Snapshot of a bulk download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The last snapshot from before the first of this month (UTC), or the oldest there is.
    Monthly,
    /// The newest one.
    Current,
}

/// A file that may be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkPlan {
    /// Name of the dataset.
    pub dataset: DatasetName,
    /// Its namespace.
    pub namespace: Namespace,
    /// The version, with its stored file.
    pub snapshot: Arc<Snapshot>,
    /// By which of its names it was chosen.
    pub freshness: Freshness,
}

impl Freshness {
    /// The values of `freshness`, in the order in which a problem lists them.
    const ALL: [Self; 2] = [Self::Monthly, Self::Current];

    /// The parameter `freshness`; `None` when it is left out.
    ///
    /// # Errors
    /// `literal_error` for another word.
    pub fn parse(pairs: &[(String, String)]) -> Result<Option<Self>, ValidationError> {
        let Some(raw) = last_value(pairs, "freshness") else { return Ok(None) };
        scalar::check_literal("freshness", raw, Self::ALL.map(Self::as_str))?;
        Ok(Self::ALL.into_iter().find(|freshness| freshness.as_str() == raw))
    }

    /// The value of `freshness` that means this.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Monthly => "monthly",
            Self::Current => "current",
        }
    }

    /// Resolves the requested freshness; without one, the best that the plan is entitled to. A plan
    /// that is entitled to nothing is refused the newest.
    #[must_use]
    pub fn resolve(requested: Option<Self>, limits: PlanLimits) -> Self {
        requested.unwrap_or(match limits.bulk {
            BulkEntitlement::Monthly => Self::Monthly,
            BulkEntitlement::None | BulkEntitlement::Current => Self::Current,
        })
    }
}

/// Decides whether `snapshot`, the one of `dataset` that `freshness` names, may be sent.
/// `limits` are those of the plan of the key that was checked.
///
/// # Errors
/// [`Refusal::BulkForbidden`] when the licence forbids it, of this snapshot or by now; then
/// [`Refusal::PaymentRequired`].
pub fn plan_download(
    dataset: &Dataset,
    snapshot: Arc<Snapshot>,
    freshness: Freshness,
    limits: PlanLimits,
) -> Result<BulkPlan, Refusal> {
    // A licence that was narrowed holds for older files too: they would be redistributed today.
    if !(dataset.current.bulk_redistribution && snapshot.bulk_redistribution) {
        return Err(Refusal::BulkForbidden);
    }
    let advice = match (limits.bulk, freshness) {
        (BulkEntitlement::Current, _) | (BulkEntitlement::Monthly, Freshness::Monthly) => None,
        (BulkEntitlement::Monthly, Freshness::Current) => Some(
            "The current file needs an Enterprise plan; leave freshness out or ask for freshness=monthly.",
        ),
        (BulkEntitlement::None, _) => Some(
            "Bulk downloads need a Pro or Enterprise plan; upgrade, or page through /data with an explicit limit.",
        ),
    };
    match advice {
        Some(advice) => Err(Refusal::PaymentRequired { advice: advice.to_owned() }),
        None => Ok(BulkPlan {
            dataset: dataset.name.clone(),
            namespace: dataset.namespace.clone(),
            snapshot,
            freshness,
        }),
    }
}

#[cfg(test)]
mod tests;
