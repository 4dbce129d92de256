//! UUIDs that a name alone decides (RFC 9562, version 8): every host writes the same one for ever.

use ::uuid::Uuid;
use sha2::{Digest as _, Sha256};

/// Returns the UUID whose bits are the first of the SHA-256 of `name`, 36 characters. A name tells
/// what it is of, so that no two uses meet.
#[must_use]
pub fn uuid_of_name(name: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(name).into();
    let mut bits = [0; 16];
    bits.copy_from_slice(&hash[..16]);
    Uuid::new_v8(bits).to_string()
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
