//! What a handler takes from a request, judged in itself: the caller, the path, the query, what the
//! client accepts.

pub(crate) mod accept;
mod caller;
pub(crate) mod content_coding;
mod data_request;
pub(crate) mod options;
mod path;

pub(crate) use data_request::DataRequest;
pub(crate) use path::{bulk_names, dataset_name};
