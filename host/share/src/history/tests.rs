//! Tables of versions and what is found in them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::credit::Credit;
use yearbook_domain::meaning::DatasetMeaning;
use yearbook_domain::{
    DatasetName, Digest, Millis, Namespace, Snapshot, SnapshotId, StoredFile, TableLayout,
};

use super::*;

fn id(version: u64) -> SnapshotId {
    SnapshotId::from_digest(Digest::compute(&version.to_le_bytes()))
}

/// A dataset that retains `kept`; version n is of n × 10 seconds.
fn dataset(kept: &[u64]) -> Dataset {
    let file = StoredFile { sha256: Digest::compute(b""), bytes: 1 };
    let newest = *kept.last().unwrap();
    let current = Snapshot {
        id: id(newest),
        created_at: time(newest),
        rows: 1,
        file,
        title: None,
        description: None,
        keywords: Vec::new(),
        credit: Credit {
            source: String::new(),
            attribution: String::new(),
            licence: String::new(),
            licence_title: None,
            licence_url: None,
            source_url: None,
            source_url_precision: None,
            sources: Vec::new(),
        },
        refresh_cadence: None,
        bulk_redistribution: true,
        columns: Vec::new(),
        primary_key: Vec::new(),
        dimensions: Vec::new(),
        date_column: None,
        date_range: None,
        layout: TableLayout::Wide,
        bbox: None,
        meaning: DatasetMeaning::default(),
    };
    let summary = |version: &u64| SnapshotSummary {
        id: id(*version),
        version: *version,
        created_at: time(*version),
        rows: 1,
        changes: None,
        largest_revision: None,
        held: false,
        bulk_redistribution: true,
    };
    Dataset {
        name: DatasetName::parse("cpi").unwrap(),
        namespace: Namespace::parse("prices").unwrap(),
        checked_at: Millis(0),
        column_changes: 0,
        current: Arc::new(current),
        snapshots: kept.iter().map(summary).collect(),
    }
}

fn time(version: u64) -> Millis {
    Millis(i64::try_from(version).unwrap() * 10_000)
}

#[test]
fn a_time_names_the_version_that_was_newest_then_contract_12() {
    let dataset = dataset(&[1, 4, 5]);
    let times = VersionTimes::new(&dataset, [(2, time(2)), (3, time(3))]);
    let at = |millis: i64| times.retained_at(Millis(millis)).ok().map(|found| found.version);
    for (millis, expected) in [
        (9_999, None),
        (10_000, Some(1)),
        (19_999, Some(1)),
        // Version 2 and 3 were dropped, and nothing else was served then.
        (20_000, None),
        (39_999, None),
        (40_000, Some(4)),
        (50_000, Some(5)),
        (50_001, None),
    ] {
        assert_eq!(at(millis), expected, "{millis}");
    }
    // Without the changes nobody knows when version 2 came.
    let times = VersionTimes::new(&dataset, []);
    assert!(times.retained_at(Millis(10_000)).is_ok());
    assert!(times.retained_at(Millis(10_001)).is_err());
    assert_eq!(times.first_from(Millis(10_001)).ok(), Some(4));
    assert!(times.first_from(Millis(50_001)).is_err());
}

#[test]
fn times_of_dropped_versions_are_asked_for_only_where_they_matter() {
    let dataset = dataset(&[1, 4, 5]);
    let times = VersionTimes::new(&dataset, []);
    for (millis, expected) in [
        (9_999, None),
        (10_000, None),
        (10_001, Some(2..4)),
        (39_999, Some(2..4)),
        (40_000, None),
        (45_000, None),
        (50_000, None),
        (50_001, None),
    ] {
        assert_eq!(times.dropped_around(Millis(millis)), expected, "{millis}");
    }
}

#[test]
fn a_range_that_a_table_does_not_have_is_refused_contract_12() {
    let found = |kept: &[u64], first: u64, last: u64| {
        stored_versions(&dataset(kept), &(first..=last)).ok().map(RangeInclusive::into_inner)
    };
    for (first, last, expected) in [
        // Version 0 has no stored changes.
        (0, 0, Some((1, 0))),
        (0, 3, Some((1, 3))),
        (2, 3, Some((2, 3))),
        (3, 3, Some((3, 3))),
        (3, 4, None),
        (4, 4, None),
        (3, 2, None),
    ] {
        assert_eq!(found(&[0, 3], first, last), expected, "{first} to {last}");
    }
    // Without version 0 nobody can begin there.
    assert_eq!(found(&[2, 3], 0, 3), None);
    assert_eq!(found(&[2, 3], 1, 3), Some((1, 3)), "the catalog knows whether they are known");
}

#[test]
fn a_refusal_names_few_of_the_versions_that_are_kept_contract_12() {
    for (kept, expected) in [
        (&[3][..], "version 3"),
        (&[0, 2, 3], "one of 2, 3"),
        (&[2, 3, 4, 5, 6], "one of 2, 3, 4, 5, 6"),
        (&[2, 3, 4, 5, 6, 7], "one of 2, 3, 4, 5, 6, or a later one up to 7"),
        (&[2, 3, 4, 5, 6, 7, 900], "one of 2, 3, 4, 5, 6, or a later one up to 900"),
    ] {
        let sentence = format!("Version 1 is not kept any more; read {expected}.");
        assert_eq!(version_gone(&dataset(kept), 1), ShareRefusal::VersionGone(sentence));
    }
}
