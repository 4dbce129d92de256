//! Reservations (contract-5-charged): an open response out of the caller's share, then a request
//! out of the month's quota. A reservation is made before the work. It is given back unless the
//! answer is 2xx, or 307 to the stored file itself. HEAD and 304 never reserve.

use std::time::Duration;

use axum::response::Response;
use yearbook_catalog::{QuotaReservation, QuotaUsage};
use yearbook_shares::CallerShare;

use super::open_responses::OpenResponse;
use crate::Authenticated;
use crate::Core;
use crate::Error;
use crate::status;

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

/// A request that was charged: what middleware and the body's monitor need to know of it.
pub struct Charge {
    open: OpenResponse,
    usage: QuotaUsage,
}

/// An outcome of work that is charged or not.
pub trait Chargeable {
    /// Returns whether the outcome costs a request.
    fn is_charged(&self) -> bool;
}

impl Chargeable for Response {
    fn is_charged(&self) -> bool {
        status::is_charged(self.status())
    }
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
        auth: &Authenticated,
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

    /// Commits the reservation for an outcome that is charged, and gives it back for any other
    /// outcome. The quota is back when this returns, so that the headers of a refusal are right.
    ///
    /// # Errors
    /// The error of `outcome`.
    pub async fn settle<T: Chargeable>(
        self,
        outcome: Result<T, Error>,
    ) -> Result<(T, Option<Charge>), Error> {
        let Self { open, quota } = self;
        match outcome {
            Ok(value) if value.is_charged() => {
                let usage = QuotaUsage {
                    used: quota.used(),
                    limit: quota.limit(),
                    resets_at: quota.resets_at(),
                };
                quota.commit();
                Ok((value, Some(Charge { open, usage })))
            }
            other => {
                quota.release().await;
                other.map(|value| (value, None))
            }
        }
    }

    /// As [`Reservation::settle`], for work that makes a whole response.
    ///
    /// # Errors
    /// The error of `outcome`.
    pub async fn settle_response(
        self,
        outcome: Result<Response, Error>,
    ) -> Result<Response, Error> {
        let (mut response, charge) = self.settle(outcome).await?;
        if let Some(charge) = charge {
            charge.attach(&mut response);
        }
        Ok(response)
    }
}

impl Charge {
    /// Hands usage and open response to the middleware, in the extensions of `response`.
    pub fn attach(self, response: &mut Response) {
        response.extensions_mut().insert(self.usage);
        response.extensions_mut().insert(self.open);
    }
}
