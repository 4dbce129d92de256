//! Settings of an operator that several crates read, as values.

mod pages;
mod share;

pub use pages::{ContactAddress, PageSettings};
pub use share::{IcebergCredentials, S3Properties, ShareName, ShareSettings};
