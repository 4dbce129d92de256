//! Every integration test that shares a process: one binary, so that linking is paid once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api;
mod cluster;
mod fuzz_targets;
mod guests;
mod plugins;
