//! Bounds of a request to an adapter (contract-17-rounds). Whatever answers its questions keeps
//! them, and the check of an adapter measures by them.

/// Most calls of a request.
pub const CALLS: usize = 4;
/// Most questions that are answered.
pub const QUESTIONS: usize = 64;
/// Most of them that are reads.
pub const READS: usize = 4;
/// Most bytes of facts, as JSON writes them.
pub const FACT_BYTES: usize = 8 << 20;
