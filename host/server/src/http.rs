//! HTTP without routes: connections, middleware, addresses, header names, statuses and rate limits.
//! Never touches a dataset or a plugin.

pub(crate) mod client_address;
mod forwarded;
pub(crate) mod headers;
pub(crate) mod media_types;
pub(crate) mod middleware;
pub(crate) mod rate_limit;
pub(crate) mod request_origin;
pub(crate) mod serve;
pub(crate) mod status;
