//! Releases at an instant on the command line: they wait, are listed, moved and withdrawn, and are
//! visible from their time on.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};
use yearbook_catalog::clock;
use yearbook_domain::Millis;

use crate::binary::Yearbook;

/// A time so many seconds ahead.
fn ahead(seconds: i64) -> String {
    Millis(clock::now().0 + seconds * 1_000).to_rfc3339()
}

fn waiting(yearbook: &Yearbook) -> Value {
    yearbook.run(&["datasets", "releases", "--json"]).ok().json()
}

fn ids(yearbook: &Yearbook) -> Vec<String> {
    let snapshots = yearbook.run(&["datasets", "snapshots", "tiny", "--json"]).ok().json();
    let ids = snapshots.as_array().unwrap().iter();
    ids.map(|snapshot| snapshot["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_release_waits_is_listed_moved_and_withdrawn_contract_21() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    yearbook.run(&["publish", "tiny"]).ok();
    yearbook.package("tiny", "2024-01-01,2\n");
    let at = ahead(3_600);
    let published = yearbook.run(&["publish", "tiny", "--release-at", &at, "--announce=Tiny"]).ok();
    assert!(published.stdout.contains(&format!("waits until {at} (release 1)")), "{published:?}");
    let listed = waiting(&yearbook);
    assert_eq!(listed[0]["name"], "tiny");
    assert_eq!(listed[0]["release_at"], at.as_str());
    assert_eq!(listed[0]["announced"], "Tiny");
    let id = listed[0]["snapshot"].as_str().unwrap().to_owned();
    assert!(!ids(&yearbook).contains(&id));

    // Nothing else becomes of the dataset.
    let refused = yearbook.run(&["publish", "tiny"]).failed(1);
    assert!(refused.contains("release 1 of tiny waits until"), "{refused}");
    let refused = yearbook.run(&["publish", "tiny", "--release-at", &at]).failed(1);
    assert!(refused.contains("--replace"), "{refused}");
    let refused = yearbook.run(&["datasets", "retire", "tiny"]).failed(1);
    assert!(refused.contains("yearbook release withdraw 1"), "{refused}");
    let refused = yearbook.run(&["datasets", "hold", "tiny", &id]).failed(1);
    assert!(refused.contains("never had a snapshot"), "{refused}");

    let later = ahead(7_200);
    yearbook.run(&["release", "move", "1", &later]).ok();
    assert_eq!(waiting(&yearbook)[0]["release_at"], later.as_str());
    let refused = yearbook.run(&["release", "move", "1", &ahead(5)]).failed(1);
    assert!(refused.contains("less than ten seconds ahead"), "{refused}");
    yearbook.package("tiny", "2024-01-01,3\n");
    let replaced = ["publish", "tiny", "--release-at", &at, "--replace", "--json"];
    let replaced = yearbook.run(&replaced).ok().json();
    assert_eq!((&replaced["status"], &replaced["release"]), (&json!("waiting"), &json!(2)));
    assert_eq!(waiting(&yearbook)[0]["announced"], Value::Null);
    // The data that is current in its place.
    yearbook.package("tiny", "2024-01-01,1\n");
    let back = yearbook.run(&["publish", "tiny", "--release-at", &at, "--replace"]).ok();
    assert!(back.stdout.contains("1 row, unchanged; release 2 is withdrawn"), "{back:?}");
    assert_eq!(waiting(&yearbook), json!([]));
    yearbook.package("tiny", "2024-01-01,3\n");
    yearbook.run(&["publish", "tiny", "--release-at", &at]).ok();
    let withdrawn = yearbook.run(&["release", "withdraw", "3"]).ok();
    assert!(withdrawn.stdout.contains("withdrawn"), "{withdrawn:?}");
    let refused = yearbook.run(&["release", "withdraw", "3"]).failed(1);
    assert!(refused.contains("no release 3 waits"), "{refused}");
    assert_eq!(waiting(&yearbook), json!([]));
    assert_eq!(ids(&yearbook).len(), 1);
}

#[test]
fn a_time_that_is_wrong_or_near_is_refused_with_what_to_write_contract_21() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    for (time, says) in [
        ("tomorrow", "write a time with its offset"),
        ("2030-04-07T02:30:00[Pacific/Auckland]", "exists twice"),
        (ahead(5).as_str(), "less than ten seconds ahead"),
        (ahead(-60).as_str(), "less than ten seconds ahead"),
    ] {
        let run = yearbook.run(&["publish", "tiny", "--release-at", time]);
        assert!(matches!(run.code, Some(1 | 2)), "{run:?}");
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
    let at = ahead(3_600);
    let long = format!("--announce={}", "long".repeat(20_000));
    for (title, says) in
        [("--announce=", "is blank"), ("--announce=a\nb", "U+000A"), (&*long, "at most 2048")]
    {
        let refused = yearbook.run(&["publish", "tiny", "--release-at", &at, title]).failed(2);
        assert!(refused.contains(says), "{title}: {refused}");
    }
    assert_eq!(waiting(&yearbook), json!([]));
}

#[test]
fn a_released_version_is_current_for_every_command_contract_21() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    yearbook.run(&["publish", "tiny"]).ok();
    yearbook.package("tiny", "2024-01-01,2\n");
    let at = ahead(13);
    yearbook.run(&["publish", "tiny", "--release-at", &at]).ok();
    let due = Millis::parse_iso8601(&at).unwrap();
    assert_eq!(ids(&yearbook).len(), 1);
    while clock::now() < due {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(ids(&yearbook).len(), 2);
    let shown = yearbook.run(&["datasets", "show", "tiny", "--json"]).ok().json();
    assert_eq!(shown["last_refreshed_at"], at.as_str());
    yearbook.run(&["doctor", "--deep"]);
    // The next publish is compared with it, and moves its files.
    yearbook.package("tiny", "2024-01-01,3\n");
    yearbook.run(&["publish", "tiny"]).ok();
    let doctor = yearbook.run(&["doctor", "--deep", "--json"]).stdout;
    let checks: Value = serde_json::from_str(&doctor).unwrap();
    let snapshots = checks.as_array().unwrap().iter().find(|check| check["name"] == "snapshots");
    assert_eq!(snapshots.unwrap()["status"], "ok", "{doctor}");
}

/// Names of the files below a folder of the store.
fn stored(yearbook: &Yearbook, folder: &str) -> HashSet<String> {
    let entries = std::fs::read_dir(yearbook.path("yearbook-data/objects").join(folder));
    let names = entries.into_iter().flatten().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.ends_with(".parquet")).collect()
}

#[test]
fn gc_collects_though_a_released_file_is_lost_contract_21() {
    let yearbook = Yearbook::new();
    let at = ahead(24);
    let release = |name: &str| {
        yearbook.package(name, "2024-01-01,1\n");
        yearbook.run(&["publish", name, "--release-at", &at]).ok();
        stored(&yearbook, "waiting")
    };
    let lost = release("lost");
    let others: HashSet<String> = release("tiny").difference(&lost).cloned().collect();
    assert_eq!((lost.len(), others.len()), (1, 1));
    let due = Millis::parse_iso8601(&at).unwrap();
    while clock::now() < due {
        std::thread::sleep(Duration::from_millis(100));
    }
    for name in &lost {
        std::fs::remove_file(yearbook.path("yearbook-data/objects/waiting").join(name)).unwrap();
    }
    let collected = yearbook.run(&["gc"]);
    assert_eq!(collected.code, Some(1), "who runs it every night is told");
    assert!(collected.stdout.contains("0 went"), "{collected:?}");
    assert!(collected.stderr.contains("stay where they waited"), "{collected:?}");
    assert_eq!(stored(&yearbook, "snapshots"), others);
}
