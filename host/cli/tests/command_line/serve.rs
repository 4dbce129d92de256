//! Starting and stopping the server. The last test needs the built-in plugins (`cargo xtask
//! plugins`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::Yearbook;

#[test]
fn a_port_that_is_taken_is_said_clearly() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = Yearbook::new().run(&["serve", "--listen", &address]).failed(1);
    assert!(
        said.contains(&format!("cannot listen on {address}"))
            && said.contains("another program listens there"),
        "{said}"
    );
}

#[test]
fn an_address_that_is_none_is_said_with_its_flag() {
    let said = Yearbook::new().run(&["serve", "--listen", "8080"]).failed(1);
    assert!(
        said.contains("--listen: `server.listen` must be something like \"127.0.0.1:8080\""),
        "{said}"
    );
}

#[test]
fn a_server_without_plugins_says_how_to_build_them() {
    let said =
        Yearbook::new().run(&["serve", "--listen", "127.0.0.1:0", "--plugins", "none"]).failed(1);
    assert!(said.contains("json.wasm") && said.contains("cargo xtask plugins"), "{said}");
}

/// A server that a failing test does not leave behind.
pub(crate) struct ServeProcess(pub(crate) Child);

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_notices_what_commands_do_and_stops_when_asked_contract_6() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n2024-02-01,2.5\n");
    // A fresh data directory needs no step before `serve`.
    let mut command = yearbook.command(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--json",
    ]);
    command.env("YEARBOOK_LOG__LEVEL", "info,yearbook_sandbox=debug");
    let log = std::fs::File::create(yearbook.path("log")).unwrap();
    let mut server = ServeProcess(command.stdout(Stdio::piped()).stderr(log).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&line)
        .unwrap_or_else(|_| panic!("the server did not start; are plugins built?"));
    let address = ready["listening"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();

    let admin = ready["admin"].as_str().unwrap();

    let key = yearbook.run(&["keys", "create", "--plan", "enterprise", "--json"]).ok().json();
    yearbook.run(&["publish", "tiny"]).ok();
    within_two_seconds(|| status(&address, "/v1/datasets/tiny/data", &key) == 200);
    yearbook.run(&["datasets", "retire", "tiny"]).ok();
    within_two_seconds(|| status(&address, "/v1/datasets/tiny/data", &key) == 404);
    yearbook.run(&["keys", "revoke", key["id"].as_str().unwrap()]).ok();
    within_two_seconds(|| status(&address, "/v1/datasets", &key) == 401);
    let listed = yearbook.run(&["plugin", "list", "--json"]).ok().json();
    let kinds =
        |kind| listed.as_array().unwrap().iter().filter(|plugin| plugin["kind"] == kind).count();
    let kinds = ["encoder", "generator", "transform", "adapter"].map(kinds);
    assert_eq!(kinds, [5, 3, 4, 3], "{listed}");
    let doctor =
        yearbook.run_with(&[("YEARBOOK_SERVER__LISTEN", &address)], &["doctor"]).ok().stdout;
    assert!(
        doctor.contains(
            "svg, azure-data-factory, fivetran, meltano, aggregate, growth, pivot, resample, \
                mcp, ogc, sdmx load"
        ),
        "{doctor}"
    );
    assert!(
        doctor.contains(&format!("{address} (server.listen): a yearbook answers there")),
        "{doctor}"
    );

    let top = yearbook.run(&["plugin", "top", "--url", admin, "--json"]).ok().json();
    let json = top.as_array().unwrap().iter().find(|row| row["name"] == "json").unwrap();
    assert_eq!(
        (&json["responses"], &json["failures"], &json["kind"]),
        (&1.0.into(), &0.0.into(), &"encoder".into()),
        "{top}"
    );
    let table = yearbook.run(&["plugin", "top", "--url", admin]).ok().stdout;
    assert!(
        table.starts_with("NAME")
            && table.contains("azure-data-factory")
            && !table.contains('\u{1b}'),
        "{table}"
    );
    let refused = yearbook.run(&["plugin", "top", "--url", &format!("http://{address}")]).failed(1);
    assert!(refused.contains("404 Not Found: that is not an admin listener"), "{refused}");

    let asked = Command::new("kill").args(["-TERM", &server.0.id().to_string()]).status().unwrap();
    assert!(asked.success());
    assert_eq!(server.0.wait().unwrap().code(), Some(0));

    let log = std::fs::read_to_string(yearbook.path("log")).unwrap();
    let ended: Vec<&str> =
        log.lines().filter(|line| line.ends_with("the plugin's response ended")).collect();
    let [line] = &ended[..] else { panic!("one response, one line: {ended:#?}") };
    for part in [
        "request{id=",
        "}:plugin{kind=\"encoder\" name=\"json\"",
        "digest=",
        "outcome=\"completed\" cpu_us=",
        "rows=2 bytes_in=",
        "bytes_out=",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[track_caller]
pub(crate) fn within_two_seconds(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(2), "not within 2 seconds");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn status(address: &str, path: &str, key: &serde_json::Value) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let key = key["key"].as_str().unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn top_says_how_to_reach_a_server() {
    let yearbook = Yearbook::new();
    assert!(
        yearbook.run(&["plugin", "top"]).failed(1).contains("--url, or set server.admin_listen")
    );
    let set = yearbook
        .run_with(&[("YEARBOOK_SERVER__ADMIN_LISTEN", "127.0.0.1:1")], &["plugin", "top"])
        .failed(1);
    assert!(
        set.contains("http://127.0.0.1:1")
            && set.contains("start `yearbook serve` with --admin-listen"),
        "{set}"
    );
    let said = yearbook.run(&["plugin", "top", "--url", "127.0.0.1:9090"]).failed(1);
    assert!(said.contains("write it as http://127.0.0.1:9090"), "{said}");
}
