//! Clients that read a hundred rows again and again at a rate that no limit minds, from another
//! address and with other keys than who attacks.

use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Client;

use crate::server::AttackedServer;

/// Between two requests of a client: half of what the burst limit allows.
const PAUSE: Duration = Duration::from_millis(40);

/// Clients, each with a key. The slowest hundredth of what one is answered in ten seconds are two
/// answers, which say little.
pub(crate) const CLIENTS: u32 = 4;

/// Longer than any request may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the path of a request; the filter keeps two in a row from being the same. One in four
/// sorts the rows of a day, for which selections need room too.
fn path(turn: usize) -> String {
    let rows = match turn % 4 {
        3 => {
            let day = turn / 4 % 28 + 1;
            format!("start=1900-01-{day:02}&end=1900-01-{day:02}&sort=-value")
        }
        _ => format!("dimensions=series%20{:02}", turn % 100),
    };
    format!("/v1/datasets/large/data?limit=100&{rows}&format=json")
}

/// Observations of polite clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct LatencySamples {
    /// Times of right answers.
    pub(crate) took: Vec<Duration>,
    /// Errors of all others.
    pub(crate) failed: Vec<String>,
}

impl LatencySamples {
    /// The time within which so many of a thousand answers came.
    pub(crate) fn within(&self, of: usize) -> Duration {
        let mut sorted = self.took.clone();
        sorted.sort();
        sorted.get(sorted.len().saturating_sub(1) * of / 1_000).copied().unwrap_or_default()
    }

    /// Both together.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.took.extend(other.took);
        self.failed.extend(other.failed);
        self
    }
}

/// Has every client read for as long as `lasting`.
pub(crate) async fn read(server: &AttackedServer, lasting: Duration) -> LatencySamples {
    let until = Instant::now() + lasting;
    let readers = (0..CLIENTS).zip(&server.polite).map(|(place, key)| async move {
        // They are not to wait for each other.
        tokio::time::sleep(PAUSE * place / CLIENTS).await;
        read_alone(server, key, until).await
    });
    join_all(readers).await.into_iter().fold(LatencySamples::default(), LatencySamples::and)
}

/// Reads `until` then; every other request has a connection of its own.
async fn read_alone(server: &AttackedServer, key: &str, until: Instant) -> LatencySamples {
    let clients = [client(1), client(0)];
    let mut seen = LatencySamples::default();
    for turn in 0.. {
        let begun = Instant::now();
        if begun > until {
            break;
        }
        let address = format!("http://{}{}", server.address, path(turn));
        match one(&clients[turn % 2], &address, key).await {
            Ok(()) => seen.took.push(begun.elapsed()),
            Err(what) => seen.failed.push(what),
        }
        tokio::time::sleep(PAUSE.saturating_sub(begun.elapsed())).await;
    }
    seen
}

/// A client that keeps so many connections.
pub(crate) fn client(kept: usize) -> Client {
    // Another test may have done so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .pool_max_idle_per_host(kept)
        .timeout(TIMEOUT)
        .no_proxy()
        .build()
        .expect("a client")
}

async fn one(client: &Client, address: &str, key: &str) -> Result<(), String> {
    let answer = client
        .get(address)
        .header("x-api-key", key)
        .send()
        .await
        .map_err(|error| format!("{error:?}"))?;
    let status = answer.status();
    let body = answer.text().await.map_err(|error| format!("{status}, then {error:?}"))?;
    let rows = body.matches("\"series\":").count();
    if status == 200 && rows == 100 {
        Ok(())
    } else {
        Err(format!("{status} with {rows} rows: {body:.300}"))
    }
}
