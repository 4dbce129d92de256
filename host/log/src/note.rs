//! Signed notes with Ed25519 (C2SP `signed-note`): a key of a log signs a text, and others check
//! it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_compact::{KeyPair, PublicKey, Seed, Signature};
use sha2::{Digest as _, Sha256};

use crate::LogError;

/// Type of a signature over the text alone.
const ED25519: u8 = 1;

/// Longest note that is read, bytes: far more than sixteen signatures take.
const MAX_NOTE_BYTES: usize = 128 << 10;

/// A key that signs.
#[derive(Clone)]
pub struct SigningKey {
    pair: KeyPair,
    verifier: VerifierKey,
}

/// A key that checks signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    id: [u8; 4],
    public: PublicKey,
}

impl SigningKey {
    /// Makes the key called `name` that a secret gives; what cannot stand in a name becomes `-`.
    #[must_use]
    pub fn new(name: &str, secret: [u8; 32]) -> Self {
        let pair = KeyPair::from_seed(Seed::new(secret));
        let name = if name.is_empty() { "-" } else { name };
        Self { verifier: VerifierKey::new(&name.replace(is_foreign, "-"), pair.pk), pair }
    }

    /// Returns the key that checks its signatures.
    #[must_use]
    pub fn verifier(&self) -> &VerifierKey {
        &self.verifier
    }

    /// Returns a text, which ends with a line break, with the signature below it.
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let VerifierKey { name, id, .. } = &self.verifier;
        let signature = self.pair.sk.sign(text, None);
        let signature = STANDARD.encode([&id[..], &signature[..]].concat());
        format!("{text}\n— {name} {signature}\n")
    }
}

impl VerifierKey {
    fn new(name: &str, public: PublicKey) -> Self {
        let hash = Sha256::new().chain_update(name).chain_update([b'\n', ED25519]);
        let [a, b, c, d, ..]: [u8; 32] = hash.chain_update(public.as_ref()).finalize().into();
        Self { name: name.to_owned(), id: [a, b, c, d], public }
    }

    /// Parses a verifier key, `name+id+key`.
    ///
    /// # Errors
    /// [`LogError::NoKey`].
    pub fn parse(text: &str) -> Result<Self, LogError> {
        let read = || {
            let (name, rest) = text.trim().split_once('+')?;
            let (_, encoded) = rest.split_once('+')?;
            let bytes = STANDARD.decode(encoded).ok()?;
            let (kind, public) = bytes.split_first()?;
            let key = Self::new(name, PublicKey::from_slice(public).ok()?);
            let is_name = !name.is_empty() && !name.contains(is_foreign);
            (is_name && *kind == ED25519 && key.to_text() == text.trim()).then_some(key)
        };
        read().ok_or(LogError::NoKey)
    }

    /// Returns the key as others configure it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let key = STANDARD.encode([&[ED25519], self.public.as_ref()].concat());
        format!("{}+{:08x}+{key}", self.name, u32::from_be_bytes(self.id))
    }

    /// Returns its name: the origin of a log.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of a note that this key has signed. Signatures of others are not looked at.
    ///
    /// # Errors
    /// [`LogError::NoNote`], [`LogError::OtherKey`], [`LogError::WrongSignature`].
    pub fn open<'n>(&self, note: &'n str) -> Result<&'n str, LogError> {
        let is_clean = !note.chars().any(|c| c < ' ' && c != '\n');
        let Some(end) = note.rfind("\n\n").filter(|_| is_clean && note.len() <= MAX_NOTE_BYTES)
        else {
            return Err(LogError::NoNote);
        };
        let (text, lines) = (&note[..=end], &note[end + 2..]);
        let lines = lines.strip_suffix('\n').ok_or(LogError::NoNote)?;
        let mut is_signed = false;
        for line in lines.split('\n') {
            let parts = line.strip_prefix("— ").and_then(|line| line.split_once(' '));
            let (name, signature) = parts.ok_or(LogError::NoNote)?;
            let signature = STANDARD.decode(signature).map_err(|_| LogError::NoNote)?;
            let (id, signature) = signature.split_first_chunk::<4>().ok_or(LogError::NoNote)?;
            if name != self.name || *id != self.id {
                continue;
            }
            let signature = Signature::from_slice(signature);
            let signature = signature.map_err(|_| LogError::WrongSignature)?;
            self.public.verify(text, &signature).map_err(|_| LogError::WrongSignature)?;
            is_signed = true;
        }
        if is_signed { Ok(text) } else { Err(LogError::OtherKey) }
    }
}

/// Returns true for what cannot stand in the name of a key.
fn is_foreign(c: char) -> bool {
    c == '+' || c.is_whitespace() || c.is_control()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn the_note_of_c2sp_verifies_contract_21() {
        let text = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
        let key = VerifierKey::parse(text).unwrap();
        assert_eq!(key.to_text(), text);
        let note = "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";
        assert_eq!(key.open(note), Ok("This is an example message.\n"));
        let altered = note.replace("example message", "exemple message");
        assert_eq!(key.open(&altered), Err(LogError::WrongSignature));
    }

    #[test]
    fn only_the_key_opens_what_it_signed_contract_21() {
        let key = SigningKey::new("data.example.org/log", [7; 32]);
        let other = SigningKey::new("data.example.org/log", [8; 32]);
        let named = SigningKey::new("data.example.org/lag", [7; 32]);
        let note = key.sign("one\n\ntwo\n");
        assert_eq!(key.verifier().open(&note), Ok("one\n\ntwo\n"));
        for stranger in [&other, &named] {
            assert_eq!(stranger.verifier().open(&note), Err(LogError::OtherKey));
        }
        // A witness may sign as well, before or after.
        let (_, line) = other
            .sign("one\n\ntwo\n")
            .split_at_checked(10)
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        assert_eq!(key.verifier().open(&format!("{note}{line}")), Ok("one\n\ntwo\n"));
        for broken in [
            "",
            "\n\n",
            "text\n",
            "text\n\n",
            "text\n\nx\n",
            "text\n\n— a b\n",
            &note[..note.len() - 1],
        ] {
            assert_eq!(key.verifier().open(broken), Err(LogError::NoNote), "{broken:?}");
        }
        for (name, expected) in [("", "-"), ("a b+c\u{a0}d\ne", "a-b-c-d-e")] {
            let key = SigningKey::new(name, [7; 32]);
            assert_eq!(key.verifier().name(), expected);
            assert_eq!(VerifierKey::parse(&key.verifier().to_text()).as_ref(), Ok(key.verifier()));
        }
        for text in
            ["", "a+b+c", "a+00000000+AQ==", &key.verifier().to_text().replace("log+", "log+0")]
        {
            assert_eq!(VerifierKey::parse(text), Err(LogError::NoKey), "{text}");
        }
    }
}
