//! The task of a running server that sends what is due. A receiver that stalls delays no other:
//! each attempt has an end, and those that failed last time have few places.

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

/// Attempts of this host at once.
const PARALLEL: usize = 64;

/// Of these, attempts at addresses that failed last time.
const PARALLEL_FAILING: usize = 16;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Places for attempts. Each attempt holds its own until it ends, in whatever way.
struct Places {
    all: Arc<Semaphore>,
    failing: Arc<Semaphore>,
}

/// Place of one attempt, and that among those that failed last time where it is one of them.
type Place = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl Places {
    /// Returns a place; `None` where there is none for such an attempt.
    fn take(&self, has_failed: bool) -> Option<Place> {
        let one = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned().ok();
        let failing = if has_failed { Some(one(&self.failing)?) } else { None };
        Some((one(&self.all)?, failing))
    }
}

/// Sends what is due, as long as `webhooks` is there.
pub(crate) async fn run(webhooks: Weak<Webhooks>) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let places = Places {
        all: Arc::new(Semaphore::new(PARALLEL)),
        failing: Arc::new(Semaphore::new(PARALLEL_FAILING)),
    };
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
    let free = places.all.available_permits();
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
            attempts.spawn(async move {
                webhooks.attempt(&due).await;
                drop(place);
            });
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
    async fn attempt(&self, due: &DueWebhook) {
        let sent = match timeout(ATTEMPT, self.send(due)).await {
            Ok(sent) => sent,
            Err(_) => {
                let why = format!("no answer within {} s", ATTEMPT.as_secs());
                Ok(Err(Failure::Other(why)))
            }
        };
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
