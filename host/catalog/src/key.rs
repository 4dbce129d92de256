//! API keys (spec-5-prefix, contract-5-mistyped): `yb_`, 28 random characters, 6 characters of
//! checksum, all of them letters and digits. 28 characters of 62 kinds carry 166 bits, so a fast
//! hash is enough to store them by. The checksum lets a mistyped key be refused without asking the
//! database; it is no secret.
//!
//! The text of a key never appears in `Debug` output, in logs or in the catalog.

pub(crate) mod uses;
pub(crate) mod verifier;

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use yearbook_domain::KeyId;

use crate::CatalogError;

/// Prefix of every key.
pub const PREFIX: &str = "yb_";

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS: usize = 28;
const CHECKSUM_CHARACTERS: usize = 6;
const ID_CHARACTERS: usize = 12;

/// A new key, to be shown once.
#[derive(Clone)]
pub struct IssuedKey(String);

impl IssuedKey {
    /// Returns the text that the caller sends in `X-API-Key`. Print it once; store it nowhere.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IssuedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IssuedKey(redacted)")
    }
}

/// SHA-256 of a whole key, prefix and checksum included: all that is stored of it. Compares in
/// constant time.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Hashes `key`, whatever it looks like.
    fn compute(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Returns the bytes as they are stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns true when `stored` is this hash, in constant time.
    pub(crate) fn matches_stored(&self, stored: &[u8]) -> bool {
        self.0.ct_eq(stored).into()
    }
}

impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.matches_stored(&other.0)
    }
}

impl Eq for KeyHash {}

impl std::hash::Hash for KeyHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(redacted)")
    }
}

/// Issues a new key.
///
/// # Errors
/// [`CatalogError::Random`] when the operating system gives no random numbers.
pub fn issue() -> Result<(IssuedKey, KeyHash), CatalogError> {
    let body = random_base62(RANDOM_CHARACTERS)?;
    let text = format!("{PREFIX}{body}{}", checksum(&body));
    let hash = KeyHash::compute(&text);
    Ok((IssuedKey(text), hash))
}

/// Makes an identifier for a key record: not a secret, used to list and to revoke.
///
/// # Errors
/// [`CatalogError::Random`] when the operating system gives no random numbers.
pub fn new_id() -> Result<KeyId, CatalogError> {
    let id = format!("key_{}", random_base62(ID_CHARACTERS)?);
    KeyId::parse(&id).ok_or(CatalogError::Random(getrandom::Error::UNEXPECTED))
}

/// Makes an identifier that begins with `prefix`, for the record of an account or a mail: not a
/// secret.
///
/// # Errors
/// [`CatalogError::Random`] when the operating system gives no random numbers.
pub fn new_record_id(prefix: &str) -> Result<String, CatalogError> {
    Ok(format!("{prefix}_{}", random_base62(ID_CHARACTERS)?))
}

/// Returns the hash of a well-formed key; `None` when it is malformed or its checksum is wrong.
/// Does not look the key up.
#[must_use]
pub fn parse(text: &str) -> Option<KeyHash> {
    let rest = text.strip_prefix(PREFIX)?;
    if rest.len() != RANDOM_CHARACTERS + CHECKSUM_CHARACTERS
        || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return None;
    }
    let (body, given) = rest.split_at(RANDOM_CHARACTERS);
    (given == checksum(body)).then(|| KeyHash::compute(text))
}

/// Returns six characters that depend on every character of `body`: a slip passes once in 57
/// billion.
fn checksum(body: &str) -> String {
    let digest =
        Sha256::new().chain_update("yearbook key checksum 1:").chain_update(body).finalize();
    let mut number =
        digest.iter().take(8).fold(0_u64, |number, &byte| (number << 8) | u64::from(byte));
    let mut text = String::with_capacity(CHECKSUM_CHARACTERS);
    for _ in 0..CHECKSUM_CHARACTERS {
        text.push(base62_character(number % 62));
        number /= 62;
    }
    text
}

/// Returns `length` characters, each of the 62 equally likely.
fn random_base62(length: usize) -> Result<String, CatalogError> {
    let mut text = String::with_capacity(length);
    let mut bytes = [0_u8; 32];
    while text.len() < length {
        getrandom::fill(&mut bytes)?;
        // 248 = 4 × 62: bytes above would favour some characters.
        let fair = bytes
            .iter()
            .filter(|&&byte| byte < 248)
            .map(|&byte| base62_character(u64::from(byte) % 62));
        text.extend(fair.take(length - text.len()));
    }
    Ok(text)
}

fn base62_character(index: u64) -> char {
    usize::try_from(index)
        .ok()
        .and_then(|index| ALPHABET.get(index))
        .map_or('0', |&byte| char::from(byte))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_issued_key_parses_to_its_hash_contract_5() {
        let (key, hash) = issue().unwrap();
        assert!(key.expose().starts_with("yb_"));
        assert_eq!(key.expose().len(), 3 + 28 + 6);
        assert_eq!(parse(key.expose()), Some(hash));
    }

    #[test]
    fn every_single_slip_is_noticed_contract_5() {
        let (key, _) = issue().unwrap();
        let good = key.expose();
        for position in 0..good.len() {
            for replacement in ALPHABET.iter().map(|&byte| char::from(byte)).chain(['_', ' ', '-'])
            {
                let mut bad = good.to_owned();
                bad.replace_range(position..=position, &replacement.to_string());
                assert_eq!(parse(&bad).is_some(), bad == good, "{position} {replacement}");
            }
            let mut short = good.to_owned();
            short.remove(position);
            assert_eq!(parse(&short), None);
        }
        for position in 3..good.len() - 1 {
            let mut swapped: Vec<char> = good.chars().collect();
            swapped.swap(position, position + 1);
            let swapped: String = swapped.into_iter().collect();
            assert_eq!(parse(&swapped).is_some(), swapped == good);
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let (key, _) = issue().unwrap();
        let text = key.expose();
        let cases = [
            "",
            "yb_",
            "yb",
            "é",
            &"é".repeat(40),
            &format!(" {text}"),
            &format!("{text}\n"),
            &format!("{text}0"),
            &text.to_uppercase(),
        ];
        for bad in cases {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

    /// Keys in use must work for ever: a change of alphabet, length or checksum breaks this test.
    #[test]
    fn the_format_of_keys_is_fixed() {
        let body = "0123456789ABCDEFGHIJKLMNOPQR";
        assert!(parse(&format!("yb_{body}{}", checksum(body))).is_some());
        assert_eq!(checksum(body), "kYWQh9");
    }

    #[test]
    fn debug_output_never_shows_a_key() {
        let (key, hash) = issue().unwrap();
        let shown = format!("{key:?} {hash:?}");
        assert_eq!(shown, "IssuedKey(redacted) KeyHash(redacted)");
    }

    #[test]
    fn keys_and_ids_differ_and_use_the_whole_alphabet() {
        let keys: HashSet<String> =
            (0..200).map(|_| issue().unwrap().0.expose().to_owned()).collect();
        assert_eq!(keys.len(), 200);
        let characters: HashSet<char> = keys.iter().flat_map(|key| key[3..].chars()).collect();
        assert_eq!(characters.len(), 62);
        assert_ne!(new_id().unwrap(), new_id().unwrap());
        assert_eq!(new_id().unwrap().as_str().len(), "key_".len() + 12);
    }
}
