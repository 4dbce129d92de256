//! Names, parameters and headers that try to be something else: a second header, another path,
//! another line of the log. Sent as bytes, since no client library would. Needs the built-in
//! plugins (`cargo xtask plugins`).

use std::fmt::Write;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::served::CliServer;

/// Text that is put wherever a client may put something. Percent-encoded where an address needs it.
const HOSTILE: [&str; 22] = [
    "%0d%0aX-Evil:%201",
    "%0aX-Evil:%201",
    "%E5%98%8A%E5%98%8DX-Evil:%201",
    "x%00y",
    "..",
    "%2e%2e",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5c",
    "%252e%252e%252f",
    "%c0%ae%c0%ae%c0%af",
    "%e0%80%af",
    "%ed%a0%80",
    "%ff%fe",
    "%",
    "%zz",
    "%E2%80%AE%E2%80%8B",
    "%CE%9A%C2%AD",
    "'%20OR%201=1--",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "%22;%20filename=%22evil.exe",
    "$%7Bjndi:ldap://x%7D",
    "%1b%5b31m",
];

/// Checks an answer to its last header; its status.
#[track_caller]
fn check_response(asked: &str, answer: &str) -> u16 {
    let (head, body) =
        answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{asked}: no head in {answer:?}"));
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok())
        .unwrap_or_else(|| panic!("{asked}: {answer:?}"));
    for line in lines {
        let (name, value) =
            line.split_once(": ").unwrap_or_else(|| panic!("{asked}: {line:?} is no header"));
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
            "{asked}: {line:?}"
        );
        assert!(!name.eq_ignore_ascii_case("x-evil"), "{asked}: {line:?}");
        assert!(!value.contains(char::is_control), "{asked}: {line:?}");
    }
    // Whatever repeats what was asked is JSON, which browsers do not run.
    assert!(
        !body.contains("<script")
            || head.to_ascii_lowercase().contains("content-type: application/json"),
        "{asked}: {answer}"
    );
    assert!(status < 500, "{asked}: {answer}");
    status
}

#[test]
fn what_a_client_writes_never_becomes_a_header_a_path_or_a_line_of_the_log() {
    let served = CliServer::start(&[
        ("YEARBOOK_LOG__LEVEL", "debug"),
        ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"),
    ]);
    for hostile in HOSTILE {
        for path in [
            format!("/v1/datasets/{hostile}/data"),
            format!("/v1/datasets/{hostile}"),
            format!("/v1/series/{hostile}/data"),
            format!("/v1/bulk/tests/{hostile}"),
            format!("/v1/bulk/{hostile}/tiny"),
            format!("/v1/integrations/{hostile}?datasets=tiny"),
            format!("/v1/integrations/meltano?datasets={hostile}"),
            format!("/docs/{hostile}"),
            format!("/{hostile}"),
        ] {
            let status = check_response(&path, &served.get(&path, &[]));
            assert!(matches!(status, 400 | 404 | 422), "{status} for {path}");
        }
        for parameter in ["columns", "format", "start", "limit", "geometry", "cursor", "snapshot"] {
            let path = format!("/v1/datasets/tiny/data?{parameter}={hostile}");
            let status = check_response(&path, &served.get(&path, &[]));
            assert!(matches!(status, 400 | 404 | 410 | 422), "{status} for {path}");
        }
        // Names of parameters and what is searched for may be anything; links repeat them.
        for path in [
            format!("/v1/datasets/tiny/data?limit=1&{hostile}=1"),
            format!("/v1/datasets/tiny/data?limit=1&x={hostile}"),
        ] {
            let answer = served.get(&path, &[]);
            assert!(matches!(check_response(&path, &answer), 200 | 400), "{path}: {answer}");
        }
    }
    assert_eq!(check_response("a whole request", &served.get("/v1/datasets/tiny/data", &[])), 200);
    let log = served.stop();
    for line in log.lines() {
        assert!(
            line.starts_with("20") || line.starts_with("listening on "),
            "not one line of the log: {line:?}"
        );
        assert!(!line.contains(|c: char| c.is_control() && c != '\t'), "{line:?}");
    }
}

#[test]
fn headers_that_are_none_are_refused_and_repeated_nowhere() {
    let served = CliServer::start(&[
        ("YEARBOOK_LOG__LEVEL", "debug"),
        ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"),
    ]);
    let raw = |lines: &[u8]| {
        let mut request = format!(
            "GET /v1/datasets/tiny/data HTTP/1.1\r\nX-API-Key: {}\r\nConnection: close\r\n",
            served.key
        )
        .into_bytes();
        request.extend_from_slice(lines);
        request.extend_from_slice(b"\r\n\r\n");
        served.raw(&request)
    };
    for name in [
        "Host",
        "X-Request-Id",
        "Accept",
        "If-None-Match",
        "If-Modified-Since",
        "Accept-Encoding",
        "Origin",
        "X-Forwarded-For",
        "traceparent",
        "Range",
    ] {
        for value in [
            &b"a\rX-Evil: 1"[..],
            b"a\nX-Evil: 1",
            b"a\0b",
            b"\xff\xfe",
            b"\xc0\xaf",
            "e\u{301}\u{202e}".as_bytes(),
            b"\x1b[31m",
            b"\"\\\"",
            b"../..",
            b";,;,;=",
            b"",
        ] {
            let mut line = format!("{name}: ").into_bytes();
            line.extend_from_slice(value);
            let asked = String::from_utf8_lossy(&line).into_owned();
            // A line feed alone ends a header for some readers; what follows is then a request's
            // header, never an answer's.
            let answer = raw(&line);
            if !answer.is_empty() {
                let status = check_response(&asked, &answer);
                assert!(matches!(status, 200 | 400 | 406), "{status} for {asked:?}");
            }
        }
    }
    // Two bodies in one: read as one request, or refused.
    for lines in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: x\r\n\r\n0\r\n\r\nGET /x HTTP/1.1",
        "Content-Length: 1\r\nContent-Length: 2\r\nHost: x",
    ] {
        let answer = raw(lines.as_bytes());
        assert!(answer.is_empty() || answer.matches("HTTP/1.1 ").count() == 1, "{answer}");
    }
    let mut many = String::from("Host: x");
    for number in 0..500 {
        write!(many, "\r\nX-{number}: 1").unwrap();
    }
    assert_eq!(check_response("500 headers", &raw(many.as_bytes())), 431);
    let key = served.key.clone();
    let log = served.stop();
    assert!(!log.contains(&key), "a key in {log}");
    for line in log.lines() {
        assert!(
            line.starts_with("20") || line.starts_with("listening on "),
            "not one line of the log: {line:?}"
        );
    }
}

#[test]
fn no_line_of_any_log_has_a_key_in_it() {
    // Everything that can be said, in both shapes.
    for format in ["text", "json"] {
        let served =
            CliServer::start(&[("YEARBOOK_LOG__LEVEL", "trace"), ("YEARBOOK_LOG__FORMAT", format)]);
        let key = served.key.clone();
        let encoded = BASE64_STANDARD.encode(format!("{key}:"));
        let (bearer, basic) = (format!("Bearer {key}"), format!("Basic {encoded}"));
        for path in [
            "/v1/datasets",
            "/v1/datasets/tiny/data",
            "/v1/me",
            "/v1/bulk/tests/tiny",
            "/v1/integrations/meltano?datasets=tiny",
            "/nowhere",
        ] {
            served.get(path, &[]);
            for authorization in [&bearer, &basic] {
                let line = format!("Authorization: {authorization}");
                let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{line}\r\nConnection: close");
                served.raw(format!("{head}\r\n\r\n").as_bytes());
            }
        }
        let made = served.get("/v1/datasets/tiny/link?format=csv", &[]);
        let token = made.split("/l/").nth(1).unwrap().split(".csv").next().unwrap().to_owned();
        for path in [
            format!("/l/{token}.csv"),
            format!("/l/{token}.csv?cursor=x"),
            format!("/l/{token}.json"),
            format!("/l/{token}.csv/"),
            format!("//l/{token}.csv"),
            format!("/proxied/l/{token}.csv?region=x"),
        ] {
            served.get(&path, &[]);
        }
        // A key that is nobody's, one that is mistyped, and two.
        let wrong = format!("{}x", &key[..key.len() - 1]);
        served.raw(
            format!(
                "GET /v1/me HTTP/1.1\r\nHost: x\r\nX-API-Key: {wrong}\r\nConnection: close\r\n\r\n"
            )
            .as_bytes(),
        );
        served.get("/v1/me", &[&format!("X-API-Key: {wrong}")]);
        let secret = key.strip_prefix("yb_").unwrap()[..20].to_owned();
        let log = served.stop();
        assert!(log.contains("/v1/integrations/meltano"), "nothing was logged");
        for secret in [&secret[..], &encoded[..20], &token[..20]] {
            let line = log.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "a key or a link in the log");
        }
    }
}
