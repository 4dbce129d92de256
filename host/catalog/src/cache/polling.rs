//! Polls of the database: when they happen, and what has been counted of them. Never touches what
//! they read.

use std::sync::Weak;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use yearbook_counters::{Counter, ReadingSlot, TimeCounter, counters};

use super::CatalogCache;

/// Wait after a notification, so that a thousand publishes in a row are not read a thousand times.
const NOTIFICATION_DEBOUNCE: Duration = Duration::from_millis(50);

/// Shortest wait for a release.
const SHORTEST_WAIT: Duration = Duration::from_millis(2);

counters! {
    /// Counters of polls.
    #[derive(Debug, Default)]
    pub(super) struct PollCounters;

    /// Results of polling the database since the start.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PollMetrics {
        /// Polls.
        polls: Counter,
        /// Polls that failed.
        failures: Counter,
        /// Time that they took, together.
        time: TimeCounter,
        /// Time since the view in memory was last known to be that of the database.
        age: ReadingSlot<Duration>,
    }
}

/// Polls every `every`, and soon after each notification, as long as the cache lives.
pub(super) async fn poll_loop(
    live: Weak<CatalogCache>,
    every: Duration,
    mut notifications: Option<watch::Receiver<()>>,
) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(due) = live.upgrade().map(|live| live.until_next_release()) else { return };
        tokio::select! {
            _ = ticks.tick() => {}
            () = wait_for_notification(&mut notifications) => tokio::time::sleep(NOTIFICATION_DEBOUNCE).await,
            () = wait_for_release(due) => {}
        }
        let Some(live) = live.upgrade() else { return };
        // Turns to what is due, though nobody asks.
        drop(live.datasets());
        // Logged where it happens; the next tick tries again.
        let _ = live.refresh().await;
    }
}

/// Returns when a release is due, and a little later where it was due already: the database was
/// asked to make it visible and has not.
async fn wait_for_release(due: Option<Duration>) {
    match due {
        Some(due) => tokio::time::sleep(due.max(SHORTEST_WAIT)).await,
        None => std::future::pending().await,
    }
}

/// Returns at a notification; never where the database sends none.
async fn wait_for_notification(notifications: &mut Option<watch::Receiver<()>>) {
    if let Some(receiver) = notifications
        && receiver.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
