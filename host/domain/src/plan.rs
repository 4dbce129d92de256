//! Plans and what each allows (spec-5-plans).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::words;

/// Plan of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// No payment; for trying the service.
    Free,
    /// Paid, limited by month.
    Starter,
    /// Unlimited requests, monthly bulk files.
    Pro,
    /// Unlimited requests, current bulk files.
    Enterprise,
}

words! { Plan { Free = "free", Starter = "starter", Pro = "pro", Enterprise = "enterprise" } }

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
            .ok_or_else(|| format!("unknown plan {text:?}: use free, starter, pro or enterprise"))
    }
}

/// Bulk snapshots that a plan may download.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkEntitlement {
    /// None: 402.
    None,
    /// The monthly snapshot.
    Monthly,
    /// The monthly and the current snapshot.
    Current,
}

/// Limits of one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanLimits {
    /// Charged requests a calendar month (UTC); `None` if they are unlimited.
    pub requests_per_month: Option<u64>,
    /// Rows a request; `None` if they are unlimited.
    pub row_cap: Option<u64>,
    /// Bulk downloads.
    pub bulk: BulkEntitlement,
    /// Rows that the transforms of a request may see; `None` if they are unlimited.
    pub transform_rows: Option<u64>,
}

/// The limits of every plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanTable {
    /// Limits of [`Plan::Free`].
    pub free: PlanLimits,
    /// Limits of [`Plan::Starter`].
    pub starter: PlanLimits,
    /// Limits of [`Plan::Pro`].
    pub pro: PlanLimits,
    /// Limits of [`Plan::Enterprise`].
    pub enterprise: PlanLimits,
}

impl PlanTable {
    /// Returns the limits of `plan`.
    #[must_use]
    pub fn limits(&self, plan: Plan) -> PlanLimits {
        match plan {
            Plan::Free => self.free,
            Plan::Starter => self.starter,
            Plan::Pro => self.pro,
            Plan::Enterprise => self.enterprise,
        }
    }
}

impl Default for PlanTable {
    /// The table of spec-8-cap, spec-8-requests and contract-16-limit.
    fn default() -> Self {
        let limited = |requests| PlanLimits {
            requests_per_month: Some(requests),
            row_cap: Some(50_000),
            bulk: BulkEntitlement::None,
            transform_rows: Some(1_000_000),
        };
        let unlimited = |bulk| PlanLimits {
            requests_per_month: None,
            row_cap: None,
            bulk,
            transform_rows: Some(100_000_000),
        };
        Self {
            free: limited(10),
            starter: limited(1_000),
            pro: unlimited(BulkEntitlement::Monthly),
            enterprise: unlimited(BulkEntitlement::Current),
        }
    }
}
