//! Requests: caller, path, query and accepted formats, parsed without any I/O, and the plans that
//! follow from them. Never touches a body or a status of success.

pub(crate) mod accept;
pub(crate) mod authentication;
mod bulk_request;
pub(crate) mod byte_range;
pub(crate) mod content_coding;
pub(crate) mod cursors;
mod data_request;
mod integration_request;
pub(crate) mod options;
mod path;
mod plan_changes;
mod plan_rows;

pub(crate) use authentication::Authenticated;
pub(crate) use bulk_request::BulkRequest;
pub(crate) use data_request::DataRequest;
pub(crate) use integration_request::IntegrationRequest;
use path::bulk_names;
pub(crate) use path::dataset_name;
