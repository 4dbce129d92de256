//! The plugin platform: what a check finds, and what running hosts serve when releases come and go.

mod canary;
mod check;
pub(crate) mod hosts;
mod lifecycle;
mod released;
mod strikes;
mod swaps;
mod trust;
