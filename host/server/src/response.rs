//! Responses: plans, entity tags, conditions, reservations, headers, links, compression, and the
//! two kinds of body: documents of our own, and rows.

pub(crate) mod bodies;
pub(crate) mod body;
pub(crate) mod bulk_headers;
pub(crate) mod citation_link;
pub(crate) mod compression;
pub(crate) mod dataset_formats;
pub(crate) mod document;
pub(crate) mod etag;
pub(crate) mod failure_cache;
pub(crate) mod headers;
pub(crate) mod links;
pub(crate) mod open_check;
pub(crate) mod open_responses;
pub(crate) mod plan;
pub(crate) mod preconditions;
pub(crate) mod render;
pub(crate) mod reservation;
pub(crate) mod response_cache;
pub(crate) mod too_large;
mod without_body;

pub(crate) use document::RenderedDocument;
pub(crate) use etag::EntityTag;
pub(crate) use headers::rows;
pub(crate) use without_body::without_body;
