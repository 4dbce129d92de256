//! `[storage]`, as far as stored data understands it: bounds for a store on the network, and how
//! bulk files leave it. A folder of this machine needs none of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Settings of a store on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// Longest wait for a connection, milliseconds. Default 2,000.
    pub connect_ms: u64,
    /// Longest that one request to the store may take, its body included, milliseconds. Default
    /// 6,000: a part of 8 MiB at 11 Mbit/s. Who publishes over a slower line raises it.
    pub attempt_ms: u64,
    /// Number of retries of a failed request, after waits that grow from 0.1 s to 2 s by
    /// chance. Default 4.
    pub retries: usize,
    /// Longest that a read may take with all its requests and waits, milliseconds; no request is
    /// made again later than that. Default 20,000: below `server.first_byte_ms`, so that clients
    /// hear what was the matter.
    pub answer_ms: u64,
    /// Delivery of whole files by `/v1/bulk`.
    pub bulk: BulkDelivery,
    /// Life of a signed address, seconds; a download that has begun goes on. Default 60.
    pub link_s: u64,
}

/// Ways of whole files out of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulkDelivery {
    /// Through us, every block checked.
    Stream,
    /// From the store itself: the client is sent to a signed address.
    Redirect,
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self {
            connect_ms: 2_000,
            attempt_ms: 6_000,
            retries: 4,
            answer_ms: 20_000,
            bulk: BulkDelivery::Stream,
            link_s: 60,
        }
    }
}

impl StorageSettings {
    /// [`StorageSettings::answer_ms`] as a duration.
    pub(crate) fn read_timeout(&self) -> Duration {
        Duration::from_millis(self.answer_ms)
    }

    /// [`StorageSettings::link_s`] as a duration.
    #[cfg(feature = "s3")]
    pub(crate) fn link(&self) -> Duration {
        Duration::from_secs(self.link_s)
    }
}
