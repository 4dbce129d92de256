//! Profile files of the share (contract-12-profile), and a query over a real connection.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::binary::{CommandOutput, Yearbook};
use crate::served::CliServer;

/// A run of `share profile --key -` with `key` on standard input.
fn profile_of(yearbook: &Yearbook, key: &str) -> CommandOutput {
    let mut command = yearbook.command(&["share", "profile", "--key", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{key}").unwrap();
    CommandOutput::from_output(child.wait_with_output().unwrap())
}

#[test]
fn a_profile_is_issued_once_or_made_of_a_key_contract_12() {
    let yearbook = Yearbook::new();
    let public = [("YEARBOOK_SERVER__PUBLIC_URL", "https://data.example.org")];
    let profile = yearbook.run_with(&public, &["share", "profile", "--label", "ann"]).ok().json();
    assert_eq!(profile["shareCredentialsVersion"], 1);
    assert_eq!(profile["endpoint"], "https://data.example.org/share/delta");
    assert!(profile.get("icebergEndpoint").is_none(), "{profile}");
    let key = profile["bearerToken"].as_str().unwrap();
    let keys = || yearbook.run(&["keys", "list", "--json"]).ok().json();
    let listed = keys();
    assert_eq!((&listed[0]["plan"], &listed[0]["label"]), (&"enterprise".into(), &"ann".into()));
    assert!(listed[0]["last_used_at"].is_null() && !listed.to_string().contains(key));

    let again = profile_of(&yearbook, key).ok();
    assert_eq!(again.json()["bearerToken"], key);
    assert_eq!(keys().as_array().unwrap().len(), 1, "no key was issued");

    let free = yearbook.run(&["keys", "create", "--plan", "free", "--json"]).ok().json();
    yearbook.run(&["keys", "revoke", listed[0]["id"].as_str().unwrap()]).ok();
    for (text, expected) in [
        (free["key"].as_str().unwrap(), "takes Enterprise keys"),
        (key, "is revoked"),
        ("yb_x", "is no key"),
        ("", "is no key"),
    ] {
        let said = profile_of(&yearbook, text).failed(1);
        assert!(said.contains(expected), "{said}");
    }
    let with_iceberg = [public[0], ("YEARBOOK_SHARE__ICEBERG", "true")];
    let both =
        yearbook.run_with(&with_iceberg, &["share", "profile", "--label", "bob"]).ok().json();
    assert_eq!(both["icebergEndpoint"], "https://data.example.org/share/iceberg");
    assert_eq!(both["endpoint"], profile["endpoint"]);
    yearbook.run(&["share", "profile"]).failed(2);
    yearbook.run(&["share", "profile", "--key", key]).failed(2);
}

#[test]
fn a_query_of_any_length_is_read_from_a_connection_contract_12() {
    let server = CliServer::start(&[]);
    let profile = server.folder().run(&["share", "profile", "--label", "ann"]).ok().json();
    let key = profile["bearerToken"].as_str().unwrap();
    let path = "/share/delta/shares/yearbook/schemas/tests/tables/tiny/query";
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n",
        server.address
    );
    let file = |answer: &str| -> Value {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(answer.lines().find(|line| line.contains("\"file\"")).unwrap())
            .unwrap()
    };
    // Longer than a form may be.
    let body = format!("{{\"predicateHints\": [\"{}\"]}}", "x".repeat(20_000));
    let long = server.raw(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    let url = file(&long)["file"]["url"].as_str().unwrap().to_owned();
    let chunked = server
        .raw(format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n").as_bytes());
    file(&chunked);
    // Longer than a query may be: the newest version never answers in place of the one asked for.
    let body = format!("{{\"version\":0,\"a\":\"{}\"}}", "x".repeat(263_000));
    for framed in [
        format!("Content-Length: {}\r\n\r\n{body}", body.len()),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
    ] {
        let refused = server.raw(format!("{head}{framed}").as_bytes());
        assert!(refused.starts_with("HTTP/1.1 413"), "{refused}");
    }
    let empty = server.raw(format!("{head}Content-Length: 0\r\n\r\n").as_bytes());
    file(&empty);
    let (_, path) = url.split_once("/share/").unwrap();
    let fetched = server.raw(format!("GET /share/{path} HTTP/1.1\r\nHost: {}\r\nRange: bytes=0-3\r\nConnection: close\r\n\r\n", server.address).as_bytes());
    assert!(fetched.starts_with("HTTP/1.1 206") && fetched.ends_with("PAR1"), "{fetched}");
    // What is used is written every few seconds, and before the server ends.
    let folder = server.folder().path("yearbook-data");
    let listing =
        ["--data-dir", folder.to_str().unwrap(), "keys", "list", "--json"].map(str::to_owned);
    let elsewhere = Yearbook::new();
    let arguments: Vec<&str> = listing.iter().map(String::as_str).collect();
    let used = || elsewhere.run(&arguments).ok().json()[1]["last_used_at"].is_string();
    let begun = std::time::Instant::now();
    while !used() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(15), "no use is listed");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    server.stop();
}
