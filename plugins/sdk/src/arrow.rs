//! Batches as arrow-rs record batches.
