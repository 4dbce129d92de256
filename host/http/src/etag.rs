//! Strong entity tags (contract-3-etag): a hash, with the coding as a suffix. What is hashed for a
//! body with rows is the matter of the room that plans it.

use http::HeaderValue;
use sha2::{Digest as _, Sha256};
use yearbook_domain::StoredFile;

use crate::content_coding::ContentCoding;

/// Bytes of hash kept: two bodies share a tag by accident once in 2^64.
const HASH_BYTES: usize = 16;

/// A tag without its coding: lower-case hexadecimal, so a `-` begins a suffix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag(String);

impl EntityTag {
    /// Of a body that is at hand.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_hash(Sha256::digest(bytes).as_slice())
    }

    /// Of a stored file as it is: its digest.
    pub fn from_file(file: &StoredFile) -> Self {
        Self(file.sha256.to_string())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Of a hash, of which the first bytes are kept.
    #[must_use]
    pub fn from_hash(hash: &[u8]) -> Self {
        Self(yearbook_domain::hex::encode_hex(hash.get(..HASH_BYTES).unwrap_or(hash)))
    }

    /// The header's value for a body in this coding.
    pub fn header(&self, coding: Option<ContentCoding>) -> HeaderValue {
        let text = match coding {
            Some(coding) => format!("\"{}-{}\"", self.0, coding.name()),
            None => format!("\"{}\"", self.0),
        };
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
    }

    /// Returns whether a list of tags, as in `If-None-Match`, has this tag with any suffix, or is
    /// `*`.
    pub fn matches_list(&self, list: &str, comparison: TagComparison) -> bool {
        list.split(',').map(str::trim).any(|item| {
            let weak = item.strip_prefix("W/").filter(|_| comparison == TagComparison::Weak);
            let quoted = weak.unwrap_or(item);
            let opaque = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            item == "*"
                || opaque.is_some_and(|text| text.split('-').next() == Some(self.0.as_str()))
        })
    }
}

/// Comparison of tags (RFC 9110, 8.8.3.2). All of ours are strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagComparison {
    /// A weak tag matches nothing.
    Strong,
    /// A weak tag counts as a strong one.
    Weak,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_written_in_hexadecimal() {
        assert_eq!(EntityTag::from_bytes(b"x").0, "2d711642b726b04401627ca9fbac32f5");
    }

    #[test]
    fn a_compressed_body_has_its_own_strong_tag_contract_3() {
        let tag = EntityTag::from_bytes(b"x");
        let plain = tag.header(None);
        assert_eq!(plain.len(), 34);
        assert_eq!(tag.header(Some(ContentCoding::Gzip)), format!("\"{}-gzip\"", tag.0));
        assert_eq!(tag.header(Some(ContentCoding::Zstd)), format!("\"{}-zstd\"", tag.0));
    }

    #[test]
    fn if_none_match_takes_lists_weak_tags_and_any_suffix_contract_3() {
        let tag = EntityTag("ab12".to_owned());
        for list in [
            "\"ab12\"",
            "W/\"ab12\"",
            "\"x\", \"ab12-gzip\"",
            "\"ab12-br\" , \"y\"",
            "*",
            " \"ab12-zstd-2\"",
        ] {
            assert!(tag.matches_list(list, TagComparison::Weak), "{list}");
            assert_eq!(
                tag.matches_list(list, TagComparison::Strong),
                !list.starts_with("W/"),
                "{list}"
            );
        }
        for list in [
            "",
            "ab12",
            "\"ab1\"",
            "\"ab123\"",
            "\"x-ab12\"",
            "\"*\"",
            "\"\"",
            "w/\"ab12\"",
            "\"ab12",
        ] {
            assert!(
                !tag.matches_list(list, TagComparison::Weak)
                    && !tag.matches_list(list, TagComparison::Strong),
                "{list}"
            );
        }
    }
}
