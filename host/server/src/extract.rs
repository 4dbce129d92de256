//! What a handler takes from a request, judged in itself: the caller, the path, the query, what the
//! client accepts.

pub(crate) mod accept;
mod asked;
mod caller;
pub(crate) mod coding;
pub(crate) mod options;
mod path;

pub(crate) use asked::Asked;
pub(crate) use path::{bulk_names, dataset_name};
