//! Every integration test, one binary; modules mirror the crates and routes that they prove.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fleet;
mod fuzz;
mod generators;
mod plugins;
mod routes;
mod sandbox;
mod store;
