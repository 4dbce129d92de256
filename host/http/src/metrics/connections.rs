//! Counters of connections, a set for each listener: they are counted by the accept loop, and no
//! client can make a new series.

use std::fmt;
use std::sync::Arc;

use yearbook_counters::{Counter, Gauge, Metric as _};

use super::exposition::MetricsWriter;

/// Reasons for closing a connection before it had a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionRefusal {
    /// Its address holds as many connections as one may.
    Address,
    /// Every slot was taken, and none came free in time.
    Full,
}

/// Deadlines that a connection ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionTimeout {
    /// `server.header_read_ms`: a request's head was not complete.
    Head,
    /// `server.idle_ms`: no request was open.
    Idle,
    /// `server.write_idle_ms`: the client took no byte of what was to be written.
    Write,
}

/// Counters of one listener.
#[derive(Debug, Default)]
pub struct ConnectionMetrics {
    limit: Gauge,
    open: Gauge,
    accepted: Counter,
    refused: [Counter; 2],
    timed_out: [Counter; 3],
}

/// Counters of all listeners.
#[derive(Debug, Default)]
pub struct ListenerMetrics {
    /// Of the listener for clients.
    pub public: Arc<ConnectionMetrics>,
    /// Of the listener for operators.
    pub admin: Arc<ConnectionMetrics>,
}

impl ConnectionMetrics {
    /// Notes how many connections may be open at once.
    pub fn set_limit(&self, limit: usize) {
        self.limit.set(limit);
    }

    /// Counts a connection that was accepted; it is open until what is returned is dropped.
    pub fn accept(self: &Arc<Self>) -> OpenConnection {
        self.accepted.increment();
        self.open.increment();
        OpenConnection(Arc::clone(self))
    }

    /// Counts a connection that was closed before it had a slot.
    pub fn refuse(&self, reason: ConnectionRefusal) {
        self.refused[reason as usize].increment();
    }

    /// Counts a connection that ran into a deadline.
    pub fn time_out(&self, reason: ConnectionTimeout) {
        self.timed_out[reason as usize].increment();
    }
}

/// A connection that is open until this is dropped.
#[derive(Debug)]
pub struct OpenConnection(Arc<ConnectionMetrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.decrement();
    }
}

impl ListenerMetrics {
    /// Writes the counters of all listeners, whether or not they have been opened.
    pub(super) fn write(&self, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
        let listeners = || [("public", &self.public), ("admin", &self.admin)].into_iter();
        let size = |of: fn(&ConnectionMetrics) -> &Gauge| {
            listeners().map(move |(name, listener)| (vec![("listener", name)], of(listener).read()))
        };
        sheet.gauge(
            "yearbook_connections_limit",
            "Connections that may be open at once; 0: nobody listens.",
            size(|listener| &listener.limit),
        )?;
        sheet.gauge(
            "yearbook_connections_open",
            "Connections that are open, or wait for a slot.",
            size(|listener| &listener.open),
        )?;
        sheet.counter(
            "yearbook_connections_accepted",
            "Connections that were accepted.",
            listeners()
                .map(|(name, listener)| (vec![("listener", name)], listener.accepted.read())),
        )?;
        let reasons = |names: &'static [&'static str], of: fn(&ConnectionMetrics) -> &[Counter]| {
            listeners().flat_map(move |(listener, metrics)| {
                let labels = move |reason| vec![("listener", listener), ("reason", reason)];
                names
                    .iter()
                    .zip(of(metrics))
                    .map(move |(reason, count)| (labels(*reason), count.read()))
            })
        };
        sheet.counter(
            "yearbook_connections_refused",
            "Connections that were closed at once: their address held its share, or all slots were taken.",
            reasons(&["address", "full"], |metrics| &metrics.refused),
        )?;
        sheet.counter(
            "yearbook_connections_timed_out",
            "Connections that were closed because a request's head, a next request, or the taking of bytes was late.",
            reasons(&["head", "idle", "write"], |metrics| &metrics.timed_out),
        )
    }
}
