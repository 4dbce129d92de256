//! The object store: one suite on memory, a folder and an S3-compatible server; and the service on
//! a bucket, with faults and without.

mod descriptions;
mod faults;
mod service;
mod suite;
