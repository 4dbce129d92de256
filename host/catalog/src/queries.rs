//! What happens inside a transaction, grouped by table and written once for every database. Never
//! begins or ends one.

pub(crate) mod changes;
pub(crate) mod keys;
pub(crate) mod release_metrics;
pub(crate) mod releases;
pub(crate) mod snapshots;
pub(crate) mod unreferenced;
pub(crate) mod usage;
