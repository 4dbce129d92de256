//! Rules about versions that retention dropped and that can be read as of a time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::{Digest, Millis, SnapshotId};

use super::fixtures::{DAY, TODAY, commit, digest, name, publication, snapshot, snapshot_id};
use super::{TestDatabase, changes};
use crate::{Catalog, PastVersion, Publication, Retention, VersionAt};

const KEEP: Retention = Retention { snapshots: 1, hours: 0, history: true };

/// A version that follows `before`, without labels, which no changes give back.
fn following(id: &str, before: &str, day: i64) -> Publication {
    plain(changes::following(before, id, TODAY + day * DAY))
}

fn plain(mut publication: Publication) -> Publication {
    let columns = publication.snapshot.columns.iter_mut();
    columns.for_each(|column| column.meaning = None);
    publication
}

/// Versions `a` to `e` on five days; those before the last two of this month are dropped.
async fn history(store: &Catalog) {
    commit(store, &plain(publication("cpi", "a", TODAY - 5 * DAY)), KEEP).await.unwrap();
    for (id, before, day) in [("b", "a", -4), ("c", "b", -3), ("d", "c", -2), ("e", "d", -1)] {
        commit(store, &following(id, before, day), KEEP).await.unwrap();
    }
}

async fn at(store: &Catalog, day: i64) -> VersionAt {
    store.version_at(&name("cpi"), Millis(TODAY + day * DAY)).await.unwrap().unwrap()
}

fn retained(found: VersionAt) -> SnapshotId {
    let VersionAt::Retained(snapshot) = found else { panic!("{found:?}") };
    snapshot.id
}

fn past(found: VersionAt) -> PastVersion {
    let VersionAt::Past(past) = found else { panic!("{found:?}") };
    *past
}

pub(crate) async fn a_time_names_the_version_that_was_current_contract_21(place: TestDatabase) {
    let store = place.host().await;
    assert_eq!(store.version_at(&name("cpi"), Millis(TODAY)).await.unwrap(), None);
    history(&store).await;
    assert_eq!(at(&store, -6).await, VersionAt::NotPublishedYet(Millis(TODAY - 5 * DAY)));
    // The oldest of this month is what `monthly` names.
    assert_eq!(retained(at(&store, -5).await), snapshot_id("a"));
    for (day, id, version) in [(-4, "b", 1), (-3, "c", 2), (-2, "d", 3)] {
        let found = past(at(&store, day).await);
        assert_eq!(
            (found.snapshot.id, found.version, found.file_kept),
            (snapshot_id(id), version, false)
        );
        assert_eq!(store.past_version(&name("cpi"), &snapshot_id(id)).await.unwrap(), Some(found));
    }
    assert_eq!(retained(at(&store, 0).await), snapshot_id("e"));
    assert_eq!(store.past_version(&name("cpi"), &snapshot_id("e")).await.unwrap(), None);
}

pub(crate) async fn what_leads_back_to_a_version_is_known_and_kept_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    history(&store).await;
    let found = past(at(&store, -4).await);
    let segment = store.restoration(&name("cpi"), &found).await.unwrap().unwrap();
    assert_eq!((segment.first, segment.last.id), (1, snapshot_id("e")));
    let steps: Vec<_> = segment.changes.iter().map(|set| (set.from, set.to, set.version)).collect();
    let step = |from: &str, to: &str, version| (snapshot_id(from), snapshot_id(to), version);
    assert_eq!(steps, [step("b", "c", 2), step("c", "d", 3), step("d", "e", 4)]);
    let files: Vec<Digest> =
        store.referenced_files().await.unwrap().into_iter().map(|file| file.sha256).collect();
    for set in &segment.changes {
        assert!(files.contains(&set.file.sha256), "{}", set.version);
    }
    assert!(!files.contains(&snapshot("b", 0).file.sha256), "its file is not needed");

    // When what `monthly` names is another month's, the changes move and lead back all the same.
    commit(&store, &following("f", "e", 40), KEEP).await.unwrap();
    assert_eq!(past(at(&store, -5).await).snapshot.id, snapshot_id("a"));
    let segment = store.restoration(&name("cpi"), &found).await.unwrap().unwrap();
    assert_eq!((segment.last.id, segment.changes.len()), (snapshot_id("e"), 3));
    let known = store.known_history(&name("cpi"), 5).await.unwrap().unwrap();
    assert_eq!((known.segments.len(), known.times.len(), known.credits.len()), (1, 6, 6));
    assert_eq!(known.segments[0].changes.len(), 5);
    let older = store.known_history(&name("cpi"), 2).await.unwrap().unwrap();
    assert_eq!(older.times.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
}

pub(crate) async fn a_file_written_anew_leads_back_all_the_same_contract_21(place: TestDatabase) {
    let store = place.host().await;
    let now = store.database_time().await.unwrap().0;
    let (first, second) = (now - 90 * DAY, now - 60 * DAY);
    commit(&store, &plain(publication("cpi", "a", first)), KEEP).await.unwrap();
    commit(&store, &plain(changes::following("a", "b", second)), KEEP).await.unwrap();
    assert_eq!(store.apply_retention(KEEP, false).await.unwrap().len(), 1);
    let mut repaired = plain(publication("cpi", "b", now));
    repaired.snapshot.file.sha256 = digest("f");
    commit(&store, &repaired, KEEP).await.unwrap();
    let found = past(store.version_at(&name("cpi"), Millis(first)).await.unwrap().unwrap());
    let segment = store.restoration(&name("cpi"), &found).await.unwrap().unwrap();
    assert_eq!((segment.last.id, segment.changes.len()), (snapshot_id("b"), 1));
    assert_eq!(segment.last.file, repaired.snapshot.file);
}

pub(crate) async fn a_version_without_a_way_back_keeps_its_file_contract_21(place: TestDatabase) {
    let store = place.host().await;
    let mut keyless = following("c", "b", -3);
    keyless.snapshot.primary_key.clear();
    let mut unknown = following("d", "c", -2);
    unknown.changes = None;
    commit(&store, &plain(publication("cpi", "a", TODAY - 5 * DAY)), KEEP).await.unwrap();
    let labelled = changes::following("a", "b", TODAY - 4 * DAY);
    for next in [labelled, keyless, unknown, following("e", "d", -1), following("f", "e", 0)] {
        commit(&store, &next, KEEP).await.unwrap();
    }
    // Labels and another key, nothing at all, and a way back.
    for (day, file_kept) in [(-4, true), (-3, true), (-2, false), (-1, false)] {
        assert_eq!(past(at(&store, day).await).file_kept, file_kept, "{day}");
    }
    let files = store.referenced_files().await.unwrap();
    assert!(files.contains(&snapshot("b", 0).file));
    let (versions, bytes) = store.history_size().await.unwrap();
    assert_eq!((versions, bytes), (4, 2 * snapshot("b", 0).file.bytes + 3 * 99));

    // The same key in another order, and another column of dates, are another order of rows.
    let mut reordered = following("g", "f", 1);
    reordered.snapshot.primary_key.reverse();
    let mut dateless = following("h", "g", 2);
    dateless.snapshot.primary_key.reverse();
    dateless.snapshot.date_column = None;
    for next in [reordered, dateless] {
        commit(&store, &next, KEEP).await.unwrap();
    }
    for day in [0, 1] {
        assert!(past(at(&store, day).await).file_kept, "{day}");
    }
}

pub(crate) async fn changes_behind_a_held_snapshot_bound_the_way_back_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    commit(&store, &plain(publication("cpi", "a", TODAY - 8 * DAY)), KEEP).await.unwrap();
    store.hold_snapshot(&name("cpi"), &snapshot_id("a")).await.unwrap();
    for (id, before, day) in
        [("b", "a", -7), ("c", "b", -6), ("d", "c", -5), ("e", "d", -4), ("f", "e", -3)]
    {
        let mut next = following(id, before, day);
        next.changes.as_mut().unwrap().file.bytes = next.snapshot.file.bytes / 2 * 3;
        commit(&store, &next, KEEP).await.unwrap();
    }
    assert_eq!(retained(at(&store, -8).await), snapshot_id("a"));
    // Three changes of one and a half files are more than four, and two are not.
    for (day, file_kept) in [(-7, false), (-6, true), (-5, false), (-4, true)] {
        assert_eq!(past(at(&store, day).await).file_kept, file_kept, "{day}");
    }
}

pub(crate) async fn a_history_is_forgotten_from_its_beginning_contract_21(place: TestDatabase) {
    let store = place.host().await;
    history(&store).await;
    let forget = async |day: i64| {
        store.forget_history(&name("cpi"), Millis(TODAY + day * DAY)).await.unwrap()
    };
    assert_eq!(forget(-4).await, 0, "what is current then can be read");
    assert_eq!(forget(-3).await, 1);
    assert_eq!(at(&store, -4).await, VersionAt::Gone(Millis(TODAY - 3 * DAY)));
    assert_eq!(past(at(&store, -3).await).snapshot.id, snapshot_id("c"));
    assert_eq!(forget(0).await, 2);
    assert_eq!(at(&store, -2).await, VersionAt::Gone(Millis(TODAY - DAY)));
    assert_eq!(retained(at(&store, -5).await), snapshot_id("a"), "it is retained");

    // Without history nothing before the dropped version can be read.
    commit(&store, &following("f", "e", 1), KEEP).await.unwrap();
    assert_eq!(past(at(&store, -1).await).snapshot.id, snapshot_id("e"));
    let off = Retention { history: false, ..KEEP };
    commit(&store, &following("g", "f", 2), off).await.unwrap();
    assert_eq!(at(&store, -1).await, VersionAt::Gone(Millis(TODAY + 2 * DAY)));
}
