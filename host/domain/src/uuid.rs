//! UUIDs that a name alone decides (RFC 9562, version 8): every host writes the same one for ever.
//! The only such code of the host; nothing here is random.

use sha2::{Digest as _, Sha256};

use crate::hex::encode_hex;

/// Returns the UUID whose bits are the first of the SHA-256 of `name`, 36 characters. A name tells
/// what it is of, so that no two uses meet.
#[must_use]
pub fn uuid_of_name(name: &str) -> String {
    let mut bytes: [u8; 32] = Sha256::digest(name).into();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let groups = [&bytes[..4], &bytes[4..6], &bytes[6..8], &bytes[8..10], &bytes[10..16]];
    groups.map(encode_hex).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_uuid_of_version_8_rfc_9562() {
        // `printf abc | sha256sum`, with the version and the variant in their places.
        assert_eq!(uuid_of_name("abc"), "ba7816bf-8f01-8fea-8141-40de5dae2223");
        assert_ne!(uuid_of_name("abd"), uuid_of_name("abc"));
    }
}
