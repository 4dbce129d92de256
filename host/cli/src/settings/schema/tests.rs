//! Settings that are taken, and the sentences for wrong ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use serde_json::json;
use yearbook_domain::plan::BulkEntitlement;
use yearbook_storage::StorageSettings;

use super::super::StorageSection;
use super::*;

fn typed(key: &str, value: Value) -> Assignment {
    let origin = SettingOrigin::File { path: PathBuf::from("y.toml"), line: 3 };
    Assignment { key: key.to_owned(), value: RawSetting::Typed(value), origin }
}

fn variable(key: &str, text: &str) -> Assignment {
    Assignment {
        key: key.to_owned(),
        value: RawSetting::Text(text.to_owned()),
        origin: SettingOrigin::Variable(variable_name(key)),
    }
}

fn apply(assignments: &[Assignment]) -> Result<SettingsDocument, Vec<String>> {
    let mut problems = Vec::new();
    let document = SettingsSchema::new().apply(assignments, &mut problems);
    if problems.is_empty() {
        Ok(document)
    } else {
        Err(problems.iter().map(ToString::to_string).collect())
    }
}

fn check_wrong(assignment: Assignment, expected: &str) {
    assert_eq!(apply(&[assignment]).unwrap_err(), [expected]);
}

#[test]
fn nothing_written_gives_the_defaults_contract_5_and_6() {
    let document = apply(&[]).unwrap();
    assert_eq!(
        document.storage,
        StorageSection {
            url: None,
            retain_snapshots: 12,
            retain_hours: 24,
            unnamed_hours: 24,
            store: StorageSettings::default()
        }
    );
    assert_eq!(document.plans.free.requests_per_month, Some(10));
}

#[test]
fn a_key_changes_itself_alone() {
    let document =
        apply(&[typed("plans.free.row_cap", json!(7)), variable("plans.free.bulk", "monthly")])
            .unwrap();
    assert_eq!(document.plans.free.row_cap, Some(7));
    assert_eq!(document.plans.free.bulk, BulkEntitlement::Monthly);
    assert_eq!(document.plans.free.requests_per_month, Some(10));
}

#[test]
fn a_list_is_one_of_texts_or_a_text_with_commas() {
    let (one, two) = ("1".repeat(64), "2".repeat(64));
    let written = [
        typed("plugins.allowed_digests", json!([one, two])),
        variable("plugins.allowed_digests", &format!("{one}, {two},")),
    ];
    for assignment in written {
        assert_eq!(
            serde_json::to_value(apply(&[assignment]).unwrap().plugins.trust.allowed_digests)
                .unwrap(),
            json!([one, two])
        );
    }
    check_wrong(
        typed("plugins.allowed_digests", json!("x")),
        "y.toml, line 3: `plugins.allowed_digests` must be a list of texts, not \"x\"",
    );
    let refused = apply(&[typed("plugins.trusted_keys", json!(["x"]))]).unwrap_err();
    assert!(refused[0].contains("second line of minisign.pub"), "{refused:?}");
}

#[test]
fn a_later_source_wins_contract_6() {
    let document =
        apply(&[typed("storage.retain_hours", json!(1)), variable("storage.retain_hours", "2")])
            .unwrap();
    assert_eq!(document.storage.retain_hours, 2);
}

#[test]
fn unlimited_is_a_word_where_there_may_be_no_limit() {
    assert_eq!(
        apply(&[variable("plans.free.row_cap", "unlimited")]).unwrap().plans.free.row_cap,
        None
    );
    assert_eq!(apply(&[typed("plans.pro.row_cap", json!(5))]).unwrap().plans.pro.row_cap, Some(5));
    check_wrong(
        typed("storage.retain_hours", json!("unlimited")),
        "y.toml, line 3: `storage.retain_hours` must be a whole number, not \"unlimited\"",
    );
}

#[test]
fn an_unknown_key_names_the_nearest_known_one_contract_6() {
    check_wrong(
        typed("storage.retain_snapshot", json!(1)),
        "y.toml, line 3: unknown key `storage.retain_snapshot`; the nearest known key is `storage.retain_snapshots`",
    );
    check_wrong(
        typed("server.retain_hours", json!(1)),
        "y.toml, line 3: unknown key `server.retain_hours`; the nearest known key is `storage.retain_hours`",
    );
    check_wrong(
        variable("plans.fre.row_cap", "1"),
        "variable YEARBOOK_PLANS__FRE__ROW_CAP: unknown key `YEARBOOK_PLANS__FRE__ROW_CAP`; the nearest known key is `YEARBOOK_PLANS__FREE__ROW_CAP`",
    );
    check_wrong(
        typed("retain_hours", json!(1)),
        "y.toml, line 3: unknown key `retain_hours`; the nearest known key is `storage.retain_hours`",
    );
}

#[test]
fn a_wrong_value_says_what_would_fit() {
    check_wrong(
        typed("storage.retain_hours", json!("1")),
        "y.toml, line 3: `storage.retain_hours` must be a whole number, not \"1\"",
    );
    check_wrong(
        typed("storage.retain_hours", json!(-1)),
        "y.toml, line 3: `storage.retain_hours` must be a whole number from 0 to 4294967295, not -1",
    );
    check_wrong(
        variable("plans.free.row_cap", "many"),
        "variable YEARBOOK_PLANS__FREE__ROW_CAP: `plans.free.row_cap` must be a whole number or \"unlimited\", not \"many\"",
    );
    check_wrong(
        typed("sandbox.stack_bytes", json!(64 << 20)),
        "y.toml, line 3: `sandbox.stack_bytes` must be a whole number from 65536 to 16777216, not 67108864",
    );
    check_wrong(
        typed("log.format", json!("xml")),
        "y.toml, line 3: `log.format` must be `text` or `json`, not \"xml\"",
    );
    check_wrong(
        typed("storage.url", json!(["a"])),
        "y.toml, line 3: `storage.url` must be text, not a list",
    );
    check_wrong(
        typed("storage", json!(1)),
        "y.toml, line 3: `storage` must be a section: write [storage] and its keys below, not 1",
    );
}

#[test]
fn an_empty_section_is_no_assignment_unless_misspelt() {
    assert!(apply(&[typed("storage", json!({}))]).is_ok());
    assert_eq!(apply(&[typed("storag", json!({}))]).unwrap_err().len(), 1);
}

#[test]
fn everything_wrong_is_said_at_once() {
    let problems =
        apply(&[typed("a", json!(1)), typed("log.format", json!(1)), variable("b.c", "1")])
            .unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn two_names_of_one_setting_must_agree() {
    let short = Assignment {
        origin: SettingOrigin::Variable("YEARBOOK_STORAGE_URL".to_owned()),
        ..variable("storage.url", "file:/a")
    };
    assert!(apply(&[short.clone(), variable("storage.url", "file:/a")]).is_ok());
    assert_eq!(
        apply(&[short, variable("storage.url", "file:/b")]).unwrap_err(),
        [
            "variable YEARBOOK_STORAGE_URL and variable YEARBOOK_STORAGE__URL both set `storage.url`, to different values; keep one of them"
        ]
    );
}
