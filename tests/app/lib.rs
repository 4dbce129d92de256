//! The library of the integration tests: the service in one process, servers beside it, plugins,
//! and fuzz targets. Owns no test; it is one library, so that linking is paid once.

pub mod components;
pub mod fuzz;
pub mod http2;
mod oci;
mod packages;
mod postgres;
pub mod process;
mod request;
mod s3;
mod test_app;

/// The service in one process, and what its tests publish, request and break.
pub mod app {
    pub use crate::oci::{DockerRegistry, OciRegistry};
    pub use crate::packages::{TestTable, big, harvest, parks, wide};
    pub use crate::postgres::{PostgresProxy, postgres};
    pub use crate::request::{Reply, TestRequest};
    pub use crate::s3::{S3Fault, S3Server};
    pub use crate::test_app::*;
}
