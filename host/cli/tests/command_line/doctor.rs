//! `doctor` finds what is wrong and says what to do. The built-in plugins are judged elsewhere: here
//! a folder without any stands for a broken installation.

use std::path::Path;

use serde_json::Value;

use crate::binary::{Said, Yearbook};

fn check<'a>(checks: &'a Value, name: &str) -> (&'a str, &'a str) {
    let found = checks.as_array().unwrap().iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name} in {checks}"));
    (found["status"].as_str().unwrap(), found["message"].as_str().unwrap())
}

fn doctor(yearbook: &Yearbook) -> (Said, Value) {
    let said = yearbook.run(&["doctor", "--json", "--plugins", "no-plugins"]);
    let checks = said.json();
    (said, checks)
}

#[test]
fn a_fresh_directory_is_no_fault_and_stays_unmade() {
    let yearbook = Yearbook::new();
    let (_, checks) = doctor(&yearbook);
    for name in ["settings", "data directory", "database", "object store"] {
        assert_eq!(check(&checks, name).0, "ok", "{checks}");
    }
    assert!(!yearbook.path("yearbook-data").exists());
}

#[test]
fn missing_plugins_fail_with_how_to_build_them() {
    let (said, checks) = doctor(&Yearbook::new());
    let (status, message) = check(&checks, "plugins");
    assert_eq!(status, "fail");
    assert!(message.contains("json.wasm") && message.contains("cargo xtask plugins"), "{message}");
    assert_eq!(said.code, Some(1));
    assert_eq!(said.stderr, "{\"error\":\"1 check failed\"}\n");
}

#[test]
fn a_lost_or_cut_snapshot_file_is_found_by_dataset() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    yearbook.run(&["publish", "tiny"]).ok();
    assert_eq!(check(&doctor(&yearbook).1, "snapshots").0, "ok");
    let stored = only_snapshot(&yearbook.path("yearbook-data/objects/snapshots"));
    std::fs::write(&stored, b"cut").unwrap();
    let (_, checks) = doctor(&yearbook);
    let (status, message) = check(&checks, "snapshots");
    assert_eq!(status, "fail");
    assert!(message.contains("tiny") && message.contains("publish the package again"), "{message}");
    // The advice must be good advice.
    yearbook.run(&["publish", "tiny"]).ok();
    assert_eq!(check(&doctor(&yearbook).1, "snapshots").0, "ok");
}

#[test]
fn a_data_directory_open_to_others_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let yearbook = Yearbook::new();
    yearbook.run(&["migrate"]).ok();
    std::fs::set_permissions(yearbook.path("yearbook-data"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (_, checks) = doctor(&yearbook);
    let (status, message) = check(&checks, "data directory");
    assert_eq!(status, "warn");
    assert!(message.contains("chmod 700"), "{message}");
}

/// The only Parquet file of a folder (the store may keep checksums beside it).
fn only_snapshot(folder: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.pop().unwrap()
}
