//! A week in minutes: 200 sources of every cadence that change, a tenth of the checks failing at
//! random, and refreshes that die in the middle.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};

use yearbook_domain::{Cadence, ObjectKey};
use yearbook_publish::{GcSettings, collect_garbage};

use super::*;
use crate::test_server::{SeenRequest, Step, TestServer, whole};

const SOURCES: u64 = 200;

const HOURS: i64 = 7 * 24;

/// A number from nothing but its place, the same in every run.
fn noise(parts: &[u64]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for part in parts {
        state = (state ^ part).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state ^= state >> 32;
    }
    state
}

/// Version of a source at an instant: each changes at a pace of its own, from every other hour to
/// never.
fn version(source: u64, at: i64) -> u64 {
    let pace = 2 + i64::try_from(noise(&[source, 1]) % 200).unwrap();
    u64::try_from((at - TODAY) / (pace * HOUR)).unwrap()
}

/// Rows of the version; two that follow each other differ.
fn rows(source: u64, at: i64) -> u64 {
    version(source, at) + 1
}

fn fails(source: u64, at: i64) -> bool {
    noise(&[source, at.unsigned_abs(), 2]).is_multiple_of(10)
}

fn answer(request: &SeenRequest, at: i64) -> Vec<Step> {
    let source = source_of(&request.path);
    let body = table(rows(source, at));
    let etag = format!("\"{}\"", version(source, at));
    if fails(source, at) {
        return match noise(&[source, at.unsigned_abs(), 3]) % 5 {
            0 => whole("500 Oops", "", ""),
            1 => whole("404 Not Found", "", ""),
            2 => whole("200 OK", "ETag: \"wrong\"\r\n", "id,value\n1,many\n"),
            3 => Vec::new(),
            _ => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len() + 1);
                vec![Step::Send([head, body].concat().into_bytes())]
            }
        };
    }
    // Every third source knows no conditions.
    if source.is_multiple_of(3) {
        return whole("200 OK", "", body);
    }
    if request.header("if-none-match") == Some(&etag) {
        return vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec())];
    }
    whole("200 OK", &format!("ETag: {etag}\r\n"), body)
}

fn source_of(path: &str) -> u64 {
    path.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap()
}

fn cadence_of(source: u64) -> Cadence {
    Cadence::ALL[usize::try_from(source).unwrap() % Cadence::ALL.len()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_week_of_refreshes_keeps_every_promise_contract_8() {
    let fixture = Fixture::in_memory().await;
    let clock = Arc::new(AtomicI64::new(TODAY));
    let now = Arc::clone(&clock);
    let server =
        TestServer::start("127.0.0.1", move |request| answer(request, now.load(Ordering::SeqCst)))
            .await;
    for source in 0..SOURCES {
        let path = server.url(&format!("/{source}.csv"));
        fixture.write(&format!("s{source:03}"), &path, cadence_of(source).as_str());
    }
    let packages = find_packages(&[fixture.packages()]);
    let (mut seen, mut deaths, mut failures) = (0, 0, 0);
    // Times at which each dataset may have been checked: of a refresh that died, nobody knows which
    // sources it was done with.
    let mut checked: BTreeMap<u64, i64> = BTreeMap::new();
    for hour in 0..HOURS {
        // Every ninth refresh dies, and another host takes over when its leases have ended.
        let dies = hour % 9 == 4;
        for (at, dies) in [(TODAY + hour * HOUR, dies), (TODAY + hour * HOUR + HOUR / 3, false)] {
            if at % HOUR != 0 && hour % 9 != 4 {
                continue;
            }
            clock.store(at, Ordering::SeqCst);
            let refresher = fixture.refresher(private_settings(), at);
            let run = Box::pin(refresher.refresh(&packages, true, &SilentRefreshReporter));
            let life = Duration::from_millis(noise(&[hour.unsigned_abs(), 4]) % 100);
            let reports = match dies {
                true => tokio::time::timeout(life, run).await.ok(),
                false => Some(run.await),
            };
            deaths += usize::from(reports.is_none());
            let log = server.seen();
            let asked: BTreeSet<u64> =
                log[seen..].iter().map(|request| source_of(&request.path)).collect();
            seen = log.len();
            for source in &asked {
                let before = checked.get(source).copied();
                let due = before.map_or(Some(at), |before| {
                    cadence_of(*source).next_check(Millis(before)).map(|next| next.0)
                });
                assert!(due.is_some_and(|due| due <= at), "s{source:03} at {at}: due {due:?}");
            }
            for report in reports.iter().flatten() {
                let source = source_of(&report.name);
                let asked = asked.contains(&source);
                let good = asked && !fails(source, at);
                let expected = match (asked, good) {
                    (false, _) => report.outcome == RefreshOutcome::Skipped,
                    (true, false) => report.outcome == RefreshOutcome::Failed,
                    (true, true) => [RefreshOutcome::Published, RefreshOutcome::Unchanged]
                        .contains(&report.outcome),
                };
                assert!(expected, "{report:?}");
                failures += usize::from(report.outcome == RefreshOutcome::Failed);
            }
            for dataset in fixture.catalog.datasets().await.unwrap() {
                let (source, checked_at) = (source_of(dataset.name.as_str()), dataset.checked_at.0);
                let before = checked.insert(source, checked_at);
                // Moved by this run, and only if its source was asked and answered well.
                let moved = before != Some(checked_at);
                let good = asked.contains(&source) && !fails(source, at);
                assert!(!moved || (good && checked_at == at), "{} at {at}", dataset.name);
                assert!(moved || !good || dies, "{} at {at} was not checked", dataset.name);
                // The version of that time: not an older, not a newer, not a broken one.
                assert_eq!(dataset.current.rows, rows(source, checked_at), "{}", dataset.name);
            }
        }
    }
    assert_eq!(checked.len(), usize::try_from(SOURCES).unwrap());
    assert!(deaths > 3, "only {deaths} refreshes died");
    assert!(failures > 100, "only {failures} checks failed");
    assert_no_leftovers(&fixture).await;
}

/// After `gc` the store holds what the catalog names, and nothing else.
async fn assert_no_leftovers(fixture: &Fixture) {
    let settings = GcSettings {
        retention: Retention { snapshots: 3, hours: 0, history: true },
        unnamed_for: Duration::ZERO,
        dry_run: false,
    };
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        collect_garbage(&fixture.catalog, &fixture.files, settings).await.unwrap();
    }
    let named: HashSet<ObjectKey> = fixture
        .catalog
        .referenced_files()
        .await
        .unwrap()
        .iter()
        .map(|file| ObjectKey::snapshot(&file.sha256))
        .collect();
    let held: HashSet<ObjectKey> =
        fixture.files.held().await.unwrap().into_iter().map(|object| object.stored).collect();
    assert_eq!(held, named);
    for source in 0..SOURCES {
        let name = dataset_name(&format!("s{source:03}"));
        let state = fixture.catalog.source_state(&name).await.unwrap();
        let until = state.claimed_until.map_or(i64::MIN, |until| until.0);
        assert!(until < TODAY + HOURS * HOUR, "{name} is still claimed");
    }
}
