//! A client that asks for what our own plugins make, again and again, and knows every byte of the answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::wire;

/// What it asks for: rows, and a project.
const PATHS: [&str; 2] = ["/v1/datasets/harvest/data?format=csv", "/v1/integrations/meltano?datasets=harvest"];

/// A client at work in the background.
pub(crate) struct Neighbour {
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<Vec<Duration>>,
    /// Its median before anything else happened.
    pub(crate) median: Duration,
}

impl Neighbour {
    /// Learns the answers and their usual time, and begins.
    pub(crate) async fn start(address: SocketAddr, key: &str) -> Self {
        let mut known = Vec::new();
        for path in PATHS {
            let answer = wire::get(address, path, key).await;
            assert_eq!((answer.status, answer.whole), (200, true), "{}", answer.text());
            known.push((path, answer.body));
        }
        let csv = String::from_utf8(known[0].1.clone()).unwrap();
        assert!(csv.starts_with("date,region,value,final") && csv.lines().count() == 101, "{csv}");
        let mut times = Vec::new();
        for _ in 0..30 {
            times.extend(ask(address, key, &known).await);
        }
        times.sort();
        let median = times[times.len() / 2];
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, key) = (Arc::clone(&stop), key.to_owned());
        let task = tokio::spawn(async move {
            let mut times = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                times.extend(ask(address, &key, &known).await);
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            times
        });
        Self { stop, task, median }
    }

    /// Ends it. How many answers it got, every one as before, and how long the slowest took.
    pub(crate) async fn stop(self) -> (usize, Duration) {
        self.stop.store(true, Ordering::Relaxed);
        let times = self.task.await.expect("every answer was the one that was expected");
        (times.len(), times.into_iter().max().unwrap_or_default())
    }
}

/// Asks for everything once; how long each took.
async fn ask(address: SocketAddr, key: &str, known: &[(&str, Vec<u8>)]) -> Vec<Duration> {
    let mut times = Vec::new();
    for (path, body) in known {
        let begun = Instant::now();
        let answer = wire::get(address, path, key).await;
        times.push(begun.elapsed());
        assert!(answer.status == 200 && answer.whole && answer.body == *body, "{path}: {} {}", answer.status, answer.text());
    }
    times
}
