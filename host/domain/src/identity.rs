//! Names of things that are looked up: stored bytes, snapshots, keys, kinds of plugins, days. Each
//! is its own type, checked where text enters, so that no digest stands in for a snapshot. The text
//! is what SQL, JSON, headers and object keys hold, and what order and hashes follow.

mod calendar_date;
mod digest;
mod key_id;
mod plugin_kind;
mod snapshot_id;

pub use calendar_date::Date;
pub use digest::Digest;
pub use key_id::KeyId;
pub use plugin_kind::PluginKind;
pub use snapshot_id::SnapshotId;

#[cfg(test)]
mod tests;
