//! The adapter over the sample catalogue.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod kit;
mod protocol;
mod tools;
mod verify;
