//! `doctor` finds what is wrong and says what to do. The built-in plugins are checked elsewhere:
//! here a folder without any stands for a broken installation.

use std::path::Path;

use serde_json::Value;

use crate::binary::{CommandOutput, Yearbook};
use crate::serve::within_two_seconds;
use crate::served::CliServer;

fn check<'a>(checks: &'a Value, name: &str) -> (&'a str, &'a str) {
    let found = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {checks}"));
    (found["status"].as_str().unwrap(), found["message"].as_str().unwrap())
}

fn doctor(yearbook: &Yearbook) -> (CommandOutput, Value) {
    doctor_with(yearbook, &[], &[])
}

fn doctor_with(
    yearbook: &Yearbook,
    variables: &[(&str, &str)],
    more: &[&str],
) -> (CommandOutput, Value) {
    let variables = [&[("YEARBOOK_SERVER__LISTEN", "127.0.0.1:0")], variables].concat();
    let said = yearbook
        .run_with(&variables, &[&["doctor", "--json", "--plugins", "no-plugins"], more].concat());
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
    std::fs::set_permissions(
        yearbook.path("yearbook-data"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let (_, checks) = doctor(&yearbook);
    let (status, message) = check(&checks, "data directory");
    assert_eq!(status, "warn");
    assert!(message.contains("chmod 700"), "{message}");
}

#[test]
fn settings_in_force_are_named_with_their_source_and_without_passwords() {
    let yearbook = Yearbook::new();
    yearbook.write("yearbook.toml", "[storage]\nretain_hours = 1\nretain_snapshots = 3\n[log]\n");
    let variables = [
        ("YEARBOOK_STORAGE__RETAIN_HOURS", "2"),
        ("YEARBOOK_DATABASE_URL", "postgres://ann:hunter2@127.0.0.1:1/yb?password=hunter2"),
        ("YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__SECRET_ACCESS_KEY", "hunter2"),
        ("YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__SESSION_TOKEN", "hunter2"),
    ];
    let (said, checks) = doctor_with(&yearbook, &variables, &[]);
    let (status, message) = check(&checks, "settings");
    assert_eq!(status, "ok");
    assert!(message.starts_with("yearbook.toml; "), "{message}");
    for part in [
        "storage.retain_hours = 2 (variable YEARBOOK_STORAGE__RETAIN_HOURS)",
        "storage.retain_snapshots = 3 (yearbook.toml, line 3)",
        "database.url = postgres://ann:***@127.0.0.1:1/yb (",
        "share.iceberg_credentials.s3.secret_access_key = *** (",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!message.contains("hunter2") && !message.contains("retain_hours = 1"), "{message}");
    assert!(!format!("{checks:?}").contains("hunter2"), "{checks:?}");
    // Nobody listens there.
    let (status, message) = check(&checks, "database");
    assert!(status == "fail" && message.contains("Check that PostgreSQL runs there"), "{message}");
    assert_eq!(said.code, Some(1));
}

#[test]
fn a_store_that_takes_nothing_is_a_failure() {
    let yearbook = Yearbook::new();
    // A file where a folder has to be: even root cannot write below it.
    yearbook.write("yearbook-data/objects/snapshots", "no folder");
    std::fs::set_permissions(
        yearbook.path("yearbook-data"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    let (_, checks) = doctor(&yearbook);
    let (status, message) = check(&checks, "object store");
    assert!(
        status == "fail" && message.contains("does not come back; publishing needs it"),
        "{message}"
    );
}

#[test]
fn a_flipped_byte_is_found_by_reading_everything() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n");
    yearbook.run(&["publish", "tiny"]).ok();
    let stored = only_snapshot(&yearbook.path("yearbook-data/objects/snapshots"));
    let mut bytes = std::fs::read(&stored).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&stored, bytes).unwrap();
    assert_eq!(check(&doctor(&yearbook).1, "snapshots").0, "ok", "its size is right");
    let deep = || doctor_with(&yearbook, &[], &["--deep"]).1;
    let checks = deep();
    let (status, message) = check(&checks, "snapshots");
    assert!(
        status == "fail"
            && message.contains("tiny is missing or damaged")
            && message.contains("publish the package again"),
        "{message}"
    );
    yearbook.run(&["publish", "tiny"]).ok();
    assert!(check(&deep(), "snapshots").1.contains("every byte"));
}

#[test]
fn a_cache_that_others_can_write_or_seal_is_a_failure() {
    use std::os::unix::fs::PermissionsExt;
    let yearbook = Yearbook::new();
    yearbook.run(&["migrate"]).ok();
    yearbook.write("yearbook-data/cache/x", "");
    yearbook.write("yearbook-data/cache.key", "");
    let set = |name: &str, mode| {
        std::fs::set_permissions(yearbook.path(name), std::fs::Permissions::from_mode(mode))
            .unwrap()
    };
    for (folder, key, status, words) in [
        (0o700, 0o600, "ok", "this user's alone"),
        (0o722, 0o600, "fail", "chmod 700"),
        (0o700, 0o640, "fail", "could seal machine code"),
    ] {
        set("yearbook-data/cache", folder);
        set("yearbook-data/cache.key", key);
        let checks = doctor(&yearbook).1;
        let found = check(&checks, "cache");
        assert!(found.0 == status && found.1.contains(words), "{found:?}");
    }
}

#[test]
fn a_release_that_is_not_trusted_here_is_a_failure() {
    let yearbook = Yearbook::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/dist/r.wasm");
    yearbook.run(&["plugin", "install", file]).ok();
    let checks = doctor(&yearbook).1;
    assert_eq!(
        check(&checks, "releases"),
        ("ok", "there, trusted, and able to serve: 1 installed release")
    );
    let checks = doctor_with(&yearbook, &[("YEARBOOK_PLUGINS__REQUIRE", "digest")], &[]).1;
    let (status, message) = check(&checks, "releases");
    assert!(status == "fail" && message.starts_with("r 0.1.0 cannot serve here: "), "{message}");
}

#[test]
fn limits_and_addresses_that_do_not_fit_this_machine_are_named() {
    let yearbook = Yearbook::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let variables = [
        ("YEARBOOK_SANDBOX__INSTANCES", "4000000"),
        ("YEARBOOK_SERVER__CONNECTIONS", "4000000000"),
        ("YEARBOOK_SERVER__ADMIN_LISTEN", &taken),
    ];
    let checks = doctor_with(&yearbook, &variables, &[]).1;
    for (name, status, words) in
        [("memory", "warn", "sandbox.instances"), ("descriptors", "warn", "LimitNOFILE")]
    {
        let found = check(&checks, name);
        assert!(found.0 == status && found.1.contains(words), "{found:?}");
    }
    let listeners: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|check| check["name"] == "listener").collect();
    assert_eq!(
        (&listeners[0]["status"], &listeners[1]["status"]),
        (&"ok".into(), &"fail".into()),
        "{checks}"
    );
    assert!(listeners[1]["message"].as_str().unwrap().contains("server.admin_listen"), "{checks}");
}

#[test]
fn links_that_would_send_keys_in_clear_text_are_a_warning_contract_6() {
    let yearbook = Yearbook::new();
    assert_eq!(check(&doctor(&yearbook).1, "links").0, "ok");
    for (variables, status, words) in [
        (&[("YEARBOOK_SERVER__LISTEN", "0.0.0.0:0")][..], "warn", "server.public_url"),
        (&[("YEARBOOK_SERVER__PUBLIC_URL", "http://data.example.org")], "warn", "clear text"),
        (
            &[("YEARBOOK_SERVER__PUBLIC_URL", "https://data.example.org")],
            "ok",
            "https://data.example.org",
        ),
    ] {
        let checks = doctor_with(&yearbook, variables, &[]).1;
        let found = check(&checks, "links");
        assert!(found.0 == status && found.1.contains(words), "{found:?}");
    }
}

/// The only Parquet file of a folder (the store may keep checksums beside it).
fn only_snapshot(folder: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.pop().unwrap()
}

#[test]
fn doctor_warns_of_an_outbox_contract_10() {
    let yearbook = Yearbook::new();
    let (_, checks) = doctor(&yearbook);
    let (status, message) = check(&checks, "sign-up");
    assert!(status == "warn" && message.contains("yearbook signup outbox"), "{message}");
    for (variables, status, words) in [
        (&[("YEARBOOK_SIGNUP__MODE", "off")][..], "ok", "keys create"),
        (&[("YEARBOOK_PAGES__ENABLED", "false")], "ok", "keys create"),
        (&[("YEARBOOK_SIGNUP__MODE", "show")], "warn", "anybody"),
        (&[("YEARBOOK_SIGNUP__MODE", "smtp")], "fail", "signup.smtp_url"),
        (
            &[
                ("YEARBOOK_SIGNUP__MODE", "smtp"),
                ("YEARBOOK_SIGNUP__SMTP_URL", "smtp://ann:hunter2@127.0.0.1:9"),
                ("YEARBOOK_SIGNUP__MAIL_FROM", "keys@example.org"),
                ("YEARBOOK_SERVER__PUBLIC_URL", "https://data.example.org"),
            ],
            "fail",
            "127.0.0.1:9 (signup.smtp_url)",
        ),
    ] {
        let (said, checks) = doctor_with(&yearbook, variables, &[]);
        let found = check(&checks, "sign-up");
        assert!(found.0 == status && found.1.contains(words), "{variables:?}: {found:?}");
        assert!(!said.stdout.contains("hunter2"), "{}", said.stdout);
    }
}

#[test]
fn doctor_tells_of_hosts_that_serve_contract_21() {
    let none = doctor(&Yearbook::new()).1;
    assert!(!none.to_string().contains("\"hosts\""), "nothing is there yet: {none}");
    let server = CliServer::start(&[]);
    let yearbook = server.folder();
    within_two_seconds(|| {
        let checks = doctor(yearbook).1;
        let (status, message) = check(&checks, "hosts");
        status == "ok"
            && message.starts_with("1 host serves: ")
            && message.contains(&server.address.to_string())
            && message.contains("its own, known to ")
    });
}
