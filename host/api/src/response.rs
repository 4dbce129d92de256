//! Responses with rows: plans, tags, conditions, headers, and bodies from the cache or rendered.

mod bodies;
pub(crate) mod body_caches;
pub(crate) mod chain_cache;
pub(crate) mod citation_link;
pub(crate) mod failure_cache;
pub(crate) mod headers;
mod open_check;
mod open_outcomes;
mod pending;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod response_cache;
mod row_tag;
mod told_schema;
pub(crate) mod too_large;
pub(crate) mod transform_failure;

pub(crate) use pending::{Opened, PendingResponse, open};
