//! What goes back: entity tags, conditions, compression, links, and the two kinds of body,
//! documents of our own and data.

pub(crate) mod attribution;
pub(crate) mod body;
pub(crate) mod compression;
pub(crate) mod document;
pub(crate) mod etag;
pub(crate) mod failure_cache;
pub(crate) mod head;
pub(crate) mod links;
pub(crate) mod open_check;
pub(crate) mod preconditions;
pub(crate) mod render;
pub(crate) mod response_cache;
pub(crate) mod too_large;

pub(crate) use document::RenderedDocument;
pub(crate) use etag::EntityTag;
