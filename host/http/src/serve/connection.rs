//! The life of one connection: driven until it ends, is asked to end, or runs into a deadline. One
//! timer does for all deadlines; it is moved only where the next one comes sooner, so that a
//! request on a connection that is kept alive touches it not at all.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::watch;
use tokio::time::sleep_until;

use super::activity::ConnectionActivity;
use super::deadlines::{ConnectionTimeouts, ObservedTimes};
use crate::metrics::{ConnectionMetrics, ConnectionTimeout};

/// Drives `connection` to its end. None: it ran into a deadline and is dropped.
pub(super) async fn drive<C: GracefulConnection>(
    connection: C,
    activity: &ConnectionActivity,
    timeouts: &ConnectionTimeouts,
    metrics: &ConnectionMetrics,
    mut stop: watch::Receiver<()>,
) -> Option<C::Output> {
    let mut connection = pin!(connection);
    let mut stopped = pin!(stop.changed());
    let at = |since_accepted: Duration| activity.accepted() + since_accepted;
    let mut timer = pin!(sleep_until(at(timeouts.head)));
    let mut noticed = ObservedTimes::default();
    let mut stopping = false;
    poll_fn(move |context| {
        if !stopping && stopped.as_mut().poll(context).is_ready() {
            stopping = true;
            noticed.goodbye.get_or_insert_with(|| activity.elapsed());
            connection.as_mut().graceful_shutdown();
        }
        'drive: loop {
            if let Poll::Ready(ended) = connection.as_mut().poll(context) {
                return Poll::Ready(Some(ended));
            }
            noticed.update(activity, || activity.elapsed());
            // Sooner than the timer: it is moved. Later: it finds that out when it goes off.
            let sooner = timeouts
                .deadline(activity, &noticed)
                .map(|(due, _)| at(due))
                .filter(|due| *due < timer.deadline());
            if let Some(due) = sooner {
                timer.as_mut().reset(due);
            }
            while timer.as_mut().poll(context).is_ready() {
                let now = activity.elapsed();
                match timeouts.deadline(activity, &noticed) {
                    // A response ends without this loop being told, so it has to look again.
                    None => timer.as_mut().reset(at(now.saturating_add(timeouts.idle))),
                    Some((due, _)) if due > now => timer.as_mut().reset(at(due)),
                    Some((_, ConnectionTimeout::Idle)) if noticed.goodbye.is_none() => {
                        metrics.time_out(ConnectionTimeout::Idle);
                        noticed.goodbye = Some(now);
                        connection.as_mut().graceful_shutdown();
                        continue 'drive;
                    }
                    Some((_, reason)) => {
                        if reason != ConnectionTimeout::Idle {
                            metrics.time_out(reason);
                        }
                        activity.reset();
                        return Poll::Ready(None);
                    }
                }
            }
            return Poll::Pending;
        }
    })
    .await
}
