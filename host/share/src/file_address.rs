//! Signed addresses of stored files (contract-12-urls): an HMAC over file, key and expiry under a
//! secret that every host of the catalog shares. Never touches a file or the state of a key.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use yearbook_domain::signing::keyed_hmac;
use yearbook_domain::{Digest, KeyId};

/// Path of all addresses; the file's digest follows.
pub(super) const FILES_PATH: &str = "/share/files/";

/// Writes and checks addresses.
pub(crate) struct FileSigner {
    signer: Hmac<Sha256>,
}

/// The content of an address with a good signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignedAddress {
    /// The file.
    pub(super) digest: Digest,
    /// The key that it was made for.
    pub(super) key: KeyId,
    /// Unix time, in seconds, from which it does not work any more.
    pub(super) expires: i64,
}

impl FileSigner {
    /// With the catalog's secret.
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { signer: keyed_hmac(&secret) }
    }

    /// Returns path and query of `address`. `sp=r`, the permission to read, tells clients that the
    /// address is signed already.
    pub(super) fn sign(&self, address: &SignedAddress) -> String {
        let tag = self.tag(address).finalize().into_bytes();
        let signature = BASE64_URL_SAFE_NO_PAD.encode(tag);
        let SignedAddress { digest, .. } = address;
        format!("{FILES_PATH}{digest}?{}{signature}", unsigned_query(address))
    }

    /// Returns what an address says whose signature is good, without a look at the clock; none for
    /// any that [`FileSigner::sign`] does not write, down to the byte. Takes the same time wherever
    /// the signature differs.
    pub(super) fn verify(&self, path: &str, query: &str) -> Option<SignedAddress> {
        let digest = Digest::parse(path.strip_prefix(FILES_PATH)?)?;
        let mut values = query.splitn(4, '&').map(|pair| pair.split_once('=').map(|pair| pair.1));
        let key = KeyId::parse(values.next()??)?;
        let _permission = values.next()?;
        let expires = values.next()??.parse().ok()?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(values.next()??).ok()?;
        let address = SignedAddress { digest, key, expires };
        self.tag(&address).verify_slice(&signature).ok()?;
        // One spelling: names and their order, and no zeros before the time.
        query.starts_with(&unsigned_query(&address)).then_some(address)
    }

    fn tag(&self, SignedAddress { digest, key, expires }: &SignedAddress) -> Hmac<Sha256> {
        // No part holds a line break.
        let text = format!("file 1\n{FILES_PATH}{digest}\n{expires}\n{key}");
        self.signer.clone().chain_update(text)
    }
}

/// The query up to the signature.
fn unsigned_query(SignedAddress { key, expires, .. }: &SignedAddress) -> String {
    format!("k={key}&sp=r&se={expires}&sig=")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn address(file: &str) -> SignedAddress {
        SignedAddress {
            digest: Digest::compute(file.as_bytes()),
            key: KeyId::parse("key_0123456789ab").unwrap(),
            expires: 1_795_219_200,
        }
    }

    fn verify(signer: &FileSigner, text: &str) -> Option<SignedAddress> {
        let (path, query) = text.split_once('?')?;
        signer.verify(path, query)
    }

    #[test]
    fn an_address_is_good_for_what_it_was_made_for_contract_12() {
        let signer = FileSigner::new([1; 32]);
        let text = signer.sign(&address("a"));
        assert_eq!(verify(&signer, &text), Some(address("a")));
        assert_eq!(verify(&FileSigner::new([2; 32]), &text), None, "another installation");
        let other = signer.sign(&address("b"));
        let (path, _) = other.split_once('?').unwrap();
        let (_, query) = text.split_once('?').unwrap();
        assert_eq!(signer.verify(path, query), None, "another file");
    }

    #[test]
    fn no_byte_of_an_address_can_be_changed_contract_12() {
        let signer = FileSigner::new([1; 32]);
        let text = signer.sign(&address("a"));
        for index in 0..text.len() {
            for byte in [b'0', b'A', b'a', b'&', b'=', b'_', b'-', b'%'] {
                let mut altered = text.clone().into_bytes();
                if altered[index] == byte {
                    continue;
                }
                altered[index] = byte;
                let altered = String::from_utf8(altered).unwrap();
                assert_eq!(verify(&signer, &altered), None, "{altered}");
            }
            let mut shorter = text.clone();
            shorter.remove(index);
            assert_eq!(verify(&signer, &shorter), None, "{shorter}");
        }
        for altered in [
            format!("{text}A"),
            format!("{text}="),
            format!("{text}&x=1"),
            text.replace("se=", "se=0"),
            text.replace("se=", "se=%2B"),
            text.replace("se=", "se=+"),
            text.replace("k=", "k=k&k="),
            text.replace("sp=r", "sp=rw"),
        ] {
            assert_eq!(verify(&signer, &altered), None, "{altered}");
        }
    }
}
