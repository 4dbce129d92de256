//! Reservations (contract-5-charged): an open response out of the caller's share, then a request
//! out of the month's quota. A reservation is made before the work. It is given back unless the
//! answer is 2xx, or 307 to the stored file itself. HEAD and 304 never reserve.

use std::time::Duration;

use axum::response::Response;
use yearbook_catalog::QuotaReservation;
use yearbook_shares::CallerShare;

use crate::open_responses::OpenResponse;
use crate::{AuthenticatedCaller, Core, Error, status};

/// A request that may do its work. Dropping it gives both parts back.
pub struct Reservation {
    open: OpenResponse,
    quota: QuotaReservation,
}

/// Time that a response may wait in the queue of open responses.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// As long as an instance of a plugin may be waited for: `sandbox.queue_ms`.
    Queue,
    /// As long as the client waits.
    Unbounded,
}

impl Core {
    /// Returns `patience` as a duration; none: no bound.
    pub fn patience(&self, patience: Patience) -> Option<Duration> {
        match patience {
            Patience::Queue => Some(Duration::from_millis(self.sandbox.limits().queue_ms)),
            Patience::Unbounded => None,
        }
    }

    /// Reserves an open response and a request of the month for the caller of `auth`.
    ///
    /// # Errors
    /// 429 for a share or a month that is used up, 503 where the service is at capacity or the
    /// database does not answer.
    pub async fn reserve(
        &self,
        auth: &AuthenticatedCaller,
        patience: Patience,
    ) -> Result<Reservation, Error> {
        let open = self.open_responses.open(&auth.holder, self.patience(patience)).await?;
        let quota = self.quota.reserve(&auth.caller).await?;
        Ok(Reservation { open, quota })
    }
}

impl Reservation {
    /// The account that the response holds its memory and its instance on.
    pub fn holder(&self) -> &CallerShare {
        self.open.holder()
    }

    /// Commits the reservation for a response that is charged, and hands usage and open response to
    /// the middleware, in its extensions; gives the reservation back for any other outcome. The
    /// quota is back when this returns, so that the headers of a refusal are right.
    ///
    /// # Errors
    /// The error of `outcome`.
    pub async fn settle(self, outcome: Result<Response, Error>) -> Result<Response, Error> {
        let Self { open, quota } = self;
        match outcome {
            Ok(mut response) if status::is_charged(response.status()) => {
                let usage = quota.commit();
                if usage.limit.is_some() {
                    response.extensions_mut().insert(usage);
                }
                response.extensions_mut().insert(open);
                Ok(response)
            }
            other => {
                quota.release().await;
                other
            }
        }
    }
}
