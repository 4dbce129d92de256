//! `gc` removes what nothing needs any more, and nothing else.

use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::{CommandOutput, Yearbook};

/// No client reads that long here, no host looks back that far.
pub(crate) const AT_ONCE: [(&str, &str); 8] = [
    ("YEARBOOK_SHARE__URL_SECONDS", "1"),
    ("YEARBOOK_STORAGE__UNNAMED_HOURS", "0"),
    ("YEARBOOK_SERVER__FIRST_BYTE_MS", "1"),
    ("YEARBOOK_SERVER__WRITE_IDLE_MS", "1"),
    ("YEARBOOK_SANDBOX__STALLED_CLIENT_MS", "1"),
    ("YEARBOOK_DATABASE__STALE_KEYS_S", "0"),
    ("YEARBOOK_STORAGE__RETAIN_HOURS", "0"),
    ("YEARBOOK_STORAGE__RETAIN_SNAPSHOTS", "1"),
];

fn gc(yearbook: &Yearbook, more: &[&str]) -> CommandOutput {
    // Addresses of files that were given out have ended.
    std::thread::sleep(Duration::from_millis(1_100));
    yearbook.run_with(&AT_ONCE, &[&["gc", "--json"], more].concat())
}

fn names(said: &Value, list: &str) -> Vec<String> {
    said[list]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            format!("{} {}", item["what"].as_str().unwrap(), item["name"].as_str().unwrap())
        })
        .collect()
}

fn objects(yearbook: &Yearbook) -> usize {
    std::fs::read_dir(yearbook.path("yearbook-data/objects/snapshots")).map_or(0, Iterator::count)
}

#[test]
fn what_retention_drops_goes_and_what_is_needed_stays_contract_6() {
    let yearbook = Yearbook::new();
    for version in 0..4 {
        yearbook.package("tiny", &format!("2024-01-01,{version}\n"));
        yearbook.run(&["publish", "tiny"]).ok();
    }
    let snapshots = || {
        yearbook
            .run(&["datasets", "snapshots", "tiny", "--json"])
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    // By default everything is young.
    let said = yearbook.run(&["gc", "--json"]).ok().json();
    assert_eq!((names(&said, "removed"), snapshots()), (vec![], 4), "{said}");
    // Snapshots of a dataset are dated a second apart, so the last one's time is yet to come.
    std::thread::sleep(Duration::from_secs(4));
    let tried = gc(&yearbook, &["--dry-run"]).ok().json();
    assert_eq!(
        (names(&tried, "removed").len(), snapshots(), objects(&yearbook)),
        (2, 4, 18),
        "{tried}"
    );
    assert!(
        names(&tried, "removed").iter().all(|name| name.starts_with("snapshot tiny ")),
        "{tried}"
    );
    let dropped = gc(&yearbook, &[]).ok().json();
    assert_eq!(names(&dropped, "removed")[..2], names(&tried, "removed"), "{dropped}");
    // The first, which `monthly` names, the last, and all changes between them.
    assert_eq!(snapshots(), 2);
    let said = gc(&yearbook, &[]).ok().json();
    let left = names(&dropped, "removed").len() + names(&said, "removed").len();
    assert_eq!((left, objects(&yearbook)), (4, 12), "{dropped} {said}");
    let text = yearbook.run_with(&AT_ONCE, &["gc"]).ok().stdout;
    assert_eq!(text, "0 went; 0 more that nothing names are too young to go.\n");
    assert!(yearbook.run(&["datasets", "show", "tiny"]).ok().stdout.contains("tiny"));
    let checks = yearbook.run(&["doctor", "--json", "--plugins", "none"]).json();
    assert!(
        checks
            .as_array()
            .unwrap()
            .iter()
            .any(|check| check["name"] == "snapshots" && check["status"] == "ok"),
        "{checks}"
    );
}

#[test]
fn what_nothing_ever_named_goes_after_it_was_seen_for_long() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    yearbook.run(&["publish", "tiny"]).ok();
    let digest = "ab".repeat(32);
    yearbook.write(&format!("yearbook-data/objects/snapshots/{digest}.parquet"), "orphan");
    yearbook.write(&format!("yearbook-data/objects/plugins/{digest}.wasm"), "orphan");
    yearbook
        .write(&format!("yearbook-data/objects/plugins/{digest}.wasm.minisig"), "its signature");
    yearbook.write(&format!("yearbook-data/objects/snapshots/{digest}.parquet#1"), "half");
    let seen = gc(&yearbook, &[]).ok().json();
    assert_eq!(
        names(&seen, "later"),
        [format!("file snapshots/{digest}"), format!("file plugins/{digest}")],
        "{seen}"
    );
    let removed = gc(&yearbook, &[]).ok().json();
    assert_eq!(names(&removed, "removed")[..2], names(&seen, "later"), "{removed}");
    assert_eq!(removed["removed"][1]["bytes"], json!(19));
    assert_eq!(
        (names(&seen, "removed").len(), objects(&yearbook)),
        (1, 3),
        "the unfinished upload went first: {seen}"
    );
    // What was removed can be stored again.
    assert_eq!(
        std::fs::read_dir(yearbook.path("yearbook-data/objects/plugins")).unwrap().count(),
        0
    );
}
