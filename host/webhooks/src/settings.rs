//! `[webhooks]`: addresses that are told of versions.

use serde::{Deserialize, Serialize};

/// Switch of webhooks, and rules of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookSettings {
    /// True where this host sends messages, and accounts may add addresses. Default true.
    pub enabled: bool,
    /// Allows addresses that lead to this machine or to private networks, and those without TLS.
    /// Default false: whoever has an e-mail address may add one.
    pub allow_private: bool,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self { enabled: true, allow_private: false }
    }
}
