//! Settings of an operator that several crates read, as values.

mod adapters;
mod pages;
mod share;

pub use adapters::AdapterSettings;
pub use pages::{ContactAddress, LogOrigin, PageSettings};
pub use share::{IcebergCredentials, S3Properties, ShareName, ShareSettings};
