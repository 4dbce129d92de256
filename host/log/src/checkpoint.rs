//! Tree heads as text (C2SP `tlog-checkpoint`).

use crate::{Hash, LogError, SigningKey, VerifierKey};

/// The head of a log: its name, its size and the root of its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Name of the log.
    pub origin: String,
    /// Entries that it has.
    pub size: u64,
    /// Root of the tree over them.
    pub root: Hash,
}

impl Checkpoint {
    /// Signs the head of the log that the key is named like.
    #[must_use]
    pub fn sign(size: u64, root: Hash, key: &SigningKey) -> String {
        key.sign(&format!("{}\n{size}\n{}\n", key.verifier().name(), root.to_base64()))
    }

    /// Reads a checkpoint that the key of its log has signed. Lines of extension are not looked at.
    ///
    /// # Errors
    /// Those of [`VerifierKey::open`], [`LogError::NoCheckpoint`], [`LogError::OtherOrigin`].
    pub fn open(note: &str, key: &VerifierKey) -> Result<Self, LogError> {
        let text = key.open(note)?;
        let mut lines = text.lines();
        let mut line =
            || lines.next().filter(|line| !line.is_empty()).ok_or(LogError::NoCheckpoint);
        let (origin, size, root) = (line()?, line()?, line()?);
        let number: u64 = size.parse().map_err(|_| LogError::NoCheckpoint)?;
        let root = Hash::from_base64(root).ok_or(LogError::NoCheckpoint)?;
        if number.to_string() != size {
            return Err(LogError::NoCheckpoint);
        }
        if origin != key.name() {
            return Err(LogError::OtherOrigin);
        }
        Ok(Self { origin: origin.to_owned(), size: number, root })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_checkpoint_is_three_lines_and_a_signature_contract_21() {
        let key = SigningKey::new("data.example.org/log", [7; 32]);
        let note = Checkpoint::sign(12, Hash([5; 32]), &key);
        let root = Hash([5; 32]).to_base64();
        assert!(
            note.starts_with(&format!(
                "data.example.org/log\n12\n{root}\n\n— data.example.org/log "
            ))
        );
        let read = Checkpoint::open(&note, key.verifier()).unwrap();
        assert_eq!((read.size, read.root), (12, Hash([5; 32])));
        for (text, failure) in [
            (format!("data.example.org/log\n012\n{root}\n"), LogError::NoCheckpoint),
            (format!("data.example.org/log\n+12\n{root}\n"), LogError::NoCheckpoint),
            ("data.example.org/log\n12\n".to_owned(), LogError::NoCheckpoint),
            ("data.example.org/log\n12\nshort\n".to_owned(), LogError::NoCheckpoint),
            (format!("other.example.org/log\n12\n{root}\n"), LogError::OtherOrigin),
        ] {
            assert_eq!(Checkpoint::open(&key.sign(&text), key.verifier()), Err(failure), "{text}");
        }
        let extended = key.sign(&format!("data.example.org/log\n12\n{root}\nmore\n"));
        assert_eq!(Checkpoint::open(&extended, key.verifier()), Ok(read));
    }
}
