//! Refreshing from the command line: exit codes, lines, reasons, and a process that is killed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;

use crate::binary::{CommandOutput, Yearbook};
use crate::gc::AT_ONCE;

const ROWS: &str = "2024-01-01,1\n2024-02-01,2.5\n";

/// A source on loopback: `/NAME.csv` has what a test says, or nothing.
struct SourceServer {
    port: u16,
    rows: Arc<Mutex<Option<String>>>,
    /// Set: the body comes a byte at a time.
    slow: Arc<AtomicBool>,
    /// Connections so far.
    asked: Arc<AtomicUsize>,
}

impl SourceServer {
    fn start(rows: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let rows = Arc::new(Mutex::new(Some(rows.to_owned())));
        let slow = Arc::<AtomicBool>::default();
        let asked = Arc::<AtomicUsize>::default();
        let (shown, slowly, counted) = (Arc::clone(&rows), Arc::clone(&slow), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shown, slow) = (Arc::clone(&shown), slowly.load(Ordering::Relaxed));
                counted.fetch_add(1, Ordering::Relaxed);
                std::thread::spawn(move || {
                    let rows = shown.lock().unwrap().clone();
                    answer(stream, rows.as_deref(), slow)
                });
            }
        });
        Self { port, rows, slow, asked }
    }

    fn set(&self, rows: Option<&str>) {
        *self.rows.lock().unwrap() = rows.map(str::to_owned);
    }
}

fn answer(mut stream: TcpStream, rows: Option<&str>, slow: bool) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    let body = rows.map(|rows| format!("date,value\n{rows}")).unwrap_or_default();
    let tag = format!("\"{}-{}\"", body.len(), body.bytes().map(u64::from).sum::<u64>());
    let status = match rows {
        None => "404 Not Found",
        Some(_) if String::from_utf8_lossy(&head).contains(&tag) => "304 Not Modified",
        Some(_) => "200 OK",
    };
    write!(stream, "HTTP/1.1 {status}\r\nETag: {tag}\r\n").ok()?;
    if status.starts_with("304") {
        return stream.write_all(b"\r\n").ok();
    }
    write!(stream, "Content-Length: {}\r\n\r\n", body.len()).ok()?;
    for byte in body.as_bytes() {
        stream.write_all(std::slice::from_ref(byte)).ok()?;
        if slow {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    Some(())
}

/// Writes a package whose table is that of the server.
fn remote_package(yearbook: &Yearbook, server: &SourceServer, name: &str, cadence: &str) {
    let path = yearbook.package(name, "");
    let mut descriptor: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    descriptor["resources"][0]["path"] =
        json!(format!("http://127.0.0.1:{}/{name}.csv", server.port));
    descriptor["yearbook"]["refresh_cadence"] = json!(cadence);
    yearbook.write(&format!("sources/{name}/datapackage.json"), &descriptor.to_string());
}

const ALLOW_PRIVATE: (&str, &str) = ("YEARBOOK_REFRESH__ALLOW_PRIVATE", "true");

fn refresh(yearbook: &Yearbook, arguments: &[&str]) -> CommandOutput {
    yearbook.run_with(&[ALLOW_PRIVATE], &[&["refresh"], arguments].concat())
}

fn reports(said: &CommandOutput) -> Vec<Value> {
    let mut reports: Vec<Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    reports.sort_by_key(|report| report["name"].to_string());
    reports
}

#[test]
fn a_refresh_prints_one_object_for_each_dataset_contract_8() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    remote_package(&yearbook, &server, "remote", "daily");
    let local = yearbook.package("local", ROWS);
    let local = local.to_str().unwrap();
    let both = ["sources", local, "--json"];
    let first = refresh(&yearbook, &both).ok();
    let ids: Vec<Value> = reports(&first).iter().map(|report| report["snapshot"].clone()).collect();
    let expected = |outcome: &str, reason: Value| {
        ["local", "remote"]
            .iter()
            .zip(&ids)
            .map(|(name, id)| json!({ "name": name, "outcome": outcome, "snapshot": id, "reason": reason }))
            .collect::<Vec<_>>()
    };
    assert_eq!(reports(&first), expected("published", Value::Null));
    assert_eq!(first.stderr, "", "progress belongs on a terminal");
    let again = refresh(&yearbook, &both).ok();
    assert_eq!(reports(&again), expected("unchanged", Value::Null));
    let due = refresh(&yearbook, &["sources", "--due", "--json"]).ok();
    let [skipped] = &reports(&due)[..] else { panic!("{}", due.stdout) };
    assert_eq!((&skipped["outcome"], &skipped["snapshot"]), (&json!("skipped"), &ids[1]));
    assert!(skipped["reason"].as_str().unwrap().starts_with("not due before "), "{skipped}");
    // For people, a line each.
    let text = refresh(&yearbook, &["sources"]).ok().stdout;
    assert_eq!(text, "remote: unchanged\n");
    server.set(Some("2024-01-01,7\n"));
    let text = refresh(&yearbook, &["sources"]).ok().stdout;
    assert!(text.starts_with("remote: published, snapshot "), "{text}");
}

#[test]
fn one_failure_is_exit_code_1_with_its_reason_at_the_end_contract_8() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    remote_package(&yearbook, &server, "remote", "daily");
    yearbook.package("local", ROWS);
    refresh(&yearbook, &["sources", "local"]).ok();
    let shown = |name: &str| yearbook.run(&["datasets", "show", name, "--json"]).ok().json();
    let before = shown("remote");
    assert_eq!(before["last_check"]["outcome"], "published");
    assert_eq!(before["last_check"]["reason"], Value::Null);
    server.set(None);
    std::thread::sleep(Duration::from_millis(1_100));
    let said = refresh(&yearbook, &["sources", "local"]);
    assert_eq!(said.code, Some(1), "{} {}", said.stdout, said.stderr);
    let mut lines: Vec<&str> = said.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["local: unchanged", "remote: failed"]);
    assert!(
        said.stderr.starts_with("error: 1 of 2 packages failed; their datasets are as they were\n"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("remote   http://127.0.0.1:") && said.stderr.contains("answers 404"),
        "{}",
        said.stderr
    );
    let after = shown("remote");
    assert_eq!(after["current_snapshot_id"], before["current_snapshot_id"]);
    assert_eq!(after["checked_at"], before["checked_at"], "it was not checked");
    assert_eq!(after["last_check"]["outcome"], "failed");
    assert!(after["last_check"]["reason"].as_str().unwrap().contains("answers 404"), "{after}");
    assert!(after["last_check"]["time"].as_str() > before["last_check"]["time"].as_str());
    let text = yearbook.run(&["datasets", "show", "remote"]).ok().stdout;
    assert!(
        text.contains("\nlast check      2") && text.contains(", failed: http://127.0.0.1:"),
        "{text}"
    );
    // For machines.
    let said = refresh(&yearbook, &["sources", "--json"]);
    assert_eq!(said.code, Some(1));
    let error: Value = serde_json::from_str(&said.stderr).unwrap();
    assert_eq!(error["failed"][0]["name"], "remote");
    assert_eq!(error["failed"][0]["reason"], reports(&said)[0]["reason"]);
}

#[test]
fn packages_of_the_settings_are_refreshed_without_arguments_contract_8() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    let said = yearbook.run(&["refresh"]).failed(1);
    assert!(said.contains("set `packages` under [refresh]"), "{said}");
    remote_package(&yearbook, &server, "remote", "daily");
    remote_package(&yearbook, &server, "other", "none");
    yearbook.write(
        "yearbook.toml",
        "[refresh]\npackages = [\"sources\"]\nallow_private = true\nparallel = 1\n",
    );
    let said = yearbook.run(&["refresh", "--json"]).ok();
    assert_eq!(reports(&said).len(), 2);
    // A named one stands for itself.
    let said = yearbook.run(&["refresh", "sources/other", "--json"]).ok();
    assert_eq!(reports(&said).len(), 1);
    let said = yearbook.run(&["refresh", "nowhere", "sources/other", "--json"]);
    assert_eq!((said.code, reports(&said).len()), (Some(1), 2), "{}", said.stdout);
    assert_eq!(reports(&said)[0]["name"], "nowhere");
    for (key, value) in [("parallel", "0"), ("timeout_seconds", "0"), ("max_bytes", "0")] {
        let variable = format!("YEARBOOK_REFRESH__{}", key.to_uppercase());
        let said = yearbook.run_with(&[(&variable, value)], &["refresh"]).failed(1);
        assert!(said.contains("a whole number of at least 1"), "{said}");
    }
}

#[test]
fn a_loopback_address_is_refused_by_default_contract_8() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    remote_package(&yearbook, &server, "remote", "daily");
    let said = yearbook.run(&["refresh", "sources"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), "remote: failed\n"));
    assert!(
        said.stderr.contains("127.0.0.1, which is not on the public Internet"),
        "{}",
        said.stderr
    );
    assert_eq!(yearbook.run(&["datasets", "list", "--json"]).ok().json(), json!([]));
    let said = yearbook.run(&["datasets", "show", "remote"]).failed(1);
    assert!(said.contains("the last check of its source failed: 127.0.0.1 leads to"), "{said}");
}

/// Longer than a request waits for a connection (`database.acquire_ms`): the sources of a command
/// queue behind the one that waits for the lock.
const OTHER_PROCESS_WRITES: Duration = Duration::from_millis(1_500);

#[test]
fn the_sources_of_a_refresh_wait_while_another_process_writes() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    let names = ["one", "two", "three", "four"];
    for name in names {
        remote_package(&yearbook, &server, name, "daily");
    }
    refresh(&yearbook, &["sources"]).ok();
    let before = server.asked.load(Ordering::Relaxed);
    // No source answers before the lock is held, and all do then.
    let unanswered = server.rows.lock().unwrap();
    let mut command = yearbook.command(&["refresh", "sources", "--json"]);
    command.env(ALLOW_PRIVATE.0, ALLOW_PRIVATE.1).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    while server.asked.load(Ordering::Relaxed) < before + names.len() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let url = format!("sqlite:{}", yearbook.path("yearbook-data/yearbook.db").display());
    let lock = runtime.block_on(async {
        let mut connection = SqliteConnection::connect(&url).await.unwrap();
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
        connection
    });
    drop(unanswered);
    std::thread::sleep(OTHER_PROCESS_WRITES);
    runtime.block_on(lock.close()).unwrap();
    let said = CommandOutput::from_output(child.wait_with_output().unwrap()).ok();
    let outcomes: Vec<Value> =
        reports(&said).iter().map(|report| report["outcome"].clone()).collect();
    assert_eq!(outcomes, vec![json!("unchanged"); names.len()], "{}", said.stdout);
}

#[test]
fn publish_says_who_asks_addresses() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    remote_package(&yearbook, &server, "remote", "daily");
    let said = yearbook.run(&["publish", "sources/remote"]).failed(1);
    assert!(said.contains("let `yearbook refresh` ask it"), "{said}");
}

#[test]
fn a_refresh_that_is_killed_leaves_nothing_behind_contract_8() {
    let (yearbook, server) = (Yearbook::new(), SourceServer::start(ROWS));
    remote_package(&yearbook, &server, "remote", "daily");
    refresh(&yearbook, &["sources"]).ok();
    let shown = || yearbook.run(&["datasets", "show", "remote", "--json"]).ok().json();
    let before = shown();
    let temporary = yearbook.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    server.set(Some("2024-01-01,7\n2024-02-01,8\n2024-03-01,9\n"));
    for point in [50, 400, 900, 1_500, 2_500] {
        server.slow.store(true, Ordering::Relaxed);
        let mut command = yearbook.command(&["refresh", "sources"]);
        command.env(ALLOW_PRIVATE.0, ALLOW_PRIVATE.1).env("TMPDIR", &temporary);
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(point));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = shown();
        assert_eq!(after["current_snapshot_id"], before["current_snapshot_id"]);
        assert_eq!(after["checked_at"], before["checked_at"]);
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "after {point} ms");
    }
    server.slow.store(false, Ordering::Relaxed);
    // A timer waits until the dead process's lease has ended; a person does not.
    let said = refresh(&yearbook, &["sources", "--json"]).ok();
    assert_eq!(reports(&said)[0]["outcome"], "published");
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(10));
        yearbook.run_with(&AT_ONCE, &["gc"]).ok();
    }
    let said = yearbook.run_with(&AT_ONCE, &["gc", "--json"]).ok().json();
    assert_eq!((said["later"].clone(), said["removed"].clone()), (json!([]), json!([])), "{said}");
    let checks = yearbook.run(&["doctor", "--deep", "--json", "--plugins", "none"]).json();
    let snapshots = checks.as_array().unwrap().iter().find(|check| check["name"] == "snapshots");
    assert_eq!(snapshots.unwrap()["status"], "ok", "{checks}");
}
