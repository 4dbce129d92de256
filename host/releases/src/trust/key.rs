//! Keys and signatures as minisign writes them (<https://jedisct1.github.io/minisign/>): ed25519 over
//! the file, or over its BLAKE2b hash, as the tool does by default.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Bytes of a signature's file at most: four lines.
const SIGNATURE_BYTES: usize = 4 << 10;

/// Position of an identifier in a decoded key or signature: behind two letters for the algorithm.
const ID: std::ops::Range<usize> = 2..10;

/// A public key: the line of `minisign.pub` that is no comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrustedKey {
    text: String,
    id: String,
    key: minisign_verify::PublicKey,
}

impl TrustedKey {
    /// As the tool shows it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn verifies(&self, component: &[u8], signature: &ParsedSignature) -> bool {
        self.key.verify(component, &signature.signature, true).is_ok()
    }
}

impl TryFrom<String> for TrustedKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || {
            format!(
                "a key is the second line of minisign.pub, 56 characters that begin with RW, not {text:?}"
            )
        };
        let key = minisign_verify::PublicKey::from_base64(&text).map_err(|_| wrong())?;
        let id = id(&text).ok_or_else(wrong)?;
        Ok(Self { text, id, key })
    }
}

impl From<TrustedKey> for String {
    fn from(key: TrustedKey) -> Self {
        key.text
    }
}

/// A component's signature as it was handed in: the text of a `.minisig` file, not yet believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(String);

/// A signature that could be read; still nobody's.
pub struct ParsedSignature {
    id: String,
    signature: minisign_verify::Signature,
}

impl Signature {
    /// Takes what a file or a store holds; what is too long, or no text, stays unreadable.
    #[must_use]
    pub fn from_bytes(file: &[u8]) -> Self {
        Self(if file.len() > SIGNATURE_BYTES {
            String::new()
        } else {
            String::from_utf8_lossy(file).into_owned()
        })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads it.
    ///
    /// # Errors
    /// A sentence about the fault.
    pub fn read(&self) -> Result<ParsedSignature, String> {
        let signature =
            minisign_verify::Signature::decode(&self.0).map_err(|error| error.to_string())?;
        let id = self.0.lines().nth(1).and_then(id).ok_or("its second line is not base64")?;
        Ok(ParsedSignature { id, signature })
    }
}

impl ParsedSignature {
    /// The key that it names.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.id
    }
}

/// The identifier in a line of base64, as the tool prints it.
fn id(line: &str) -> Option<String> {
    let decoded = STANDARD.decode(line.trim()).ok()?;
    Some(format!("{:X}", u64::from_le_bytes(decoded.get(ID)?.try_into().ok()?)))
}
