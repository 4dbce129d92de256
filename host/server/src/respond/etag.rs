//! Strong entity tags (contract-3-etag): a hash over everything that decides a body's bytes, with
//! the coding as a suffix.

use http::HeaderValue;
use sha2::{Digest, Sha256};
use yearbook_domain::{ReadPlan, StoredFile};
use yearbook_sandbox::{EncoderDescription, OptionScalar, OptionValue};
use yearbook_scan::BATCHING_VERSION;

use crate::extract::content_coding::ContentCoding;

/// Bytes of hash kept: two bodies share a tag by accident once in 2^64.
const HASH_BYTES: usize = 16;

/// A tag without its coding: lower-case hexadecimal, so a `-` begins a suffix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntityTag(String);

impl EntityTag {
    /// Of a body that is at hand.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_hash(Sha256::digest(bytes).as_slice())
    }

    /// Of a stored file as it is: its digest.
    pub(crate) fn from_file(file: &StoredFile) -> Self {
        Self(file.sha256.clone())
    }

    /// Of the body that `plan` makes: no I/O, so that a condition can be answered before anything
    /// is read or charged.
    pub(crate) fn from_plan(
        plan: &ReadPlan,
        description: &EncoderDescription,
        digest: &str,
        chosen: &[OptionValue],
    ) -> Self {
        let mut hash = FieldHasher(Sha256::new());
        hash.text(plan.dataset.as_str());
        hash.text(plan.namespace.as_str());
        hash.text(&plan.snapshot.id);
        hash.text(&plan.snapshot.file.sha256);
        hash.number(plan.columns.len() as u64);
        plan.columns.iter().for_each(|column| hash.number(*column as u64));
        for bound in [&plan.start, &plan.end, &plan.search_text] {
            hash.optional(bound.as_deref(), FieldHasher::text);
        }
        hash.number(plan.first_row);
        hash.optional(plan.max_rows, FieldHasher::number);
        hash.number(u64::from(BATCHING_VERSION));
        hash.text(digest);
        for option in description.complete(chosen) {
            hash.text(&option.name);
            match &option.value {
                OptionScalar::Text(text) => hash.text(text),
                OptionScalar::Integer(integer) => hash.number(integer.cast_unsigned()),
                OptionScalar::Number(number) => hash.number(number.to_bits()),
                OptionScalar::Boolean(boolean) => hash.number(u64::from(*boolean)),
            }
        }
        Self::from_hash(hash.0.finalize().as_slice())
    }

    /// As text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn from_hash(hash: &[u8]) -> Self {
        Self(hex(hash.get(..HASH_BYTES).unwrap_or(hash)))
    }

    /// The header's value for a body in this coding.
    pub(crate) fn header(&self, coding: Option<ContentCoding>) -> HeaderValue {
        let text = match coding {
            Some(coding) => format!("\"{}-{}\"", self.0, coding.name()),
            None => format!("\"{}\"", self.0),
        };
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
    }

    /// Whether a list of tags, as in `If-None-Match`, has this tag with any suffix, or is `*`.
    pub(crate) fn matches_list(&self, list: &str, comparison: TagComparison) -> bool {
        list.split(',').map(str::trim).any(|item| {
            let weak = item.strip_prefix("W/").filter(|_| comparison == TagComparison::Weak);
            let quoted = weak.unwrap_or(item);
            let opaque = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            item == "*"
                || opaque.is_some_and(|text| text.split('-').next() == Some(self.0.as_str()))
        })
    }
}

/// How tags are compared (RFC 9110, 8.8.3.2). All of ours are strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagComparison {
    /// A weak tag matches nothing.
    Strong,
    /// A weak tag counts as a strong one.
    Weak,
}

/// Two lower-case digits a byte.
fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    let mut text = String::with_capacity(bytes.len() * 2);
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

/// A hash over fields, each with its length, so that no two lists of fields read the same.
struct FieldHasher(Sha256);

impl FieldHasher {
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.0.update([u8::from(value.is_some())]);
        if let Some(value) = value {
            write(self, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_written_in_hexadecimal() {
        assert_eq!(hex(&[0x00, 0x0f, 0xa0, 0xff]), "000fa0ff");
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
