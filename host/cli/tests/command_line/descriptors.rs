//! A server that may open few files. Needs the built-in plugins (`cargo xtask plugins`).
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpSocket;

use crate::binary::Yearbook;
use crate::serve::status;
use crate::served::CliServer;

/// A server after commands of a shell that has answered, with its metrics.
fn start_after(shell: &str) -> (CliServer, String) {
    let server = CliServer::start_after(shell, &[("YEARBOOK_SERVER__ADMIN_LISTEN", "127.0.0.1:0")]);
    let key = serde_json::json!({ "key": server.key });
    assert_eq!(status(&server.address, "/health", &key), 200);
    let admin = server.admin.as_deref().unwrap().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(admin).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n").unwrap();
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).unwrap();
    (server, metrics)
}

#[test]
fn the_soft_limit_is_raised_to_the_hard_one_contract_6() {
    let (server, metrics) = start_after("ulimit -Sn 1024 && ulimit -Hn 9600");
    for line in ["process_max_fds 9600", "yearbook_connections_limit{listener=\"public\"} 8192"] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert!(!server.stop().contains("fewer files"));
}

#[tokio::test]
async fn two_addresses_of_half_heads_leave_connections_to_others_contract_6() {
    let (server, metrics) = start_after("ulimit -n 1024");
    assert!(metrics.contains("yearbook_connections_limit{listener=\"public\"} 128"), "{metrics}");
    // As many of its own.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let mut held = Vec::new();
    for host in [2, 3] {
        for _ in 0..512 {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(([127, 0, 0, host], 0).into()).unwrap();
            // One too many is closed at once, or late.
            if let Ok(stream) = socket.connect(server.address.parse().unwrap()).await {
                let _ = stream.try_write(b"GET / HTTP/1.1\r\nHost: a\r\n");
                held.push(stream);
            }
        }
    }
    let key = serde_json::json!({ "key": server.key });
    assert_eq!(status(&server.address, "/v1/datasets/tiny/data", &key), 200);
    drop(held);
    let log = server.stop();
    assert!(log.contains("fewer files") && log.contains("connections=128"), "{log}");
    assert!(!log.contains("not accepted"), "{log}");
}

#[test]
fn doctor_says_how_many_connections_the_descriptors_leave_contract_6() {
    let said = Yearbook::new().command_after("ulimit -n 1024", &["doctor"]).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("it serves 128 connections, 8 of one address"), "{said}");
}
