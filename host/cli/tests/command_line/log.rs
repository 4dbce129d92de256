//! The log of what was published, checked over HTTP (contract-21-log-verify). Needs the built-in
//! plugins (`cargo xtask plugins`).

use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;

use crate::binary::{CommandOutput, Yearbook};
use crate::serve::within_two_seconds;
use crate::served::CliServer;

#[test]
fn the_key_of_a_log_is_the_same_at_each_call_and_named_by_the_settings_contract_21() {
    let yearbook = Yearbook::new();
    let key = yearbook.run(&["log", "key"]).ok().stdout;
    assert!(key.starts_with("localhost/log+"), "{key}");
    assert_eq!(yearbook.run(&["log", "key", "--json"]).ok().json()["key"], key.trim_end());
    let url = [("YEARBOOK_SERVER__PUBLIC_URL", "https://data.example.org")];
    let named = yearbook.run_with(&url, &["log", "key"]).ok().stdout;
    assert!(named.starts_with("data.example.org/log+"), "{named}");
    assert_ne!(Yearbook::new().run(&["log", "key"]).ok().stdout, key, "of another installation");
}

#[test]
fn a_log_is_verified_over_http_and_a_forged_one_is_not_contract_21() {
    let server = CliServer::start(&[]);
    let yearbook = server.folder();
    let url = format!("http://{}", server.address);
    let key = yearbook.run(&["log", "key"]).ok().stdout;
    let key = key.trim_end();
    let snapshots = yearbook.run(&["datasets", "snapshots", "tiny", "--json"]).ok().json();
    let snapshots = snapshots.to_string();
    let id = snapshots.split('"').find(|text| text.len() == 32).unwrap();
    // A stranger knows the address and the key.
    let stranger = Yearbook::new();
    let check = ["log", "verify", &url, "--key", key, "--checkpoint", "kept", "--json"];
    let snapshot = ["--dataset", "tiny", "--snapshot", id, "--entries"];
    let report = stranger.run(&[&check[..], &snapshot].concat()).ok().json();
    assert_eq!((&report["size"], &report["entries_read"]), (&1.into(), &1.into()), "{report}");
    assert_eq!((&report["entry"]["index"], &report["entry"]["version"]), (&0.into(), &0.into()));
    assert_eq!(report["goes_on_from"], serde_json::Value::Null);
    let kept = std::fs::read_to_string(stranger.path("kept")).unwrap();
    assert!(kept.starts_with("localhost/log\n1\n"), "{kept}");

    yearbook.package("tiny", "2024-01-01,1\n2024-02-01,3\n");
    yearbook.run(&["publish", "tiny"]).ok();
    within_two_seconds(|| server.get("/log/checkpoint", &[]).contains("localhost/log\n2\n"));
    // A full disk takes nothing of what was kept.
    let full = stranger.command_after("trap '' XFSZ && ulimit -f 0", &check).output().unwrap();
    let said = CommandOutput::from_output(full).failed(1);
    assert!(said.contains("cannot keep the checkpoint in kept"), "{said}");
    assert_eq!(std::fs::read_to_string(stranger.path("kept")).unwrap(), kept);
    let text = stranger.run(&check[..check.len() - 1]).ok().stdout;
    assert_eq!(
        text,
        "The log localhost/log has 2 entries, signed by the key.\nIt goes on from the 1 entry of the checkpoint that was kept.\n"
    );

    // Another key; a snapshot that was never published; an address without a log.
    let other = stranger.run(&["log", "key"]).ok().stdout;
    let said = stranger.run(&["log", "verify", &url, "--key", other.trim_end()]).failed(1);
    assert!(said.contains("not signed by the key that was given"), "{said}");
    let never = "0".repeat(32);
    let wrong = ["--dataset", "tiny", "--snapshot", &never];
    assert!(stranger.run(&[&check[..], &wrong].concat()).failed(1).contains("404"));
    stranger.run(&["log", "verify", "--key", "x+y+z"]).failed(1);
    stranger.run(&["log", "verify", &url]).failed(2);

    // Somebody with the database alters what was published; the next head is signed over it.
    let kept = std::fs::read_to_string(stranger.path("kept")).unwrap();
    let database = format!("sqlite:{}", yearbook.path("yearbook-data/yearbook.db").display());
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut connection = SqliteConnection::connect(&database).await.unwrap();
        let forge = "UPDATE log_entries SET committed_at = committed_at - 86400000 WHERE entry = 0";
        sqlx::query(forge).execute(&mut connection).await.unwrap();
    });
    yearbook.package("tiny", "2024-01-01,1\n2024-02-01,4\n");
    yearbook.run(&["publish", "tiny"]).ok();
    within_two_seconds(|| server.get("/log/checkpoint", &[]).contains("localhost/log\n3\n"));
    let said = stranger.run(&check).failed(1);
    assert!(said.contains("does not go on from the checkpoint of before"), "{said}");
    assert_eq!(std::fs::read_to_string(stranger.path("kept")).unwrap(), kept, "not written");
}
