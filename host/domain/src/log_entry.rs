//! An entry of the log of what was published (contract-21-log-entry), and its text, whose hash is a
//! leaf of the log's tree. The text never changes: what was signed would no longer be found.

use serde::{Deserialize, Serialize};

use crate::{DatasetName, Millis, ResultDigest, SnapshotId};

/// A version that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Name of the dataset.
    pub dataset: DatasetName,
    /// Number of the version, from 0.
    pub version: u64,
    /// Id of the snapshot.
    pub snapshot: SnapshotId,
    /// Digest of its rows.
    pub digest: ResultDigest,
    /// Time of its commit.
    pub committed: Millis,
    /// Time from which everybody saw it: the same, unless it was released at an instant.
    pub released: Millis,
}

/// The members of a leaf in their order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Leaf {
    dataset: DatasetName,
    version: u64,
    snapshot: SnapshotId,
    digest: ResultDigest,
    committed: String,
    released: String,
}

impl LogEntry {
    /// Returns its text: JSON with the members in this order, without blanks, times in whole
    /// seconds of UTC.
    ///
    /// # Errors
    /// Fails never for values of these types, which have no map and no number but an integer.
    pub fn to_leaf(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Leaf {
            dataset: self.dataset.clone(),
            version: self.version,
            snapshot: self.snapshot,
            digest: self.digest,
            committed: self.committed.to_rfc3339(),
            released: self.released.to_rfc3339(),
        })
    }

    /// Parses a text of [`Self::to_leaf`]; `None` for any other text, blanks more included.
    #[must_use]
    pub fn from_leaf(text: &str) -> Option<Self> {
        let leaf: Leaf = serde_json::from_str(text).ok()?;
        let entry = Self {
            dataset: leaf.dataset,
            version: leaf.version,
            snapshot: leaf.snapshot,
            digest: leaf.digest,
            committed: Millis::parse_iso8601(&leaf.committed)?,
            released: Millis::parse_iso8601(&leaf.released)?,
        };
        entry.to_leaf().is_ok_and(|again| again == text).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::Digest;

    #[test]
    fn a_leaf_is_one_text_for_ever_contract_21() {
        let entry = LogEntry {
            dataset: DatasetName::parse("cpi").unwrap(),
            version: 12,
            snapshot: SnapshotId::from_digest(Digest::compute(b"a")),
            digest: ResultDigest::from_columns(0, std::iter::empty()),
            committed: Millis(1_795_219_200_999),
            released: Millis(1_795_219_260_000),
        };
        let text = entry.to_leaf().unwrap();
        let expected = format!(
            r#"{{"dataset":"cpi","version":12,"snapshot":"{}","digest":"{}","committed":"2026-11-21T00:00:00Z","released":"2026-11-21T00:01:00Z"}}"#,
            entry.snapshot, entry.digest
        );
        assert_eq!(text, expected);
        let seconds = LogEntry { committed: entry.committed.whole_second(), ..entry };
        assert_eq!(LogEntry::from_leaf(&text), Some(seconds));
        for other in [format!(" {text}"), text.replace("00:01:00Z", "00:01:00.5Z"), "{}".to_owned()]
        {
            assert_eq!(LogEntry::from_leaf(&other), None, "{other}");
        }
    }
}
