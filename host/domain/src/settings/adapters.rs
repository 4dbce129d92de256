//! `[adapters]`: other people's APIs (contract-17-key-parameter). Never touches a request.

use serde::{Deserialize, Serialize};

/// `[adapters]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdapterSettings {
    /// True: adapters that declare a query parameter for the key take keys in it, for clients that
    /// can send nothing else. Default false: addresses are kept by browsers, proxies and logs of
    /// others.
    pub keys_in_addresses: bool,
}
