//! The tasks of a running server behind sign-up: mails leave the queue by SMTP, and what has
//! expired is deleted. Knows no protocol: a [`MailTransport`] does.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use yearbook_catalog::{CatalogError, QueuedMail, clock};
use yearbook_domain::{MailAddress, Millis};

use crate::metrics::MailFate;
use crate::retry::{LEASE_MS, pause_ms};
use crate::transport::{MailTransport, SendFailure};
use crate::{Signup, SignupError, SignupMode, sealed_mail, smtp};

/// Interval at which the queue is looked at; a mail of this host is noticed at once.
const TICK: Duration = Duration::from_secs(2);

/// Interval at which what has expired is deleted and the queue counted.
const PURGE_INTERVAL: Duration = Duration::from_secs(30);

/// Mails of this host that are sent at once: a slow server delays no more than itself.
const PARALLEL: usize = 4;

/// Longest attempt. Half of the lease, so that no other host begins before it has ended.
const ATTEMPT: Duration = Duration::from_secs(LEASE_MS.unsigned_abs() / 2_000);

/// Pause before the one other attempt to delete a mail that was sent.
const DELETE_AGAIN: Duration = Duration::from_secs(1);

/// Transport and sender of a process.
struct MailRoute {
    transport: Box<dyn MailTransport>,
    from: MailAddress,
}

impl Signup {
    /// Starts the tasks; they end when the last `Arc` is dropped. Mails leave in mode `smtp` alone.
    ///
    /// # Errors
    /// [`SignupError::Smtp`] when the settings of SMTP make no sense, or this build has none.
    pub fn start(self: &Arc<Self>) -> Result<(), SignupError> {
        let settings = self.settings();
        let route = match (settings.mode, &settings.smtp_url, &settings.mail_from) {
            (SignupMode::Smtp, Some(url), Some(from)) => Some((smtp::transport(url)?, from)),
            _ => None,
        };
        self.spawn(
            route.map(|(transport, from)| MailRoute { transport, from: from.address().clone() }),
        );
        Ok(())
    }

    /// The same with a transport of one's own.
    pub fn start_with(self: &Arc<Self>, transport: Box<dyn MailTransport>, from: MailAddress) {
        self.spawn(Some(MailRoute { transport, from }));
    }

    fn spawn(self: &Arc<Self>, route: Option<MailRoute>) {
        tokio::spawn(run(Arc::downgrade(self), route.map(Arc::new)));
    }

    /// Deletes what has expired and counts what waits.
    async fn tidy(&self) -> Result<(), CatalogError> {
        let now = clock::now();
        let purged = self.catalog.purge_signup(now).await?;
        if purged.mails > 0 {
            let mails = purged.mails;
            tracing::warn!(mails, "sign-up: mails expired before they were handed over");
            self.metrics.count_mails(MailFate::Expired, mails);
        }
        if purged.accounts > 0 {
            tracing::info!(accounts = purged.accounts, "sign-up: deleted accounts are forgotten");
        }
        self.metrics.set_waiting(self.catalog.waiting_mails(now).await?);
        Ok(())
    }

    /// Sends everything that is due.
    async fn deliver(self: &Arc<Self>, route: &Arc<MailRoute>) -> Result<(), CatalogError> {
        if self.catalog.due_mails(clock::now()).await? == 0 {
            return Ok(());
        }
        let mut sending = JoinSet::new();
        loop {
            let now = clock::now();
            let lease_ends = Millis(now.0.saturating_add(LEASE_MS));
            let claimed = self.catalog.claim_mail(now, lease_ends).await?;
            let Some(mail) = claimed else { break };
            if sending.len() >= PARALLEL {
                let _ended = sending.join_next().await;
            }
            let (signup, route) = (Arc::clone(self), Arc::clone(route));
            sending.spawn(async move { signup.attempt(&route, &mail).await });
        }
        sending.join_all().await;
        Ok(())
    }

    /// Makes one attempt to send `queued`, which this host has leased.
    async fn attempt(&self, route: &MailRoute, queued: &QueuedMail) {
        let (id, attempts) = (&queued.id, queued.attempts);
        let opened = sealed_mail::open(&self.catalog, &self.secrets, queued, clock::now()).await;
        let mail = match opened {
            Ok(mail) => mail,
            Err(failure @ SignupError::Unreadable { .. }) => {
                tracing::error!(%failure, "sign-up: a mail is dropped");
                self.metrics.count_mails(MailFate::Rejected, 1);
                return self.forget(id).await;
            }
            // The lease ends by itself.
            Err(failure) => return tracing::warn!(%failure, id, "sign-up: a mail is not written"),
        };
        let message = mail.message(&route.from, clock::now());
        let sent = timeout(ATTEMPT, route.transport.send(&route.from, &mail.to, &message)).await;
        let late = |_| Err(SendFailure::Temporary("no answer in time".to_owned()));
        match sent.unwrap_or_else(late) {
            Ok(()) => {
                tracing::info!(id, attempts, "sign-up: mail sent");
                self.metrics.count_mails(MailFate::Sent, 1);
                self.forget(id).await;
            }
            Err(SendFailure::NoSuchMailbox) => {
                tracing::info!(id, attempts, "sign-up: mail rejected, the mailbox does not exist");
                self.metrics.count_mails(MailFate::Rejected, 1);
                self.forget(id).await;
            }
            Err(SendFailure::Temporary(reason)) => {
                let pause = pause_ms(attempts);
                tracing::warn!(
                    id,
                    attempts,
                    reason,
                    retry_s = pause / 1000,
                    "sign-up: mail not sent"
                );
                self.metrics.count_mails(MailFate::Retried, 1);
                let due_at = Millis(clock::now().0.saturating_add(pause));
                if let Err(failure) = self.catalog.defer_mail(id, due_at).await {
                    // The lease ends by itself.
                    tracing::warn!(%failure, id, "sign-up: a mail was not deferred");
                }
            }
        }
    }

    /// Deletes a mail, and the address with it.
    async fn forget(&self, id: &str) {
        if self.catalog.delete_mail(id).await.is_err() {
            // Otherwise the mail is sent again when its lease ends.
            tokio::time::sleep(DELETE_AGAIN).await;
            if let Err(failure) = self.catalog.delete_mail(id).await {
                tracing::error!(%failure, id, "sign-up: a mail that was sent may be sent again");
            }
        }
    }
}

async fn run(signup: Weak<Signup>, route: Option<Arc<MailRoute>>) {
    let Some(bell) = signup.upgrade().map(|signup| Arc::clone(&signup.bell)) else { return };
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut tidied, mut failing) = (None::<Instant>, false);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = bell.notified() => {}
        }
        let Some(signup) = signup.upgrade() else { return };
        let mut outcome = Ok(());
        if tidied.is_none_or(|at| at.elapsed() >= PURGE_INTERVAL) {
            outcome = signup.tidy().await;
            tidied = Some(Instant::now());
        }
        if let (Ok(()), Some(route)) = (&outcome, &route) {
            outcome = signup.deliver(route).await;
        }
        match &outcome {
            Err(failure) if !failing => {
                tracing::error!(%failure, "sign-up: the queue of mails cannot be read")
            }
            Ok(()) if failing => tracing::info!("sign-up: the queue of mails is read again"),
            _ => {}
        }
        failing = outcome.is_err();
    }
}

#[cfg(test)]
mod tests;
