//! A server and a client that reads from it without pause.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use serde_json::Value;

use super::deployment::CrashDeployment;

/// A running server; stopped when dropped.
pub(super) struct CrashServer {
    child: Child,
    address: String,
    key: String,
}

impl CrashServer {
    pub(super) fn start(deployment: &CrashDeployment) -> Self {
        let mut command = deployment.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        let log = std::fs::File::create(deployment.yearbook.path("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the server did not start; are plugins built?"));
        let address =
            ready["listening"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let key = deployment.run(&["keys", "create", "--plan", "enterprise", "--json"]).ok().json();
        Self { child, address, key: key["key"].as_str().unwrap().to_owned() }
    }

    pub(super) fn client(&self) -> CrashClient {
        CrashClient { address: self.address.clone(), key: self.key.clone() }
    }
}

impl Drop for CrashServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody with a key.
#[derive(Clone)]
pub(super) struct CrashClient {
    address: String,
    key: String,
}

impl CrashClient {
    /// Status and body of `path`. HTTP/1.0, so that a body ends with the connection and its length
    /// is checked where it is known.
    pub(super) fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let Self { address, key } = self;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nX-API-Key: {key}\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split_whitespace().nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// The one version that all `rows` rows of the dataset have.
    pub(super) fn version(&self, rows: usize) -> u32 {
        let (status, body) = self.get("/v1/datasets/tiny/data?format=csv&limit=0&start=1900-01-01");
        assert_eq!(status, 200, "{body}");
        let values: Vec<&str> =
            body.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
        assert_eq!(values.len(), rows);
        assert!(
            values.iter().all(|value| *value == values[0]),
            "rows of two versions in one response"
        );
        values[0].parse::<f64>().unwrap().to_string().parse().unwrap()
    }
}

/// Reads until it is stopped.
pub(super) struct ReaderThread {
    stop: Arc<AtomicBool>,
    reads: Arc<AtomicU32>,
    thread: JoinHandle<()>,
}

impl ReaderThread {
    /// Calls `read` again and again.
    pub(super) fn start(mut read: impl FnMut() + Send + 'static) -> Self {
        let (stop, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&reads));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                read();
                counted.fetch_add(1, Ordering::Relaxed);
                // A client, not a load test.
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        });
        Self { stop, reads, thread }
    }

    /// Number of reads; panics if one of them found something wrong.
    pub(super) fn stop(self) -> u32 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        self.reads.load(Ordering::Relaxed)
    }
}
