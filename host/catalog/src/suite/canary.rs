//! Rules about what hosts observe of plugin releases and conclude from it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::Millis;

use super::TestDatabase;
use super::fixtures::{TODAY, digest, register};
use super::releases::release;
use crate::{
    CanaryTotals, Catalog, PluginRelease, ReleaseChange, ReleaseState, ReleaseUsage,
    StateTransition, lines,
};

fn state_transition(
    release: &PluginRelease,
    from: ReleaseState,
    to: ReleaseState,
) -> StateTransition {
    let change = ReleaseChange {
        id: release.id.clone(),
        to,
        by: "canary".to_owned(),
        at: Millis(TODAY),
        reason: Some("because".to_owned()),
    };
    StateTransition { change, from, against: None, until: None }
}

fn canary_totals(
    release: &PluginRelease,
    samples: u64,
    memory: u64,
    fault: Option<&str>,
) -> CanaryTotals {
    CanaryTotals {
        id: release.id.clone(),
        incumbent: digest("s"),
        samples,
        rewritten: 1,
        cpu_ns: samples * 10,
        incumbent_ns: samples * 9,
        memory,
        incumbent_memory: 7,
        fault: fault.map(str::to_owned),
        first_at: Millis(TODAY - i64::try_from(samples).unwrap()),
    }
}

/// One that serves and one that waits.
async fn register_two(store: &Catalog) -> (PluginRelease, PluginRelease) {
    let serves = release("csv", "s", TODAY);
    let waits = PluginRelease {
        state: ReleaseState::Installed,
        built_in: false,
        ..release("csv", "w", TODAY)
    };
    assert!(register(store, &serves).await.unwrap() && register(store, &waits).await.unwrap());
    (serves, waits)
}

pub(crate) async fn what_hosts_saw_of_a_release_is_added_up(place: TestDatabase) {
    let (one, other) = (place.host().await, place.host().await);
    let (serves, waits) = register_two(&one).await;
    let revision = one.revision().await.unwrap();
    one.add_canary_totals(&canary_totals(&waits, 3, 20, None)).await.unwrap();
    let sum =
        other.add_canary_totals(&canary_totals(&waits, 5, 10, Some("a wrong byte"))).await.unwrap();
    let last = one.add_canary_totals(&canary_totals(&waits, 1, 5, Some("another"))).await.unwrap();
    assert_eq!((sum.samples, sum.rewritten, sum.cpu_ns, sum.incumbent_ns), (8, 2, 80, 72));
    assert_eq!(
        (last.samples, last.memory, last.incumbent_memory, last.first_at),
        (9, 20, 7, Millis(TODAY - 5))
    );
    assert_eq!(last.fault.as_deref(), Some("a wrong byte"), "the first");
    assert_eq!(other.canary_totals().await.unwrap(), [last]);

    let used = |responses, failures, at| ReleaseUsage {
        id: serves.id.clone(),
        responses,
        failures,
        last_at: Millis(at),
    };
    one.add_release_usage(&[used(5, 1, 9)]).await.unwrap();
    other.add_release_usage(&[used(2, 0, 3)]).await.unwrap();
    assert_eq!(one.release_usage().await.unwrap(), [used(7, 1, 9)]);
    assert_eq!(
        one.revision().await.unwrap(),
        revision,
        "no host has to read the catalog again for it"
    );
}

pub(crate) async fn of_two_hosts_that_conclude_the_same_one_records_it(place: TestDatabase) {
    let (one, other) = (place.host().await, place.host().await);
    let (_, waits) = register_two(&one).await;
    let verdict = state_transition(&waits, ReleaseState::Installed, ReleaseState::Promoted);
    let (here, there) =
        tokio::join!(one.transition_release(&verdict), other.transition_release(&verdict));
    assert_eq!(u8::from(here.unwrap()) + u8::from(there.unwrap()), 1);
    let events = one.release_events().await.unwrap();
    assert_eq!(events.iter().filter(|event| event.by == "canary").count(), 1);
    assert_eq!(lines(&one.releases().await.unwrap())[0].candidates[0].id, waits.id);
}

pub(crate) async fn a_conclusion_that_no_longer_holds_is_not_recorded(place: TestDatabase) {
    let store = place.host().await;
    let (serves, waits) = register_two(&store).await;
    let promote = state_transition(&waits, ReleaseState::Installed, ReleaseState::Promoted);
    let against = StateTransition { against: Some(digest("x")), ..promote.clone() };
    assert!(
        !store.transition_release(&against).await.unwrap(),
        "what it was compared with does not serve"
    );
    assert!(
        !store
            .transition_release(&state_transition(
                &waits,
                ReleaseState::Promoted,
                ReleaseState::Quarantined
            ))
            .await
            .unwrap()
    );
    store.pin_release(&serves.id, true, "ann", Millis(TODAY)).await.unwrap();
    assert!(
        !store
            .transition_release(&state_transition(
                &serves,
                ReleaseState::Promoted,
                ReleaseState::Quarantined
            ))
            .await
            .unwrap(),
        "pinned"
    );
    assert!(
        store
            .transition_release(&StateTransition { against: Some(serves.id.digest), ..promote })
            .await
            .unwrap()
    );
}

pub(crate) async fn quarantines_are_counted_until_an_operator_promotes_the_release(
    place: TestDatabase,
) {
    let store = place.host().await;
    let (serves, _) = register_two(&store).await;
    let stands = async || {
        let found = store
            .releases()
            .await
            .unwrap()
            .into_iter()
            .find(|release| release.id == serves.id)
            .unwrap();
        (found.state, found.quarantines, found.until)
    };
    use ReleaseState::{Promoted, Quarantined};
    for round in 1..=2 {
        let quarantine = StateTransition {
            until: Some(Millis(round)),
            ..state_transition(&serves, Promoted, Quarantined)
        };
        assert!(store.transition_release(&quarantine).await.unwrap());
        assert_eq!(
            stands().await,
            (Quarantined, u32::try_from(round).unwrap(), Some(Millis(round)))
        );
        assert!(
            store
                .transition_release(&state_transition(&serves, Quarantined, Promoted))
                .await
                .unwrap()
        );
        assert_eq!(stands().await, (Promoted, u32::try_from(round).unwrap(), None));
    }
    let change = state_transition(&serves, Promoted, Promoted).change;
    store.change_release(&change).await.unwrap();
    assert_eq!(stands().await, (Promoted, 0, None));
}

pub(crate) async fn a_release_that_is_installed_anew_is_tried_anew(place: TestDatabase) {
    let store = place.host().await;
    let (_, waits) = register_two(&store).await;
    store.add_canary_totals(&canary_totals(&waits, 3, 20, Some("a wrong byte"))).await.unwrap();
    assert!(
        store
            .transition_release(&state_transition(
                &waits,
                ReleaseState::Installed,
                ReleaseState::RolledBack
            ))
            .await
            .unwrap()
    );
    assert_eq!(store.canary_totals().await.unwrap().len(), 1);
    let anew = state_transition(&waits, ReleaseState::RolledBack, ReleaseState::Installed).change;
    store.change_release(&anew).await.unwrap();
    assert_eq!(store.canary_totals().await.unwrap(), []);
    assert_eq!(
        lines(&store.releases().await.unwrap())[0].waiting.as_ref().map(|release| &release.id),
        Some(&waits.id)
    );
}

pub(crate) async fn a_quarantine_that_ends_passes_nothing_that_was_promoted_meanwhile_contract_6(
    place: TestDatabase,
) {
    use ReleaseState::{Installed, Promoted, Quarantined};

    let store = place.host().await;
    let installed = |version| PluginRelease { built_in: false, ..release("csv", version, TODAY) };
    let (old, failed, fix) = (installed("o"), installed("f"), installed("x"));
    assert!(register(&store, &old).await.unwrap() && register(&store, &failed).await.unwrap());
    let settle = async |from, to| {
        store.transition_release(&state_transition(&failed, from, to)).await.unwrap()
    };
    // Versions that may serve, the best first, and the one that waits.
    let order = async || {
        let line = lines(&store.releases().await.unwrap()).remove(0);
        let candidates: String =
            line.candidates.iter().map(|release| release.version.as_str()).collect();
        (candidates, line.waiting.map(|release| release.version))
    };
    // It waits for the place of an older release, which has not replaced it.
    assert!(settle(Promoted, Quarantined).await && settle(Quarantined, Installed).await);
    assert_eq!(order().await, ("o".to_owned(), Some("f".to_owned())));
    assert!(settle(Installed, Promoted).await);
    assert_eq!(order().await, ("fo".to_owned(), None));

    assert!(settle(Promoted, Quarantined).await && register(&store, &fix).await.unwrap());
    assert!(settle(Quarantined, Installed).await);
    assert_eq!(order().await, ("xo".to_owned(), None));
    assert!(settle(Installed, Quarantined).await && settle(Quarantined, Promoted).await);
    assert_eq!(order().await, ("xfo".to_owned(), None));
    // An operator's word counts as always.
    let change = state_transition(&failed, Promoted, Promoted).change;
    store.change_release(&change).await.unwrap();
    assert_eq!(order().await, ("fxo".to_owned(), None));
}
