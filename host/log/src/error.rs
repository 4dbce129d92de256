//! Reasons why what a log says is not believed.

/// Reason why a note, a proof or a tile is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The text is no signed note.
    #[error("that is no signed note")]
    NoNote,
    /// No line of signature is by the key.
    #[error("the note is not signed by the key that was given")]
    OtherKey,
    /// A signature by the key does not verify.
    #[error("the signature is not that of the note's text")]
    WrongSignature,
    /// A note says something else than a tree head.
    #[error("the note is no checkpoint")]
    NoCheckpoint,
    /// A checkpoint is of another log.
    #[error("the checkpoint is of another log than the key")]
    OtherOrigin,
    /// The text is no proof.
    #[error("that is no tlog-proof")]
    NoProof,
    /// The entry does not stand at the index of the tree that was signed.
    #[error("the log that was signed does not hold the entry at this index")]
    NotIncluded,
    /// A tree does not go on from an older one.
    #[error(
        "the log does not go on from the checkpoint of before: what was signed then has been changed"
    )]
    Inconsistent,
    /// The text is no verifier key.
    #[error("that is no verifier key; it looks like data.example.org/log+1a2b3c4d+AY…")]
    NoKey,
    /// A tile has not the size that its address says.
    #[error("a tile has not the hashes or entries that its address says")]
    WrongTile,
}
