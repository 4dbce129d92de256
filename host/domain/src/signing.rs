//! HMAC-SHA-256 (RFC 2104) and sealed texts under a secret that all hosts of a catalog share: what
//! one of them signs or seals, every other can check or open. Never makes or keeps a secret.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, Payload};
use hmac::{Hmac, KeyInit};
use sha2::Sha256;

/// Bytes of a nonce, which stands before a sealed text: so many that random ones never repeat.
pub const NONCE_BYTES: usize = 24;

/// Returns an HMAC with the key `secret` and no text yet.
#[must_use]
pub fn keyed_hmac(secret: &[u8; 32]) -> Hmac<Sha256> {
    // HMAC itself fills a short key up with zeros to the size of the hash's block.
    let mut block = [0; 64];
    block[..secret.len()].copy_from_slice(secret);
    Hmac::new(&block.into())
}

/// Returns `text` encrypted and authenticated under `secret`, behind its nonce, which is random.
/// Opens for the same `context` alone, which is no part of it. Empty for a text of more than the
/// 256 GiB that the cipher takes.
#[must_use]
pub fn seal(secret: &[u8; 32], nonce: &[u8; NONCE_BYTES], context: &[u8], text: &[u8]) -> Vec<u8> {
    let sealed = XChaCha20Poly1305::new(secret.into())
        .encrypt(nonce.into(), Payload { msg: text, aad: context })
        .unwrap_or_default();
    [nonce.as_slice(), &sealed].concat()
}

/// Returns the text that [`seal`] sealed; `None` where a byte, the secret or `context` is another.
#[must_use]
pub fn unseal(secret: &[u8; 32], context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    let payload = Payload { msg: sealed, aad: context };
    XChaCha20Poly1305::new(secret.into()).decrypt(nonce.into(), payload).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use hmac::Mac;

    use super::*;
    use crate::hex::encode_hex;

    #[test]
    fn a_secret_is_the_key_as_every_other_library_takes_it_rfc_2104() {
        let tag = keyed_hmac(&[b'k'; 32]).chain_update("text").finalize().into_bytes();
        assert_eq!(
            encode_hex(&tag),
            "8d3a9f54db4f3f1e3addef3fc62a0359d0d9d2a87c07cf465284062fded2baa2"
        );
    }

    #[test]
    fn a_sealed_text_opens_for_its_own_secret_and_context_alone() {
        let sealed = seal(&[1; 32], &[2; NONCE_BYTES], b"mail_1", b"ann@example.org");
        assert_eq!(unseal(&[1; 32], b"mail_1", &sealed).unwrap(), b"ann@example.org");
        assert_eq!(unseal(&[1; 32], b"mail_2", &sealed), None);
        assert_eq!(unseal(&[2; 32], b"mail_1", &sealed), None);
        assert_eq!(unseal(&[1; 32], b"mail_1", &sealed[..10]), None);
        assert!(!sealed.windows(3).any(|window| window == b"ann"));
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert_eq!(unseal(&[1; 32], b"mail_1", &changed), None, "{index}");
        }
    }
}
