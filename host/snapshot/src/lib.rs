//! Stored data: snapshots written when a data package is published and read when a client asks. The only crate
//! that knows object stores and Parquet; it never touches SQL, HTTP or guests.

mod failure;
mod files;

pub use failure::Failure;
pub use files::Files;
