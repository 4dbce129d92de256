//! A client that asks for what our own plugins make, again and again, and knows every byte of the
//! answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::wire;

/// Its requests: rows, and a project.
const PATHS: [&str; 2] =
    ["/v1/datasets/harvest/data?format=csv", "/v1/integrations/meltano?datasets=harvest"];

/// Rounds without an attack, before and after: enough that 1 of 100 answers is more than one.
const QUIET_ROUNDS: usize = 100;

/// A client at work in the background.
pub(crate) struct Neighbour {
    client: Client,
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<Vec<Duration>>,
    quiet: Vec<Duration>,
}

/// Client, and the expected answers.
#[derive(Clone)]
struct Client {
    address: SocketAddr,
    key: String,
    known: Arc<Vec<(&'static str, Vec<u8>)>>,
}

/// Times of answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latencies {
    pub(crate) count: usize,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
}

/// Observations of a neighbour during attacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatencyComparison {
    /// Before and after them, on the same server.
    pub(crate) quiet: Latencies,
    /// While they went on.
    pub(crate) attacked: Latencies,
}

impl Neighbour {
    /// Learns the answers and how long they take without an attack, and begins.
    pub(crate) async fn start(address: SocketAddr, key: &str) -> Self {
        let mut known = Vec::new();
        for path in PATHS {
            let answer = wire::get(address, path, key).await;
            assert_eq!((answer.status, answer.whole), (200, true), "{}", answer.text());
            known.push((path, answer.body));
        }
        let csv = String::from_utf8(known[0].1.clone()).unwrap();
        assert!(csv.starts_with("date,region,value,final") && csv.lines().count() == 101, "{csv}");
        let client = Client { address, key: key.to_owned(), known: Arc::new(known) };
        let quiet = client.rounds(QUIET_ROUNDS).await;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, busy) = (Arc::clone(&stop), client.clone());
        let task = tokio::spawn(async move {
            let mut times = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                times.extend(busy.rounds(1).await);
            }
            times
        });
        Self { client, stop, task, quiet }
    }

    /// Ends it, with every answer as before, and compares: other work of the machine may begin or
    /// end meanwhile, so that it is quiet before and after.
    pub(crate) async fn stop(mut self) -> LatencyComparison {
        self.stop.store(true, Ordering::Relaxed);
        let attacked = self.task.await.expect("every answer was the one that was expected");
        self.quiet.extend(self.client.rounds(QUIET_ROUNDS).await);
        LatencyComparison {
            quiet: Latencies::from_times(self.quiet),
            attacked: Latencies::from_times(attacked),
        }
    }
}

impl LatencyComparison {
    /// Asserts what contract-3-neighbours (`docs/spec/plugins.md`) says of neighbours. `deadline`
    /// is how long a runaway takes on this machine now.
    pub(crate) fn is_fair(&self, deadline: Duration) {
        println!("{self:?}, and a runaway takes {deadline:?}");
        assert_eq!(self.unfair(deadline), None, "{self:?}, and a runaway takes {deadline:?}");
    }

    /// Returns the first promise that is broken.
    fn unfair(&self, deadline: Duration) -> Option<&'static str> {
        let Self { quiet, attacked } = self;
        if attacked.count <= 100 {
            return Some("there are too few answers to speak of 99 of 100");
        }
        if attacked.p99 > quiet.p99 + 2 * deadline {
            return Some("99 of 100 answers take more than two deadlines longer");
        }
        (attacked.max > quiet.max + 10 * deadline)
            .then_some("an answer takes more than ten deadlines longer")
    }
}

impl Client {
    /// Asks for everything so many times; how long each answer took.
    async fn rounds(&self, rounds: usize) -> Vec<Duration> {
        let mut times = Vec::new();
        for _ in 0..rounds {
            for (path, body) in self.known.iter() {
                let begun = Instant::now();
                let answer = wire::get(self.address, path, &self.key).await;
                times.push(begun.elapsed());
                assert!(
                    answer.status == 200 && answer.whole && answer.body == *body,
                    "{path}: {} {}",
                    answer.status,
                    answer.text()
                );
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        times
    }
}

impl Latencies {
    fn from_times(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        // The smallest that so many of a hundred do not exceed.
        let at = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        Self { count: times.len(), p50: at(50), p99: at(99), max: at(100) }
    }
}

/// The middle one of how long runaways took.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn percentiles_are_the_smallest_that_so_many_do_not_exceed() {
    let of = |numbers: std::ops::RangeInclusive<u64>| {
        Latencies::from_times(numbers.rev().map(Duration::from_millis).collect())
    };
    let milliseconds =
        |found: Latencies| [found.p50, found.p99, found.max].map(|time| time.as_millis());
    assert_eq!(milliseconds(of(1..=100)), [50, 99, 100]);
    assert_eq!(milliseconds(of(1..=1000)), [500, 990, 1000]);
    assert_eq!(milliseconds(of(7..=7)), [7, 7, 7]);
}

#[test]
fn a_neighbour_that_is_slowed_down_is_noticed() {
    let all = |count: usize, usual: u64, slow: u64| {
        let times = (0..count)
            .map(|number| Duration::from_millis(if number % 50 == 0 { slow } else { usual }));
        Latencies::from_times(times.collect())
    };
    let deadline = Duration::from_millis(60);
    let fair =
        |attacked| LatencyComparison { quiet: all(200, 3, 5), attacked }.unfair(deadline).is_none();
    assert!(fair(all(200, 3, 5)) && fair(all(200, 60, 125)));
    assert!(!fair(all(200, 3, 126)), "one in fifty waits for more than two deadlines");
    assert!(!fair(all(100, 3, 5)), "too few answers say nothing");
    assert!(
        !fair(Latencies { max: Duration::from_millis(606), ..all(200, 3, 5) }),
        "one waits for more than ten"
    );
}
