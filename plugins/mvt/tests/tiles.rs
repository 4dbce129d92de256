//! Tiles as a reader finds them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "tiles/areas.rs"]
mod areas;
#[path = "tiles/decoder.rs"]
mod decoder;
#[path = "tiles/rules.rs"]
mod rules;
