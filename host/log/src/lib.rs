//! Transparency logs as C2SP has them (`tlog-tiles`, `tlog-checkpoint`, `signed-note`,
//! `tlog-proof`): the tree of RFC 6962, its tiles, proofs and their checks, and signed checkpoints.
//! Pure functions and values: never reads a database, a clock or a network, and knows nothing of
//! what the entries say.

mod checkpoint;
mod error;
mod hash;
mod note;
mod proof;
mod tile;
mod tiles;
mod tree;
mod verify;

pub use checkpoint::Checkpoint;
pub use error::LogError;
pub use hash::Hash;
pub use note::{SigningKey, VerifierKey};
pub use proof::InclusionProof;
pub use tile::{TILE_WIDTH, TileAddress, TileKind, entry_bundle, read_bundle};
pub use tiles::HashTiles;
pub use tree::{TreeHasher, consistency_ranges, inclusion_ranges};
pub use verify::{check_consistency, check_inclusion};

#[cfg(test)]
mod tests;
