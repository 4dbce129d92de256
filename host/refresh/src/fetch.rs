//! One source over HTTP: a conditional GET within bounds, tried again where that may help
//! (contract-8-conditional, contract-8-bounds, contract-8-retry). A source is not trusted: each of
//! its answers is checked before it is believed.

mod answer;
mod attempt;

use std::time::Duration;

use tokio::time::Instant;
use yearbook_domain::FailureCause;
use yearbook_outbound::{
    AddressRules, ClientSetupError, OutboundClient, OutboundSettings, Schemes, Url,
};

pub(crate) use self::answer::RequestConditions;
pub(crate) use self::attempt::{ByteListener, FetchedAnswer};
use crate::failure::{CheckFailure, RetryAdvice};
use crate::settings::RefreshSettings;

/// Redirects that are followed (contract-8-redirects).
const MAX_REDIRECTS: usize = 10;

/// Attempts at a source (contract-8-retry).
const ATTEMPTS: u32 = 3;

/// Wait before the second attempt; before the third it is [`BACK_OFF_FACTOR`] times as long.
const FIRST_BACK_OFF: Duration = Duration::from_secs(2);

const BACK_OFF_FACTOR: u32 = 4;

/// Longest wait for a connection, and for the next byte of an answer.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Bounds for a source.
#[derive(Clone, Copy, Debug)]
struct FetchBounds {
    max_bytes: u64,
    timeout: Duration,
    first_back_off: Duration,
}

/// A client for sources.
pub(crate) struct SourceClient {
    client: OutboundClient,
    bounds: FetchBounds,
}

impl SourceClient {
    /// A client with the bounds of `settings`.
    pub(crate) fn new(settings: &RefreshSettings) -> Result<Self, ClientSetupError> {
        let timeout = settings.timeout();
        let silence = (timeout / 3).min(MAX_SILENCE);
        let public = !settings.allow_private;
        let client = OutboundClient::new(OutboundSettings {
            rules: if public { AddressRules::Public } else { AddressRules::Any },
            schemes: Schemes::HttpsOrHttp,
            redirects: MAX_REDIRECTS,
            connect: silence,
            idle: silence,
            keep_alive: false,
        })?;
        let (max_bytes, first_back_off) = (settings.max_bytes.get(), FIRST_BACK_OFF);
        Ok(Self { client, bounds: FetchBounds { max_bytes, timeout, first_back_off } })
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
        let url = Url::parse(address).map_err(|error| {
            let reason =
                format!("resources[0].path is no address: {error}; correct the descriptor");
            CheckFailure::new(FailureCause::Descriptor, reason)
        })?;
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
            let max_bytes = self.bounds.max_bytes;
            let asked = attempt::ask(&self.client, url, conditions, max_bytes, listener).await;
            let failure = match asked {
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
