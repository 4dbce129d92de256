//! What goes back: entity tags, conditions, compression, links, and the two kinds of body,
//! documents of our own and data.

pub(crate) mod attribution;
pub(crate) mod body;
pub(crate) mod compress;
pub(crate) mod conditional;
pub(crate) mod document;
pub(crate) mod etag;
pub(crate) mod failed_inputs;
pub(crate) mod head;
pub(crate) mod kept;
pub(crate) mod links;
pub(crate) mod opening;
pub(crate) mod rows;
pub(crate) mod too_large;

pub(crate) use document::RenderedDocument;
pub(crate) use etag::EntityTag;
