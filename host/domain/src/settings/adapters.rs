//! `[adapters]`: other people's APIs (contract-17-key-parameter). Never touches a request.

use serde::{Deserialize, Serialize};

/// `[adapters]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdapterSettings {
    /// True: adapters that declare a query parameter for the key take keys in it, for clients that
    /// can send nothing else. Default false: addresses are kept by browsers, proxies and logs of
    /// others.
    pub keys_in_addresses: bool,
    /// Memory for documents that adapters wrote of the catalogue, bytes. Default 32 MiB: some 2,000
    /// of 4 KiB with their compressed forms. 0: every document is made anew.
    pub document_cache_bytes: usize,
}

impl Default for AdapterSettings {
    fn default() -> Self {
        Self { keys_in_addresses: false, document_cache_bytes: 32 << 20 }
    }
}
