//! Releases that the calendar lists, and their outcomes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_domain::{Digest, Namespace, Snapshot, SnapshotId};

use super::*;

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;

/// 2026-11-28T12:00:00Z.
const NOON: Millis = Millis(1_795_867_200_000);

fn minutes(number: i64) -> Millis {
    Millis(NOON.0 + number * MINUTE)
}

fn id(version: u64) -> SnapshotId {
    SnapshotId::from_digest(Digest::compute(&version.to_be_bytes()))
}

/// A dataset with these versions, by their numbers, and these plans.
fn dataset(name: &str, versions: &[(u64, Millis)], planned: &[Millis]) -> Arc<Dataset> {
    let &(newest, created_at) = versions.last().unwrap();
    let planned: Vec<_> =
        planned.iter().map(|at| json!({"at": at, "title": format!("Plan of {name}")})).collect();
    let current: Snapshot = serde_json::from_value(json!({
        "id": id(newest), "created_at": created_at, "rows": 1,
        "file": {"sha256": Digest::compute(b""), "bytes": 1},
        "title": null, "description": null, "keywords": [],
        "credit": {
            "source": "A", "attribution": "A", "licence": "CC0-1.0", "licence_title": null, "licence_url": null,
            "source_url": null, "source_url_precision": null, "sources": [],
        },
        "refresh_cadence": null, "bulk_redistribution": true, "columns": [], "primary_key": [], "dimensions": [],
        "date_column": null, "date_range": null, "layout": "long", "bbox": null, "meaning": {"releases": planned},
    }))
    .unwrap();
    let summary = |&(version, created_at): &(u64, Millis)| SnapshotSummary {
        id: id(version),
        version,
        created_at,
        rows: 1,
        changes: None,
        largest_revision: None,
        held: false,
        bulk_redistribution: true,
    };
    Arc::new(Dataset {
        name: DatasetName::parse(name).unwrap(),
        namespace: Namespace::parse("tests").unwrap(),
        checked_at: created_at,
        column_changes: 0,
        current: Arc::new(current),
        snapshots: versions.iter().map(summary).collect(),
    })
}

fn announcement(dataset: &str, id: i64, release_at: Millis) -> Announcement {
    Announcement {
        id,
        dataset: DatasetName::parse(dataset).unwrap(),
        title: format!("Announcement {id}"),
        announced_at: minutes(-600),
        release_at,
        moves: 0,
        snapshot: None,
    }
}

fn list_at(
    now: Millis,
    datasets: &[Arc<Dataset>],
    announcements: &[Announcement],
) -> Vec<CalendarEvent> {
    let sources = Sources { now, window: Window::at(now), secret: "secret", datasets };
    list(&sources, announcements)
}

fn released(version: u64, at: Millis) -> EventOutcome {
    EventOutcome::Released { snapshot: Some(id(version)), at }
}

#[test]
fn a_planned_release_is_the_first_version_of_its_time_contract_21() {
    let plans = [-300, -200, -100, 0, 1].map(minutes);
    let versions = [(0, minutes(-500)), (1, minutes(-300)), (2, minutes(-250)), (3, minutes(-90))];
    let cpi = dataset("cpi", &versions, &plans);
    let states = |now: Millis| -> Vec<EventOutcome> {
        list_at(now, &[Arc::clone(&cpi)], &[]).into_iter().map(|event| event.outcome).collect()
    };
    let late = EventOutcome::Late;
    let coming = EventOutcome::Coming;
    let (first, third) = (released(1, minutes(-300)), released(3, minutes(-90)));
    // Nothing came between the second plan and the third; the third came ten minutes late.
    assert_eq!(states(NOON), [first, late, third, late, coming]);
    assert_eq!(states(Millis(NOON.0 - 1)), [first, late, third, coming, coming]);
    assert_eq!(states(minutes(1)), [first, late, third, late, late]);
}

#[test]
fn what_retention_dropped_is_not_called_late_contract_21() {
    let plans = [-300, -200].map(minutes);
    let state = |versions: &[(u64, Millis)]| {
        list_at(NOON, &[dataset("cpi", versions, &plans)], &[])[0].outcome
    };
    // The version before the one that is kept may have been of the first plan's time.
    assert_eq!(state(&[(4, minutes(-150))]), EventOutcome::Forgotten);
    assert_eq!(state(&[(2, minutes(-400)), (4, minutes(-150))]), EventOutcome::Forgotten);
    assert_eq!(state(&[(3, minutes(-400)), (4, minutes(-150))]), EventOutcome::Late);
    assert_eq!(state(&[(0, minutes(-150))]), EventOutcome::Late);
}

#[test]
fn days_decide_what_is_listed_contract_21() {
    let plans = [-93, -92, -1, 366, 367].map(|days| Millis(NOON.0 + days * DAY));
    let cpi = dataset("cpi", &[(0, Millis(0))], &plans);
    let listed = |now: Millis| -> Vec<Millis> {
        list_at(now, &[Arc::clone(&cpi)], &[]).into_iter().map(|event| event.at).collect()
    };
    assert_eq!(listed(NOON), plans[1..4]);
    let (midnight, evening) = (Millis(NOON.0 - DAY / 2), Millis(NOON.0 + DAY / 2 - 1));
    assert_eq!((listed(midnight), listed(evening)), (listed(NOON), listed(NOON)));
    assert_eq!(listed(Millis(evening.0 + 1)), plans[2..]);
}

#[test]
fn an_announcement_names_no_dataset_that_nobody_may_know_contract_21() {
    let waiting = announcement("gdp", 7, minutes(5));
    let hidden = &list_at(NOON, &[], std::slice::from_ref(&waiting))[0];
    assert!(hidden.dataset.is_none());
    assert_eq!((hidden.title.as_str(), hidden.outcome), ("Announcement 7", EventOutcome::Coming));
    assert_eq!(hidden.announced_at, waiting.announced_at);
    // Its name stays when the dataset is known, when it is moved and when it is released.
    let gdp = [dataset("gdp", &[(0, minutes(9))], &[])];
    let moved =
        Announcement { release_at: minutes(9), moves: 1, snapshot: Some(id(0)), ..waiting.clone() };
    let known = &list_at(minutes(10), &gdp, std::slice::from_ref(&moved))[0];
    assert_eq!((&known.uid, known.moves), (&hidden.uid, 1));
    assert_eq!(known.outcome, released(0, minutes(9)));
    assert_eq!(known.dataset.as_ref().unwrap().name.as_str(), "gdp");
    // Retired, it is not named any more, and neither is its version.
    let retired = &list_at(minutes(10), &[], &[moved])[0];
    assert_eq!(retired.outcome, EventOutcome::Released { snapshot: None, at: minutes(9) });
    assert!(retired.dataset.is_none() && !retired.sentence().contains(id(0).as_str()));
    // Nobody finds the number of a release or the name of its dataset by trying.
    let sources = |secret| Sources { now: NOON, window: Window::at(NOON), secret, datasets: &[] };
    let other = &list(&sources("other"), std::slice::from_ref(&waiting))[0];
    assert_ne!(other.uid, hidden.uid);
}

#[test]
fn an_announcement_and_a_plan_of_one_time_are_one_release_contract_21() {
    let plans = [5, 6].map(minutes);
    let datasets =
        [dataset("cpi", &[(0, minutes(-500))], &plans), dataset("gdp", &[(0, NOON)], &plans)];
    let announced = announcement("cpi", 7, minutes(5));
    let listed = |announcements: &[Announcement]| -> Vec<(String, i64)> {
        let events = list_at(NOON, &datasets, announcements);
        events.into_iter().map(|event| (event.title, (event.at.0 - NOON.0) / MINUTE)).collect()
    };
    let expected = |titles: &[(&str, i64)]| -> Vec<(String, i64)> {
        titles.iter().map(|&(title, at)| (title.to_owned(), at)).collect()
    };
    let (cpi, gdp, own) = ("Plan of cpi", "Plan of gdp", "Announcement 7");
    assert_eq!(
        listed(std::slice::from_ref(&announced)),
        expected(&[(own, 5), (gdp, 5), (cpi, 6), (gdp, 6)])
    );
    // Moved away from the plan, it stands beside it.
    let moved = Announcement { release_at: minutes(7), moves: 1, ..announced };
    assert_eq!(listed(&[moved]), expected(&[(cpi, 5), (gdp, 5), (cpi, 6), (gdp, 6), (own, 7)]));
    // Every release has a name of its own.
    let events = list_at(NOON, &datasets, &[]);
    let names: HashSet<&String> = events.iter().map(|event| &event.uid).collect();
    assert_eq!(names.len(), events.len());
}
