//! HMAC-SHA-256 (RFC 2104) under a secret that all hosts of a catalog share: what one of them
//! signs, every other can check. Never makes or keeps a secret.

use hmac::{Hmac, KeyInit};
use sha2::Sha256;

/// Returns an HMAC with the key `secret` and no text yet.
#[must_use]
pub fn keyed_hmac(secret: &[u8; 32]) -> Hmac<Sha256> {
    // HMAC itself fills a short key up with zeros to the size of the hash's block.
    let mut block = [0; 64];
    block[..secret.len()].copy_from_slice(secret);
    Hmac::new(&block.into())
}

#[cfg(test)]
mod tests {
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
}
