//! Rules about plugin releases and about the store itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::{Millis, PluginKind};

use super::TestDatabase;
use super::fixtures::{TODAY, digest, register};
use crate::{
    Catalog, ChangeOutcome, PluginRelease, ReleaseChange, ReleaseId, ReleaseOrigin, ReleaseState,
    lines,
};

pub(super) fn release(name: &str, version: &str, at: i64) -> PluginRelease {
    PluginRelease {
        id: ReleaseId { kind: PluginKind::Encoder, name: name.to_owned(), digest: digest(version) },
        version: version.to_owned(),
        bytes: 240_000,
        by: "embedded".to_owned(),
        installed_at: Millis(at),
        built_in: true,
        state: ReleaseState::Promoted,
        promotion: 0,
        pinned: false,
        reason: None,
        until: None,
        quarantines: 0,
        origin: None,
    }
}

fn change(release: &PluginRelease, to: ReleaseState) -> ReleaseChange {
    ReleaseChange {
        id: release.id.clone(),
        to,
        by: "ann".to_owned(),
        at: Millis(TODAY),
        reason: Some("because".to_owned()),
    }
}

/// Versions of the releases of csv that may serve, the best first.
async fn order(store: &Catalog) -> String {
    let lines = lines(&store.releases().await.unwrap());
    lines
        .iter()
        .find(|line| line.name == "csv")
        .map(|line| line.candidates.iter().map(|release| release.version.as_str()).collect())
        .unwrap()
}

pub(crate) async fn a_release_is_registered_once_and_keeps_its_state(place: TestDatabase) {
    let store = place.host().await;
    let releases = [
        release("csv", "b", TODAY),
        release("csv", "a", TODAY + 1),
        release("json", "c", TODAY - 1),
    ];
    for release in releases.iter().rev() {
        assert!(register(&store, release).await.unwrap());
    }
    let known = store.releases().await.unwrap();
    let unpromoted: Vec<PluginRelease> =
        known.iter().map(|release| PluginRelease { promotion: 0, ..release.clone() }).collect();
    assert_eq!(unpromoted, releases, "by name, oldest first");
    assert_eq!(
        known.iter().map(|release| release.promotion).collect::<Vec<_>>(),
        [3, 2, 1],
        "in the order of their coming"
    );

    let before = store.revision().await.unwrap();
    // Another start of the same binary, which knows nothing of what happened to the release since.
    let again = PluginRelease {
        installed_at: Millis(TODAY + 9),
        state: ReleaseState::Removed,
        ..releases[0].clone()
    };
    assert!(!register(&*place.host().await, &again).await.unwrap());
    assert_eq!(store.releases().await.unwrap(), known);
    assert_eq!(store.release_events().await.unwrap().len(), 3);
    assert_eq!(store.revision().await.unwrap(), before, "nothing to notice");
}

/// contract-14-digest.
pub(crate) async fn the_reference_of_a_release_follows_the_newest_and_outlasts_a_file(
    place: TestDatabase,
) {
    let store = place.host().await;
    let origin = |tag: &str| ReleaseOrigin {
        reference: format!("oci://localhost:5000/agency/csv:{tag}"),
        manifest: digest(tag),
    };
    let from =
        |origin: Option<ReleaseOrigin>| PluginRelease { origin, ..release("csv", "a", TODAY) };
    for (given, expected) in [
        (None, None),
        (Some(origin("1")), Some(origin("1"))),
        (Some(origin("2")), Some(origin("2"))),
        (None, Some(origin("2"))),
    ] {
        register(&store, &from(given)).await.unwrap();
        assert_eq!(store.releases().await.unwrap()[0].origin, expected);
    }
    let other = PluginRelease { origin: Some(origin("3")), ..release("csv", "b", TODAY) };
    assert!(register(&store, &other).await.unwrap());
    let known = store.releases().await.unwrap();
    let known = known.iter().find(|release| release.id == other.id).unwrap();
    assert_eq!(known.origin, other.origin);
    assert_eq!(store.release_events().await.unwrap().len(), 2, "a note is no event");
}

pub(crate) async fn what_may_not_become_of_a_release_does_not_happen(place: TestDatabase) {
    let store = place.host().await;
    let csv = release("csv", "a", TODAY);
    assert_eq!(
        store.change_release(&change(&csv, ReleaseState::Promoted)).await.unwrap(),
        ChangeOutcome::NoSuchRelease
    );
    register(&store, &csv).await.unwrap();
    let before = (store.revision().await.unwrap(), store.releases().await.unwrap());
    let refused = store.change_release(&change(&csv, ReleaseState::Installed)).await.unwrap();
    assert_eq!(refused, ChangeOutcome::NotAllowedFrom(ReleaseState::Promoted));
    assert_eq!((store.revision().await.unwrap(), store.releases().await.unwrap()), before);

    assert_eq!(
        store.change_release(&change(&csv, ReleaseState::RolledBack)).await.unwrap(),
        ChangeOutcome::Done
    );
    assert_eq!(store.revision().await.unwrap(), before.0 + 1);
    let stands = store.releases().await.unwrap().remove(0);
    assert_eq!(
        (stands.state, stands.reason.as_deref()),
        (ReleaseState::RolledBack, Some("because"))
    );
    let events = store.release_events().await.unwrap();
    let told: Vec<_> = events
        .iter()
        .map(|event| (event.what.as_str(), event.by.as_str(), event.reason.as_deref()))
        .collect();
    assert_eq!(told, [("promoted", "embedded", None), ("rolled_back", "ann", Some("because"))]);
}

pub(crate) async fn a_promotion_goes_before_earlier_ones(place: TestDatabase) {
    let store = place.host().await;
    let (a, b) = (release("csv", "a", TODAY), release("csv", "b", TODAY));
    register(&store, &a).await.unwrap();
    register(&store, &b).await.unwrap();
    assert_eq!(order(&store).await, "ba");
    store.change_release(&change(&a, ReleaseState::Promoted)).await.unwrap();
    assert_eq!(order(&store).await, "ab");
    store.change_release(&change(&a, ReleaseState::Quarantined)).await.unwrap();
    assert_eq!(order(&store).await, "b");
    store.change_release(&change(&b, ReleaseState::RolledBack)).await.unwrap();
    assert_eq!(order(&store).await, "", "known, and nothing may serve");
}

pub(crate) async fn a_name_has_one_pin_and_a_release_out_of_service_none(place: TestDatabase) {
    let store = place.host().await;
    let (a, b) = (release("csv", "a", TODAY), release("csv", "b", TODAY));
    register(&store, &a).await.unwrap();
    register(&store, &b).await.unwrap();
    let pin = async |release: &PluginRelease, to| {
        store.pin_release(&release.id, to, "ann", Millis(TODAY)).await.unwrap()
    };
    assert!(pin(&a, true).await && !pin(&a, true).await);
    assert_eq!(order(&store).await, "ab");
    assert!(pin(&b, true).await);
    assert_eq!(order(&store).await, "ba");
    assert_eq!(store.releases().await.unwrap().iter().filter(|release| release.pinned).count(), 1);
    store.change_release(&change(&b, ReleaseState::Quarantined)).await.unwrap();
    assert!(!pin(&b, true).await, "it may not serve");
    assert_eq!(order(&store).await, "a");
    store.change_release(&change(&b, ReleaseState::Promoted)).await.unwrap();
    assert!(store.releases().await.unwrap().iter().all(|release| !release.pinned));
    assert!(pin(&a, true).await && pin(&a, false).await && !pin(&a, false).await);
}

pub(crate) async fn a_store_describes_itself_and_takes_writes_until_it_is_closed(
    place: TestDatabase,
) {
    let store = place.host().await;
    store.check_writable().await.unwrap();
    assert_eq!(store.check_integrity().await.unwrap(), Vec::<String>::new());
    let description = store.describe();
    assert!(["sqlite", "postgres"].contains(&description.kind));
    assert!(!description.location.is_empty());
    store.close().await;
    let message = store.check_writable().await.unwrap_err().to_string();
    assert!(message.contains(&description.location), "{message}");
}
