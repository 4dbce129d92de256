//! The abstract tests of the standards, over the sample catalogue. Written from the standards: a
//! test has the name of the one that it stands for, `/conf/core/…` of Features Part 1 for one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "abstract_tests/service.rs"]
mod service;

#[path = "abstract_tests/core.rs"]
mod core;
#[path = "abstract_tests/features.rs"]
mod features;
#[path = "abstract_tests/records.rs"]
mod records;
#[path = "abstract_tests/tiles.rs"]
mod tiles;
