//! What happens inside a transaction, grouped by table and written once for every database. Never
//! begins or ends one.

pub(crate) mod changes;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod loose;
pub(crate) mod observed;
pub(crate) mod releases;
pub(crate) mod usage;
