//! Requests: caller, path, query and accepted formats, parsed without any I/O, and the plans that
//! follow from them. Never touches a body or a status of success.

pub(crate) mod accept;
mod bulk_request;
mod caller;
pub(crate) mod content_coding;
mod data_request;
pub(crate) mod options;
mod path;
mod plan_changes;
mod plan_rows;

pub(crate) use bulk_request::BulkRequest;
pub(crate) use data_request::DataRequest;
use path::bulk_names;
pub(crate) use path::dataset_name;
