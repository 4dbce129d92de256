//! The task of a running server that sends what is due. Receivers that stall delay no other: those
//! that failed last time have few places, and an attempt that is not answered soon makes way.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::Method;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};
use yearbook_catalog::{AfterFailure, CatalogError, DueWebhook, clock};
use yearbook_domain::Millis;
use yearbook_outbound::{OutboundError, OutboundRequest, Url};

use crate::metrics::DeliveryOutcome;
use crate::{Webhooks, message, retry};

/// Interval at which the catalog is asked what is due.
const TICK: Duration = Duration::from_secs(1);

/// Longest attempt.
pub(crate) const ATTEMPT: Duration = Duration::from_secs(15);

/// Time for which no other host attempts a message, milliseconds: twice the longest attempt.
const LEASE_MS: i64 = 30_000;

/// Time after which every host serves a version, milliseconds (contract-6-postgres): whoever is
/// told of it finds it.
const SERVED_EVERYWHERE_MS: i64 = 2_000;

/// Time after which an attempt without an answer makes way for others.
const QUICK: Duration = Duration::from_secs(1);

/// Attempts of this host at once that have not lasted so long.
const PARALLEL: usize = 64;

/// Attempts that have made way. Where all places are taken, an attempt ends instead.
const PARALLEL_SLOW: usize = 512;

/// Of these, attempts at addresses that failed last time.
const PARALLEL_FAILING: usize = 16;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Places for attempts.
struct Places {
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    failing: Arc<Semaphore>,
}

/// Place of one attempt, which it holds until it ends, in whatever way.
struct Place {
    /// Among those that began a moment ago, or have made way.
    among: OwnedSemaphorePermit,
    slow: Arc<Semaphore>,
    /// Set where it failed last time.
    _failing: Option<OwnedSemaphorePermit>,
}

impl Places {
    fn new() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            quick: places(PARALLEL),
            slow: places(PARALLEL_SLOW),
            failing: places(PARALLEL_FAILING),
        }
    }

    /// Returns a place; `None` where there is none for such an attempt.
    fn take(&self, has_failed: bool) -> Option<Place> {
        let failing = if has_failed { Some(take_one(&self.failing)?) } else { None };
        let among = take_one(&self.quick)?;
        Some(Place { among, slow: Arc::clone(&self.slow), _failing: failing })
    }
}

impl Place {
    /// Makes way for attempts that begin; returns false where there is no place to go on in.
    fn make_way(&mut self) -> bool {
        let slow = take_one(&self.slow);
        let goes_on = slow.is_some();
        if let Some(slow) = slow {
            self.among = slow;
        }
        goes_on
    }
}

fn take_one(places: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    Arc::clone(places).try_acquire_owned().ok()
}

/// Sends what is due, as long as `webhooks` is there.
pub(crate) async fn run(webhooks: Weak<Webhooks>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let places = Places::new();
    let (mut attempts, mut silent) = (JoinSet::new(), false);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            // Who took a message may have another one waiting.
            Some(_) = attempts.join_next() => {}
        }
        let Some(webhooks) = webhooks.upgrade() else { return };
        let outcome = start_due(&webhooks, &places, &mut attempts).await;
        match &outcome {
            Err(failure) if !silent => {
                tracing::error!(%failure, "webhooks: the catalog does not say what is due");
            }
            Ok(()) if silent => tracing::info!("webhooks: the catalog says what is due again"),
            _ => {}
        }
        silent = outcome.is_err();
    }
}

/// Starts an attempt for everything that is due, as far as there are places.
async fn start_due(
    webhooks: &Arc<Webhooks>,
    places: &Places,
    attempts: &mut JoinSet<()>,
) -> Result<(), CatalogError> {
    let free = places.quick.available_permits();
    if free == 0 {
        return Ok(());
    }
    let now = clock::now();
    let visible = Millis(now.0.saturating_sub(SERVED_EVERYWHERE_MS));
    for due in webhooks.catalog.due_webhooks(now, visible, free).await? {
        // Those that failed last time come last: where one has no place, no other has.
        let Some(place) = places.take(due.attempts > 0) else { break };
        let lease_ends = Millis(clock::now().0.saturating_add(LEASE_MS));
        if webhooks.catalog.claim_webhook(&due, lease_ends).await? {
            let webhooks = Arc::clone(webhooks);
            attempts.spawn(async move { webhooks.attempt(&due, place).await });
        }
    }
    Ok(())
}

/// An answer that is none.
enum Failure {
    /// It is said what there was in its place.
    Other(String),
    /// The receiver wants no more.
    Gone,
}

impl Webhooks {
    /// Makes one attempt to deliver what this host has leased.
    async fn attempt(&self, due: &DueWebhook, mut place: Place) {
        let mut sending = pin!(self.send(due));
        let mut sent = timeout(QUICK, &mut sending).await;
        let mut within = QUICK;
        if sent.is_err() && place.make_way() {
            sent = timeout(ATTEMPT - QUICK, sending).await;
            within = ATTEMPT;
        }
        let sent = sent.unwrap_or_else(|_| {
            Ok(Err(Failure::Other(format!("no answer within {} s", within.as_secs()))))
        });
        let noted = match sent {
            Err(failure) => Err(failure),
            Ok(Ok(())) => {
                self.metrics.count(DeliveryOutcome::Delivered);
                self.catalog.webhook_delivered(due).await
            }
            Ok(Err(failure)) => self.note_failure(due, &failure).await,
        };
        if let Err(failure) = noted {
            // The lease ends by itself: the message is sent once more at worst.
            tracing::warn!(%failure, id = due.id, "webhooks: an attempt was not noted");
        }
    }

    async fn note_failure(&self, due: &DueWebhook, failure: &Failure) -> Result<(), CatalogError> {
        let now = clock::now();
        let (why, then) = match failure {
            Failure::Gone => ("status 410, which asks for no more", AfterFailure::End(now)),
            Failure::Other(why) => (why.as_str(), retry::after_failure(due, now)),
        };
        let outcome = match then {
            AfterFailure::Retry(_) => DeliveryOutcome::Retried,
            AfterFailure::End(_) => DeliveryOutcome::Ended,
        };
        let (id, attempts) = (&due.id, due.attempts + 1);
        tracing::info!(id, attempts, why, outcome = outcome.as_str(), "webhooks: not delivered");
        self.metrics.count(outcome);
        self.catalog.webhook_failed(due, why, then).await
    }

    /// Sends the message of `due`; nothing of the answer but its status is read.
    async fn send(&self, due: &DueWebhook) -> Result<Result<(), Failure>, CatalogError> {
        let facts = self.catalog.webhook_facts(due.entry).await?;
        let body = message::body(&facts, &self.base);
        let Some(request) = self.signed(due, body) else {
            return Ok(Err(Failure::Other("the address cannot be asked".to_owned())));
        };
        Ok(match self.client.send(&request).await {
            Ok(answer) => match answer.status().as_u16() {
                200..=299 => Ok(()),
                410 => Err(Failure::Gone),
                status => Err(Failure::Other(format!("status {status}"))),
            },
            Err(error) => Err(Failure::Other(words_of(&error).to_owned())),
        })
    }

    fn signed(&self, due: &DueWebhook, body: String) -> Option<OutboundRequest> {
        let at = clock::now().0.div_euclid(1_000);
        let id = message::message_id(&due.id, due.entry);
        let signature = self.secret_of(&due.id).sign(&id, at, &body);
        let mut request = OutboundRequest::new(Method::POST, Url::parse(&due.url).ok()?);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(WEBHOOK_ID, id.parse().ok()?);
        headers.insert(WEBHOOK_TIMESTAMP, at.into());
        headers.insert(WEBHOOK_SIGNATURE, signature.parse().ok()?);
        request.headers = headers;
        Some(request.with_body(body))
    }
}

/// Returns what an account may know of a failure: nothing of networks that it cannot see itself.
fn words_of(error: &OutboundError) -> &'static str {
    match error {
        OutboundError::Refused { .. }
        | OutboundError::Forbidden(_)
        | OutboundError::NoTls { .. } => "the address is not on the public Internet, or has no TLS",
        OutboundError::Connect { .. } => "no connection",
        OutboundError::Silent { .. } => "no answer in time",
        OutboundError::Cut { .. }
        | OutboundError::NotHttp { .. }
        | OutboundError::TooLarge { .. } => "no answer that HTTP knows",
    }
}
