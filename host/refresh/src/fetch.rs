//! One source over HTTP: a conditional GET within bounds, tried again where that may help
//! (contract-8-conditional, contract-8-bounds, contract-8-retry). A source is not trusted: each of
//! its answers is checked before it is believed.

mod answer;
mod attempt;

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use tokio::time::Instant;
use yearbook_domain::FailureCause;

use crate::address_policy::{AddressPolicy, CheckedResolver, Lookup, SystemLookup};
use crate::download::DownloadedFile;
use crate::failure::{CheckFailure, RefreshSetupError, RetryAdvice};
use crate::settings::RefreshSettings;

/// Attempts at a source (contract-8-retry).
const ATTEMPTS: u32 = 3;

/// Wait before the second attempt; before the third it is [`BACK_OFF_FACTOR`] times as long.
const FIRST_BACK_OFF: Duration = Duration::from_secs(2);

const BACK_OFF_FACTOR: u32 = 4;

/// Longest wait for a connection, and for the next byte of an answer.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Hears how many bytes of the answer have come.
pub(crate) type ByteListener<'a> = &'a (dyn Fn(u64) + Send + Sync);

/// Validators of an answer that is kept, sent as conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestConditions {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

impl RequestConditions {
    fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// An answer that can be believed.
#[derive(Debug)]
pub(crate) enum FetchedAnswer {
    /// The kept answer is still right.
    NotModified,
    /// A whole new one.
    Body {
        /// Its bytes.
        download: DownloadedFile,
        /// Its validators.
        validators: RequestConditions,
    },
}

/// Bounds for a source.
#[derive(Clone, Copy, Debug)]
struct FetchBounds {
    max_bytes: u64,
    timeout: Duration,
    first_back_off: Duration,
}

/// A client for sources.
pub(crate) struct SourceClient {
    client: Client,
    policy: AddressPolicy,
    bounds: FetchBounds,
}

impl SourceClient {
    /// A client with the bounds of `settings`.
    pub(crate) fn new(settings: &RefreshSettings) -> Result<Self, RefreshSetupError> {
        let policy = AddressPolicy::new(settings.allow_private);
        Self::with_lookup(settings, policy, Arc::new(SystemLookup), FIRST_BACK_OFF)
    }

    fn with_lookup(
        settings: &RefreshSettings,
        policy: AddressPolicy,
        lookup: Arc<dyn Lookup>,
        first_back_off: Duration,
    ) -> Result<Self, RefreshSetupError> {
        // Fails where another part of the program has chosen one already, which is as good.
        #[cfg(feature = "https")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let timeout = settings.timeout();
        let silence = (timeout / 3).min(MAX_SILENCE);
        let resolver = CheckedResolver { policy: policy.clone(), lookup };
        let client = Client::builder()
            .user_agent(concat!("yearbook/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(resolver))
            // A proxy would resolve names itself, and reach what this client must not.
            .no_proxy()
            // Each redirect is checked before it is followed (attempt.rs).
            .redirect(Policy::none())
            .referer(false)
            .http1_only()
            .connect_timeout(silence)
            .read_timeout(silence)
            .pool_max_idle_per_host(0)
            .build()
            .map_err(RefreshSetupError::Client)?;
        let max_bytes = settings.max_bytes.get();
        let bounds = FetchBounds { max_bytes, timeout, first_back_off };
        Ok(Self { client, policy, bounds })
    }

    /// The same with another first wait between attempts.
    #[cfg(test)]
    pub(crate) fn with_back_off(self, first_back_off: Duration) -> Self {
        Self { bounds: FetchBounds { first_back_off, ..self.bounds }, ..self }
    }

    /// Asks `address`, with `conditions` where they are not empty. Dropping the future ends the
    /// connection and leaves nothing.
    ///
    /// # Errors
    /// [`CheckFailure`] of the last attempt.
    pub(crate) async fn fetch(
        &self,
        address: &str,
        conditions: &RequestConditions,
        listener: ByteListener<'_>,
    ) -> Result<FetchedAnswer, CheckFailure> {
        let url = attempt::parse_address(address)?;
        let deadline = Instant::now() + self.bounds.timeout;
        let attempts = Box::pin(self.try_repeatedly(&url, conditions, deadline, listener));
        tokio::time::timeout_at(deadline, attempts).await.unwrap_or_else(|_| {
            let seconds = self.bounds.timeout.as_secs();
            let reason = format!("no whole answer within {seconds} s (refresh.timeout_seconds)");
            Err(CheckFailure::new(FailureCause::Timeout, reason))
        })
    }

    async fn try_repeatedly(
        &self,
        url: &Url,
        conditions: &RequestConditions,
        deadline: Instant,
        listener: ByteListener<'_>,
    ) -> Result<FetchedAnswer, CheckFailure> {
        let mut back_off = self.bounds.first_back_off;
        let mut attempt = 1;
        loop {
            let failure = match self.attempt(url, conditions, listener).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let RetryAdvice::After(asked) = failure.retry else { return Err(failure) };
            if attempt == ATTEMPTS {
                return Err(failure.with_note(&format!("{ATTEMPTS} attempts were made")));
            }
            let wait = with_jitter(back_off).max(asked);
            if Instant::now() + wait >= deadline {
                let note = format!("another attempt would come too late, in {} s", wait.as_secs());
                return Err(failure.with_note(&note));
            }
            tracing::debug!(host = url.host_str(), attempt, reason = failure.reason, "retrying");
            tokio::time::sleep(wait).await;
            back_off *= BACK_OFF_FACTOR;
            attempt += 1;
        }
    }
}

/// `wait`, a quarter more or less: sources of one host that failed together come back apart.
fn with_jitter(wait: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    wait.mul_f64(0.75 + f64::from(random) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests;
