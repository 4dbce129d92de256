//! Rules about checks of sources: leases, the last check, and the answer that is published.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{Cadence, CheckOutcome, FailureCause, Millis};

use super::TestDatabase;
use super::fixtures::{DAY, HOUR, TODAY, digest, name, publish, snapshot_id};
use crate::{CatalogCache, CheckSummary, ClaimOutcome, FailedCheck, FailingSource, SourceAnswer};

const LEASE: Duration = Duration::from_secs(900);

fn answer(snapshot: &str) -> SourceAnswer {
    SourceAnswer {
        address: "https://example.org/cpi.csv?a=1".to_owned(),
        fetched_at: Millis(TODAY),
        etag: Some("W/\"v1\"".to_owned()),
        last_modified: None,
        content: digest("bytes"),
        descriptor: digest("words"),
        snapshot: snapshot_id(snapshot),
    }
}

fn failure() -> FailedCheck {
    FailedCheck { cause: FailureCause::Status, reason: "it's \"404\"".to_owned() }
}

pub(crate) async fn a_source_is_claimed_by_one_refresh_at_a_time_contract_8(place: TestDatabase) {
    let (one, other) = (place.host().await, place.host().await);
    let cpi = name("cpi");
    let at = |later: i64| Some(Millis(TODAY + later));
    let state = one.source_state(&cpi).await.unwrap();
    assert_eq!((state.checked_at, state.current, state.last_check), (None, None, None));
    assert!((state.now.0 - one.database_time().await.unwrap().0).abs() < 60_000);
    // Both at once, of a source that nobody knows yet.
    let (first, second) = tokio::join!(
        one.claim_source(&cpi, LEASE, false, at(0)),
        other.claim_source(&cpi, LEASE, false, at(0))
    );
    let held = ClaimOutcome::Held(Millis(TODAY + 900_000));
    let outcomes = [first.unwrap(), second.unwrap()];
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == held).count(), 1, "{outcomes:?}");
    assert_eq!(one.claim_source(&cpi, LEASE, false, at(899_999)).await.unwrap(), held);
    let claimed = |outcome| matches!(outcome, ClaimOutcome::Claimed(_));
    assert!(claimed(one.claim_source(&cpi, LEASE, true, at(1)).await.unwrap()), "forced");
    assert!(claimed(other.claim_source(&cpi, LEASE, false, at(900_001)).await.unwrap()), "ended");
    one.release_source(&cpi).await.unwrap();
    assert!(claimed(one.claim_source(&cpi, LEASE, false, at(900_002)).await.unwrap()));
    one.record_failed_check(&cpi, &failure(), at(900_003)).await.unwrap();
    assert!(claimed(other.claim_source(&cpi, LEASE, false, at(900_004)).await.unwrap()));
    // By the clock that every host shares.
    let gdp = name("gdp");
    assert!(claimed(one.claim_source(&gdp, LEASE, false, None).await.unwrap()));
    assert!(!claimed(other.claim_source(&gdp, LEASE, false, None).await.unwrap()));
}

pub(crate) async fn a_good_check_moves_checked_at_of_what_it_checked_contract_8(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let cpi = name("cpi");
    let record = async |outcome, snapshot: &str, later: i64| {
        let at = Some(Millis(TODAY + later));
        let answer = answer(snapshot);
        store.record_good_check(&cpi, outcome, &answer.snapshot, Some(&answer), at).await.unwrap()
    };
    let unchanged = CheckOutcome::Unchanged;
    let revision = store.revision().await.unwrap();
    assert!(record(unchanged, "a", DAY).await);
    assert!(store.revision().await.unwrap() > revision, "servers show the new time");
    let state = store.source_state(&cpi).await.unwrap();
    assert_eq!(state.checked_at, Some(Millis(TODAY + DAY)));
    assert_eq!((state.current, state.answer), (Some(snapshot_id("a")), Some(answer("a"))));
    let check = state.last_check.unwrap();
    assert_eq!(
        (check.outcome, check.ended_at, check.cause, check.reason),
        (unchanged, Millis(TODAY + DAY), None, None)
    );
    // A failure keeps the answer and the time.
    store.record_failed_check(&cpi, &failure(), Some(Millis(TODAY + 2 * DAY))).await.unwrap();
    let state = store.source_state(&cpi).await.unwrap();
    assert_eq!(
        (state.checked_at, state.answer.clone()),
        (Some(Millis(TODAY + DAY)), Some(answer("a")))
    );
    let hourly = state.next_check(Some(Cadence::Hourly), Millis(TODAY + 2 * DAY));
    assert_eq!(hourly, Some(Millis(TODAY + 2 * DAY + HOUR)), "not within the hour");
    let check = state.last_check.unwrap();
    assert_eq!(check.outcome, CheckOutcome::Failed);
    assert_eq!(
        (check.cause, check.reason),
        (Some(FailureCause::Status), Some("it's \"404\"".to_owned()))
    );
    // The time is never turned back.
    assert!(record(unchanged, "a", HOUR).await);
    assert_eq!(store.source_state(&cpi).await.unwrap().checked_at, Some(Millis(TODAY + DAY)));
    // Another publisher was faster: what was checked is not what is served.
    publish(&store, "cpi", "b", TODAY + 3 * DAY).await;
    assert!(!record(unchanged, "a", 4 * DAY).await);
    let state = store.source_state(&cpi).await.unwrap();
    assert_eq!((state.checked_at, state.answer), (Some(Millis(TODAY + 3 * DAY)), None));
    assert!(record(CheckOutcome::Published, "b", 4 * DAY).await);
    // A retired dataset is not moved, nor one that never was.
    store.retire_dataset(&cpi).await.unwrap();
    assert!(!record(unchanged, "b", 5 * DAY).await);
    let state = store.source_state(&cpi).await.unwrap();
    assert!(state.retired_at.is_some());
    assert_eq!(state.checked_at, Some(Millis(TODAY + 4 * DAY)));
    let nothing = name("nothing");
    let recorded =
        store.record_good_check(&nothing, unchanged, &snapshot_id("a"), None, None).await;
    assert!(!recorded.unwrap());
}

pub(crate) async fn last_checks_are_counted_for_metrics_contract_8(place: TestDatabase) {
    let store = place.host().await;
    let live = CatalogCache::start(Arc::clone(&store), Duration::from_secs(3600)).await.unwrap();
    assert_eq!(*live.check_summary().await.unwrap(), CheckSummary::default());
    for dataset in ["cpi", "gdp", "old"] {
        publish(&store, dataset, dataset, TODAY).await;
        let snapshot = snapshot_id(dataset);
        let outcome = CheckOutcome::Unchanged;
        let at = Some(Millis(TODAY));
        store.record_good_check(&name(dataset), outcome, &snapshot, None, at).await.unwrap();
    }
    // Claimed, and not ended yet.
    store.claim_source(&name("fresh"), LEASE, false, None).await.unwrap();
    for (dataset, later) in [("gdp", 2), ("never", 1), ("old", 0)] {
        let at = Some(Millis(TODAY + later));
        store.record_failed_check(&name(dataset), &failure(), at).await.unwrap();
    }
    store.retire_dataset(&name("old")).await.unwrap();
    live.refresh().await.unwrap();
    let summary = live.check_summary().await.unwrap();
    let failing = |dataset, later| FailingSource {
        dataset: name(dataset),
        cause: FailureCause::Status,
        failed_at: Millis(TODAY + later),
    };
    assert_eq!(summary.failing, [failing("never", 1), failing("gdp", 2)]);
    let mut outcomes = summary.outcomes.clone();
    outcomes.sort_by_key(|(outcome, _)| outcome.as_str());
    assert_eq!(outcomes, [(CheckOutcome::Failed, 2), (CheckOutcome::Unchanged, 1)]);
    // A publication by hand is newer than the failure.
    publish(&store, "gdp", "by hand", TODAY + DAY).await;
    let summary = store.check_summary().await.unwrap();
    assert_eq!(summary.failing, [failing("never", 1)]);
}
