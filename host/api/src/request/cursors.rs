//! Cursors on the wire: a position with a signature, in characters that need no escaping
//! (contract-3-cursor-signed). The secret lives in the catalog, so that every host reads what any
//! host wrote.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use yearbook_domain::CursorPosition;
use yearbook_domain::signing::keyed_hmac;

/// Bytes of signature kept: forging one takes 2^127 tries on average, and the cursor stays short.
const TAG_BYTES: usize = 16;

/// Writes and reads cursors.
pub(crate) struct CursorCodec {
    signer: Hmac<Sha256>,
}

impl CursorCodec {
    /// With the catalog's secret.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { signer: keyed_hmac(&secret) }
    }

    /// The text that stands for `position`.
    pub(crate) fn encode(&self, position: &CursorPosition) -> String {
        let mut bytes = position.to_bytes();
        let tag = self.signer.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag[..TAG_BYTES]);
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// None when `text` is not something that [`CursorCodec::encode`] made with this secret.
    pub(crate) fn open(&self, text: &str) -> Option<CursorPosition> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let (position, tag) = bytes.split_last_chunk::<TAG_BYTES>()?;
        self.signer.clone().chain_update(position).verify_truncated_left(tag).ok()?;
        CursorPosition::from_bytes(position)
    }
}

#[cfg(test)]
mod tests {
    use yearbook_domain::{CursorSource, Digest};

    use super::*;

    fn position() -> CursorPosition {
        let source = CursorSource::Changes(Digest::compute(b""));
        CursorPosition { source, row: 100, filters: [9; 16] }
    }

    #[test]
    fn a_cursor_opens_with_the_secret_that_sealed_it() {
        let text = CursorCodec::new([1; 32]).encode(&position());
        assert!(
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'),
            "{text}"
        );
        assert_eq!(CursorCodec::new([1; 32]).open(&text), Some(position()));
        assert_eq!(CursorCodec::new([2; 32]).open(&text), None);
    }

    #[test]
    fn an_altered_cursor_does_not_open() {
        let cursors = CursorCodec::new([1; 32]);
        let text = cursors.encode(&position());
        for index in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[index] = if altered[index] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8_lossy(&altered).into_owned();
            assert_eq!(cursors.open(&altered), None, "{altered}");
        }
        for garbage in [
            "",
            "x",
            "!!!!",
            "AAAA",
            &text[..text.len() - 2],
            &format!("{text}AA"),
            &format!("{text}="),
            "é",
        ] {
            assert_eq!(cursors.open(garbage), None, "{garbage}");
        }
    }
}
