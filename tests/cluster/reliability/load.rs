//! Clients that never stop asking, and what became of each request. Every body that came whole is
//! checked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use tokio::task::JoinSet;

use crate::data::{FleetRequest, PublishedVersions};

/// Clients at once: more than two cores are busy with.
const CLIENTS: usize = 8;

/// Longer than any bound of nginx and the hosts; a client that waits so long found something that
/// hangs.
const TIMEOUT: Duration = Duration::from_secs(70);

/// End of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestResult {
    /// 200 with the right bytes of this version.
    Right(u64),
    /// 200 with other bytes.
    Wrong(String),
    /// A status without data.
    Status(u16),
    /// A body that visibly ended too early.
    Cut,
    /// No answer: no connection, or one that broke before the head came.
    Lost,
    /// Neither within [`TIMEOUT`].
    Hung,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct LoadOutcome {
    #[expect(dead_code, reason = "shown where an outcome is wrong")]
    pub(crate) asked: FleetRequest,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
    pub(crate) ended: RequestResult,
}

/// Asks once.
pub(crate) async fn ask(
    client: &Client,
    base: &str,
    key: &str,
    asked: FleetRequest,
    versions: &PublishedVersions,
) -> LoadOutcome {
    let began = Instant::now();
    let request = client
        .get(format!("{base}{}", asked.path()))
        .header("x-api-key", key)
        .header("accept-encoding", "identity");
    let ended = match request.send().await {
        Err(error) if error.is_timeout() => RequestResult::Hung,
        Err(_) => RequestResult::Lost,
        Ok(response) if response.status() == StatusCode::OK => {
            let header = |name: &str| {
                response
                    .headers()
                    .get(name)
                    .and_then(|value| value.to_str().ok())
                    .unwrap_or_default()
                    .to_owned()
            };
            let (snapshot, tag) = (header("x-service-snapshot-id"), header("etag"));
            match response.bytes().await {
                Err(error) if error.is_timeout() => RequestResult::Hung,
                Err(_) => RequestResult::Cut,
                Ok(body) => versions
                    .check_response(asked, &snapshot, &tag, &body)
                    .map_or_else(RequestResult::Wrong, RequestResult::Right),
            }
        }
        Ok(response) => RequestResult::Status(response.status().as_u16()),
    };
    LoadOutcome { asked, began, took: began.elapsed(), ended }
}

/// A client with connections of its own.
pub(crate) fn client() -> Client {
    Client::builder().timeout(TIMEOUT).no_proxy().build().unwrap()
}

/// Clients at work.
pub(crate) struct FleetLoad {
    stop: Arc<AtomicBool>,
    outcomes: Arc<Mutex<Vec<LoadOutcome>>>,
    clients: JoinSet<()>,
}

impl FleetLoad {
    /// Starts them at `base` with a key that has no quota.
    pub(crate) fn start(base: &str, key: &str, versions: &Arc<PublishedVersions>) -> Self {
        let (stop, outcomes) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let (stop, outcomes, versions) =
                (Arc::clone(&stop), Arc::clone(&outcomes), Arc::clone(versions));
            let (base, key) = (base.to_owned(), key.to_owned());
            clients.spawn(async move {
                let client = client();
                let mut turns = FleetRequest::ALL.into_iter().cycle().skip(number);
                while let (false, Some(asked)) = (stop.load(Ordering::SeqCst), turns.next()) {
                    let outcome = ask(&client, &base, &key, asked, &versions).await;
                    // Who is refused does not ask again at once.
                    let refused = !matches!(outcome.ended, RequestResult::Right(_));
                    outcomes.lock().unwrap().push(outcome);
                    if refused {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            });
        }
        Self { stop, outcomes, clients }
    }

    /// Stops them; what became of every request.
    pub(crate) async fn stop(mut self) -> Vec<LoadOutcome> {
        self.stop.store(true, Ordering::SeqCst);
        while self.clients.join_next().await.transpose().unwrap().is_some() {}
        std::mem::take(&mut self.outcomes.lock().unwrap())
    }
}
