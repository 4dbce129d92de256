//! Proofs that are checked without a network (C2SP `tlog-proof`): an entry, its place, the hashes
//! up to the root, and the checkpoint that states the root.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{Checkpoint, Hash, LogError, VerifierKey, check_inclusion};

const HEAD: &str = "c2sp.org/tlog-proof@v1";

/// A proof that a log holds an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InclusionProof {
    /// The entry, as the line of extra data has it.
    pub entry: Vec<u8>,
    /// Its index.
    pub index: u64,
    /// Hashes from its sibling up.
    pub hashes: Vec<Hash>,
    /// The checkpoint with its signatures.
    pub checkpoint: String,
}

impl InclusionProof {
    /// Returns the proof as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let entry = STANDARD.encode(&self.entry);
        let hashes: String = self.hashes.iter().map(|hash| hash.to_base64() + "\n").collect();
        let Self { index, checkpoint, .. } = self;
        format!("{HEAD}\nextra {entry}\nindex {index}\n{hashes}\n{checkpoint}")
    }

    /// Parses [`Self::to_text`].
    ///
    /// # Errors
    /// [`LogError::NoProof`].
    pub fn parse(text: &str) -> Result<Self, LogError> {
        let read = || {
            let (head, checkpoint) = text.split_once("\n\n")?;
            let mut lines = head.split('\n');
            if lines.next()? != HEAD {
                return None;
            }
            let entry = STANDARD.decode(lines.next()?.strip_prefix("extra ")?).ok()?;
            let index = lines.next()?.strip_prefix("index ")?.parse().ok()?;
            let hashes = lines.map(Hash::from_base64).collect::<Option<Vec<_>>>()?;
            let proof = Self { entry, index, hashes, checkpoint: checkpoint.to_owned() };
            (proof.to_text() == text).then_some(proof)
        };
        read().ok_or(LogError::NoProof)
    }

    /// Checks the checkpoint's signature and that its tree holds the entry; returns the checkpoint.
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`], [`LogError::NotIncluded`].
    pub fn check(&self, key: &VerifierKey) -> Result<Checkpoint, LogError> {
        let head = Checkpoint::open(&self.checkpoint, key)?;
        let leaf = Hash::leaf(&self.entry);
        check_inclusion(leaf, self.index, head.size, &self.hashes, head.root)?;
        Ok(head)
    }
}
