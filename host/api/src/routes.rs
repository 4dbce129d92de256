//! Handlers; a module a resource, named as its address is.

pub(crate) mod bulk;
pub(crate) mod datasets;
pub(crate) mod docs;
pub(crate) mod health;
pub(crate) mod integrations;
pub(crate) mod link;
pub(crate) mod me;
pub(crate) mod preview;
pub(crate) mod rows;
pub(crate) mod values;
