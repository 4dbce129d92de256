//! Who asks.

use crate::Plan;

/// A caller whose key has been checked. Only the key check of the server makes one, so a step that
/// takes a `Caller` cannot be reached without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Identifier of the key (not the key).
    pub key_id: String,
    /// What the key was issued for.
    pub plan: Plan,
}
