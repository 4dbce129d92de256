//! The laws of the past, for random histories: rows of a version are those that were published,
//! made again or valid at its time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod copied_groups;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use yearbook_domain::changes::{ChangeSet, HistorySegment, VALID_FROM, VALID_TO};
use yearbook_domain::{DatasetName, Millis, Namespace, ResultDigest, Snapshot};
use yearbook_storage::MadeFiles;

use super::*;
use crate::diff::tests::{Dice, Fixture, Row, first_version, next_version, seen_with, sorted};
use crate::memory_budget::PublishMemory;

struct Published {
    snapshot: Snapshot,
    digest: ResultDigest,
    rows: Vec<Row>,
    /// Changes to the next version.
    next: Option<ChangeSet>,
}

/// A random history of one table in a store.
async fn history(fixture: &Fixture, dice: &mut Dice) -> Vec<Published> {
    let mut version = first_version(dice);
    let mut all: Vec<Published> = Vec::new();
    for _ in 0..2 + dice.below(5) {
        let current = all.last().map(|published| published.snapshot.clone());
        let draft = fixture.publish(&version, current.as_ref()).await;
        let number = all.len() as u64;
        version = next_version(dice, &version);
        if draft.unchanged || current.is_some_and(|current| current.id == draft.snapshot.id) {
            continue;
        }
        if let Some(before) = all.last_mut() {
            before.next = draft.changes.map(|set| ChangeSet { version: number, ..set });
        }
        let rows = fixture.rows(&draft.snapshot).await;
        let digest = draft.facts.unwrap().digest;
        all.push(Published { snapshot: draft.snapshot, digest, rows, next: None });
    }
    all
}

fn have_same_columns(one: &Snapshot, other: &Snapshot) -> bool {
    let shape = |snapshot: &Snapshot| {
        let columns = snapshot.columns.iter();
        columns
            .map(|column| (column.name.clone(), column.column_type.as_str()))
            .collect::<BTreeMap<_, _>>()
    };
    shape(one) == shape(other)
}

/// Parts with the same columns, from version `first` to version `last`.
fn segments(all: &[Published], first: usize, last: usize) -> Vec<HistorySegment> {
    let mut segments: Vec<HistorySegment> = Vec::new();
    for version in first..=last {
        let snapshot = all[version].snapshot.clone();
        match segments.last_mut() {
            Some(segment) if have_same_columns(&segment.last, &snapshot) => {
                segment.changes.push(all[version - 1].next.clone().unwrap());
                segment.last = snapshot;
            }
            _ => segments.push(HistorySegment {
                first: version as u64,
                last: snapshot,
                changes: Vec::new(),
            }),
        }
    }
    segments
}

fn at(version: usize) -> Millis {
    Millis(version as i64 * 1_000)
}

async fn check_revisions(fixture: &Fixture, all: &[Published], last: usize, seed: u64) {
    let newest = &all[last].snapshot;
    let (name, namespace) = names();
    let times = (0..all.len()).map(|version| (version as u64, at(version))).collect();
    let range = RevisionRange { since: None, until: last as u64 };
    let table = revisions(
        PublishMemory::default(),
        &fixture.files,
        &fixture.workers,
        (&name, &namespace),
        newest,
        &segments(all, 0, all.len() - 1),
        (times, range),
    )
    .await
    .unwrap();
    let made = MadeFiles::new(1 << 30);
    assert!(made.insert(Arc::new(table.file)));
    let read = Fixture { files: fixture.files.with_made_files(made), ..Fixture::new() };
    let mut lives: Vec<(Row, String, String)> = Vec::new();
    for mut row in read.rows(&table.snapshot).await {
        let from = row.remove(VALID_FROM).unwrap();
        // What still is sorts last.
        let to = row.remove(VALID_TO).unwrap_or_else(|| "~".to_owned());
        assert!(from < to, "seed {seed}");
        lives.push((row, from, to));
    }
    for (version, published) in all.iter().enumerate().take(last + 1) {
        let time = at(version).to_rfc3339();
        let valid = lives.iter().filter(|(_, from, to)| *from <= time && time < *to);
        let valid: Vec<Row> = valid.map(|(row, ..)| row.clone()).collect();
        let then = published.rows.iter().map(|row| seen_with(row, &published.snapshot, newest));
        assert_eq!(sorted(valid), sorted(then.collect()), "seed {seed}, version {version}");
    }
    // A version that did not change a row does not tell of it.
    for (row, from, _) in &lives {
        let ended = lives.iter().any(|(other, _, to)| other == row && to == from);
        assert!(!ended, "seed {seed}: {row:?} at {from}");
    }
    let keys: Vec<_> = lives
        .iter()
        .map(|(row, from, _)| {
            let date = row.get("date").cloned();
            let id = row.get("id").map(|id| id.parse::<i64>().unwrap());
            (date, id, from.clone())
        })
        .collect();
    if !newest.primary_key.is_empty() {
        assert!(keys.is_sorted(), "seed {seed}: {keys:?}");
    }
}

async fn check_restored(fixture: &Fixture, all: &[Published], seed: u64) {
    for (first, published) in all.iter().enumerate() {
        for last in first + 1..all.len() {
            let segments = segments(all, first, last);
            let keyed =
                all[first..=last].iter().all(|version| !version.snapshot.primary_key.is_empty());
            let ([segment], true) = (&segments[..], keyed) else { continue };
            let (name, namespace) = names();
            let snapshot = &published.snapshot;
            let version = RestoredVersion {
                name: &name,
                namespace: &namespace,
                snapshot,
                digest: published.digest,
            };
            // The second has room for one changed row at a time.
            for memory in [PublishMemory::default(), PublishMemory::new(16)] {
                let (files, workers) = (&fixture.files, &fixture.workers);
                let made = Box::pin(restore(memory, files, workers, version, segment)).await;
                // The writer is the same, so the bytes are.
                let made = made.unwrap().stored().clone();
                assert_eq!(made, snapshot.file, "seed {seed}, {first} from {last}, {memory:?}");
            }
        }
    }
}

fn names() -> (DatasetName, Namespace) {
    (DatasetName::parse("a_table").unwrap(), Namespace::parse("tests").unwrap())
}

async fn check(seed: u64) {
    let fixture = Fixture::new();
    let all = Box::pin(history(&fixture, &mut Dice(seed))).await;
    // Pages end with the version with which the first one did.
    for last in [all.len() - 1, all.len() / 2] {
        Box::pin(check_revisions(&fixture, &all, last, seed)).await;
    }
    check_restored(&fixture, &all, seed).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_a_time_are_those_that_were_published_then_contract_21(seed: u64) {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(check(seed));
    }
}

#[tokio::test]
async fn changes_that_do_not_lead_back_are_told_and_nothing_is_served_contract_21() {
    let fixture = Fixture::new();
    let all = Box::pin(history(&fixture, &mut Dice(3))).await;
    let (first, last) = (0..all.len())
        .flat_map(|first| (first + 1..all.len()).map(move |last| (first, last)))
        .find(|(first, last)| segments(&all, *first, *last).len() == 1)
        .unwrap();
    let mut segment = segments(&all, first, last).remove(0);
    segment.changes.clear();
    let (name, namespace) = names();
    let version = RestoredVersion {
        name: &name,
        namespace: &namespace,
        snapshot: &all[first].snapshot,
        digest: all[first].digest,
    };
    let memory = PublishMemory::default();
    let made = restore(memory, &fixture.files, &fixture.workers, version, &segment).await;
    let Err(PublishError::Storage(failure)) = made else { panic!("it was made") };
    assert!(failure.to_string().contains("does not lead back"), "{failure}");
}
