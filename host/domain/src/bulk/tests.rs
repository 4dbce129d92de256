//! The table of entitlements.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::query::parse_pairs;
use crate::{Millis, Plan, PlanTable, fixtures};

fn snapshot(title: &str, allowed: bool) -> Arc<Snapshot> {
    Arc::new(Snapshot {
        title: Some(title.to_owned()),
        bulk_redistribution: allowed,
        ..fixtures::snapshot(Vec::new())
    })
}

/// Answer to a caller of `plan` for the query `raw`: the snapshot's title, or the kind of refusal.
fn check(key: Plan, raw: &str, (monthly, current): (bool, bool), expected: &str) {
    let dataset = Dataset {
        name: DatasetName::parse("d").unwrap(),
        namespace: Namespace::parse("n").unwrap(),
        checked_at: Millis(0),
        column_changes: 0,
        current: snapshot("current", current),
        snapshots: Vec::new(),
    };
    let limits = PlanTable::default().limits(key);
    let freshness = Freshness::resolve(Freshness::parse(&parse_pairs(raw)).unwrap(), limits);
    let named = match freshness {
        Freshness::Monthly => snapshot("monthly", monthly),
        Freshness::Current => Arc::clone(&dataset.current),
    };
    let got = match plan_download(&dataset, named, freshness, limits) {
        Ok(plan) => plan.snapshot.title.clone().unwrap(),
        Err(Refusal::BulkForbidden) => "403".to_owned(),
        Err(Refusal::PaymentRequired { .. }) => "402".to_owned(),
        Err(other) => format!("{other:?}"),
    };
    assert_eq!(got, expected, "{key} {raw}");
}

#[test]
fn plans_get_the_files_that_they_are_entitled_to_contract_5() {
    let allowed = (true, true);
    for key in [Plan::Free, Plan::Starter] {
        for raw in ["", "freshness=monthly", "freshness=current"] {
            check(key, raw, allowed, "402");
        }
    }
    check(Plan::Pro, "", allowed, "monthly");
    check(Plan::Pro, "freshness=monthly", allowed, "monthly");
    check(Plan::Pro, "freshness=current", allowed, "402");
    check(Plan::Enterprise, "", allowed, "current");
    check(Plan::Enterprise, "freshness=monthly", allowed, "monthly");
    check(Plan::Enterprise, "freshness=current", allowed, "current");
    check(Plan::Enterprise, "freshness=current&freshness=monthly", allowed, "monthly");
}

#[test]
fn a_licence_forbids_on_every_plan_and_before_the_plan_spec_5_6() {
    for key in Plan::ALL {
        for raw in ["", "freshness=monthly", "freshness=current"] {
            check(key, raw, (true, false), "403");
        }
        check(key, "freshness=monthly", (false, true), "403");
    }
    check(Plan::Enterprise, "", (false, true), "current");
}

#[test]
fn an_unknown_freshness_lists_the_known_ones_contract_2() {
    let problem = Freshness::parse(&parse_pairs("freshness=daily")).unwrap_err();
    assert_eq!(
        (problem.kind, problem.msg.as_str()),
        ("literal_error", "Input should be 'monthly' or 'current'")
    );
    assert!(Freshness::parse(&parse_pairs("freshness=")).is_err());
    assert_eq!(Freshness::parse(&parse_pairs("other=1")), Ok(None));
}
