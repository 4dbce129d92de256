//! The plugin platform: what a check finds, and what running hosts serve when releases come and go.

mod canary;
mod check;
mod circuit_breaker;
mod lifecycle;
mod quarantine;
mod registry;
mod released;
mod swaps;
pub(crate) mod test_hosts;
mod trust;
