//! `[database]`, as far as the catalog understands it: bounds for the database, and for the time
//! without it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bounds for the database, and for the time that it may be down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DatabaseSettings {
    /// Connections of one process, besides one that listens for changes. Default 16: six hosts fit
    /// into a server's usual 100. A quarter of them, one at least, looks up keys that may not
    /// exist.
    pub connections: u32,
    /// Longest wait for a free or a new connection, milliseconds. Default 1,000: a client that
    /// waits longer is better answered by 503. Holds for SQLite, too.
    pub acquire_ms: u64,
    /// Longest that one statement may take, milliseconds, waits for locks included. Default 5,000:
    /// statements take milliseconds, a publish that waits for another dataset's commit some more.
    /// Of SQLite, which asks no network, the longest wait for the lock of the file.
    pub answer_ms: u64,
    /// While the database is away, keys that a host knows go on for so long, seconds, and keys that
    /// are revoked meanwhile with them; then every key is 503. Default 300. 0: as soon as the
    /// database is known to be away. Holds for SQLite, too.
    pub stale_keys_s: u64,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self { connections: 16, acquire_ms: 1_000, answer_ms: 5_000, stale_keys_s: 300 }
    }
}

impl DatabaseSettings {
    /// [`DatabaseSettings::acquire_ms`] as a duration.
    pub(crate) fn acquire_timeout(&self) -> Duration {
        Duration::from_millis(self.acquire_ms)
    }

    /// [`DatabaseSettings::answer_ms`] as a duration.
    pub(crate) fn statement_timeout(&self) -> Duration {
        Duration::from_millis(self.answer_ms)
    }
}
