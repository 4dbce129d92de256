//! Position at which a page of rows stopped (contract-3-cursor-snapshot,
//! contract-3-cursor-filters). A cursor fixes snapshot and filters; `limit`, `format`, `envelope`
//! and the key may change from page to page. The server signs and spells positions.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::citation::selection_text;
use crate::{Date, Digest, ReadPlan, Selection, SnapshotId, ValidationError};

/// First byte of [`CursorPosition::to_bytes`]: the layout. Raised when it, or [`fingerprint`],
/// changes.
const LAYOUT_VERSION: u8 = 1;

/// Content of a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorPosition {
    /// Rows that are being read.
    pub source: CursorSource,
    /// First row not yet considered, from 0 in the order of the source.
    pub row: u64,
    /// [`fingerprint`] of the filters that must stay as they are.
    pub filters: [u8; 16],
}

/// Rows that a cursor continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorSource {
    /// Rows of a snapshot (`/data`).
    Snapshot(SnapshotId),
    /// Rows of a stored file of changes (`/changes`).
    Changes(Digest),
    /// Revisions (`/revisions`).
    Revisions {
        /// The newest version that they know.
        version: u64,
        /// The version since which they are told; `None` for all.
        since: Option<u64>,
        /// The oldest version that was known.
        oldest: u64,
    },
}

impl CursorSource {
    /// None when `text` is neither an id nor a digest, which their lengths tell apart, nor
    /// three versions.
    fn parse(text: &str) -> Option<Self> {
        if let [version, since, oldest] = text.split(' ').collect::<Vec<_>>()[..] {
            let since = if since.is_empty() { None } else { Some(since.parse().ok()?) };
            let (version, oldest) = (version.parse().ok()?, oldest.parse().ok()?);
            return Some(Self::Revisions { version, since, oldest });
        }
        let snapshot = SnapshotId::parse(text).map(Self::Snapshot);
        snapshot.or_else(|| Digest::parse(text).map(Self::Changes))
    }
}

/// The id, the digest, or three versions with blanks between them.
impl fmt::Display for CursorSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot(id) => f.write_str(id.as_str()),
            Self::Changes(file) => f.write_str(file.as_str()),
            Self::Revisions { version, since: Some(since), oldest } => {
                write!(f, "{version} {since} {oldest}")
            }
            Self::Revisions { version, since: None, oldest } => write!(f, "{version}  {oldest}"),
        }
    }
}

impl CursorPosition {
    /// Returns layout, row (little-endian), filters, then the text of the source.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (row, source) = (self.row.to_le_bytes(), self.source.to_string());
        [&[LAYOUT_VERSION][..], &row[..], &self.filters[..], source.as_bytes()].concat()
    }

    /// None when `bytes` did not come from [`CursorPosition::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&layout, bytes) = bytes.split_first()?;
        let (row, bytes) = bytes.split_first_chunk()?;
        let (filters, source) = bytes.split_first_chunk()?;
        let source = CursorSource::parse(std::str::from_utf8(source).ok()?)?;
        (layout == LAYOUT_VERSION).then_some(Self {
            source,
            row: u64::from_le_bytes(*row),
            filters: *filters,
        })
    }

    /// Checks that `plan`, made of `selection`, continues what this cursor began.
    ///
    /// # Errors
    /// `value_error` at `cursor` when a filter changed or is missing.
    pub fn validate_filters(
        &self,
        plan: &ReadPlan,
        selection: &Selection,
    ) -> Result<(), ValidationError> {
        if self.filters == fingerprint(plan, selection) {
            return Ok(());
        }
        Err(cursor_error(
            selection,
            "the cursor belongs to another dataset or to another selection; repeat start, end, dimensions, geometry, columns, conditions, bbox, first, last, sort, as_of, apply and its options as they were, or start again without it",
        ))
    }

    /// Checks that `selection` pins no other snapshot than this cursor's.
    ///
    /// # Errors
    /// `value_error` at `snapshot`.
    pub fn validate_snapshot(&self, selection: &Selection) -> Result<(), ValidationError> {
        match &selection.snapshot {
            Some(pinned) if *pinned != self.source.to_string() => {
                let sentence = format!(
                    "the cursor reads snapshot '{}'; leave snapshot out, or start again without the cursor",
                    self.source
                );
                Err(ValidationError::value_error("snapshot", &sentence, pinned))
            }
            _ => Ok(()),
        }
    }
}

/// The problem of a cursor that the service did not issue, or that was altered on the way.
#[must_use]
pub fn invalid_cursor(selection: &Selection) -> ValidationError {
    cursor_error(
        selection,
        "the cursor is not one that this service issued; send the value of X-Next-Page unchanged, or start again without it",
    )
}

fn cursor_error(selection: &Selection, sentence: &str) -> ValidationError {
    ValidationError::value_error(
        "cursor",
        sentence,
        selection.cursor.as_deref().unwrap_or_default(),
    )
}

/// Hashes what must not change between pages: dataset, `start`, `end`, `dimensions`, `geometry` and
/// `columns` as they are sent, the canonical text of the rest of the selection where there is any,
/// and `as_of` where it is sent, so that pages of a request without them go on across releases.
#[must_use]
pub fn fingerprint(plan: &ReadPlan, selection: &Selection) -> [u8; 16] {
    let mut hash = Sha256::new();
    let mut text = |value: Option<&str>| match value {
        Some(value) => {
            hash.update([1]);
            hash.update((value.len() as u64).to_le_bytes());
            hash.update(value);
        }
        None => hash.update([0]),
    };
    text(Some(plan.dataset.as_str()));
    text(selection.start.as_ref().map(Date::as_str));
    text(selection.end.as_ref().map(Date::as_str));
    text(selection.dimensions.as_deref());
    text(selection.geometry.then_some(""));
    for column in selection.columns.iter().flat_map(|sent| &sent.value) {
        text(Some(column));
    }
    text(None);
    let rest = selection_text(plan);
    if !rest.is_empty() {
        text(Some(&rest));
    }
    if let Some(as_of) = &selection.as_of {
        text(None);
        // A plus that was not escaped is a blank, and means the same.
        text(Some(&as_of.raw.replace(' ', "+")));
    }
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use super::*;
    use crate::query::{parse_data, parse_pairs};
    use crate::read_plan::resolve_selection;
    use crate::{Column, ColumnRole, ColumnType, DatasetName, Namespace, fixtures};

    const SNAPSHOT: &str = "0123456789abcdef0123456789abcdef";

    /// The selection of a query string, planned in a dataset called `name`.
    fn planned(name: &str, raw: &str) -> (ReadPlan, Selection) {
        let (selection, _) = parse_data(&parse_pairs(raw), &["json", "csv"]).unwrap();
        let column = |name| Column::new(name, ColumnType::String, ColumnRole::Dimension);
        let snapshot = fixtures::snapshot(vec![column("a"), column("b"), column("ab")]);
        let (name, namespace) = (DatasetName::parse(name), Namespace::parse("prices"));
        let (name, namespace) = (name.unwrap(), namespace.unwrap());
        let plan = resolve_selection(name, namespace, Arc::new(snapshot), &selection).unwrap();
        (plan, selection)
    }

    fn position(raw: &str) -> CursorPosition {
        let (plan, selection) = planned("cpi", raw);
        CursorPosition {
            source: CursorSource::Snapshot(SnapshotId::parse(SNAPSHOT).unwrap()),
            row: 7,
            filters: fingerprint(&plan, &selection),
        }
    }

    fn check(cursor: &CursorPosition, name: &str, raw: &str) -> Result<(), ValidationError> {
        let (plan, selection) = planned(name, raw);
        cursor.validate_filters(&plan, &selection)?;
        cursor.validate_snapshot(&selection)
    }

    #[test]
    fn limit_format_and_envelope_may_change_between_pages_contract_3() {
        let begun = position("start=2020-01-01&end=2021-01-01&dimensions=x&columns=a,b&limit=5");
        let same = "end=2021-01-01&start=2020-01-01&columns=a,b&dimensions=x";
        for more in [
            "",
            "&limit=9",
            "&format=csv",
            "&envelope=true",
            &format!("&snapshot={SNAPSHOT}"),
            "&geometry=yes",
            "&utm=1",
            "&csv.delimiter=;",
        ] {
            assert_eq!(check(&begun, "cpi", &format!("{same}{more}")), Ok(()), "{more}");
        }
    }

    #[test]
    fn a_changed_or_missing_filter_is_a_value_error_contract_3() {
        let begun = position("start=2020-01-01&dimensions=x&columns=a,b");
        for other in [
            "dimensions=x&columns=a,b",
            "start=2020-01-02&dimensions=x&columns=a,b",
            "start=2020-01-01&dimensions=X&columns=a,b",
            "start=2020-01-01&columns=a,b",
            "start=2020-01-01&dimensions=x&columns=b,a",
            "start=2020-01-01&dimensions=x",
            "start=2020-01-01&dimensions=x&columns=a,b&geometry=false",
            "start=2020-01-01&end=2020-01-01&dimensions=x&columns=a,b",
        ] {
            let problem = check(&begun, "cpi", other).unwrap_err();
            assert_eq!(
                (problem.kind, problem.loc[1].as_str()),
                ("value_error", "cursor"),
                "{other}"
            );
        }
        assert!(check(&begun, "other", "start=2020-01-01&dimensions=x&columns=a,b").is_err());
    }

    #[test]
    fn a_cursor_holds_what_the_selection_means_contract_15() {
        let begun = position("where.a=1&where.a=2&where.b.null=yes&sort=-a&limit=5");
        let same = "sort=%20-a&where.b.null=true&where.a=2&where.a=1&where.a=1&limit=7";
        assert_eq!(check(&begun, "cpi", same), Ok(()));
        for other in [
            "where.a=1&where.b.null=yes&sort=-a",
            "where.a=1&where.a=2&where.b.null=no&sort=-a",
            "where.a=1&where.a=2&where.b.null=yes&sort=a",
            "where.a=1&where.a=2&where.b.null=yes",
            "where.a.not=1&where.a.not=2&where.b.null=yes&sort=-a",
        ] {
            assert!(check(&begun, "cpi", other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_cursor_goes_on_at_the_same_time_alone_contract_21() {
        let begun = position("as_of=2026-10-01T09:30:00%2B13:00&where.a=1");
        for same in ["2026-10-01T09:30:00%2B13:00", "2026-10-01T09:30:00+13:00"] {
            assert_eq!(check(&begun, "cpi", &format!("where.a=1&as_of={same}")), Ok(()), "{same}");
        }
        for other in [
            "",
            "&as_of=2026-10-01",
            "&as_of=2026-09-30T20:30:00Z",
            "&as_of=2026-10-01T09:30:00-13:00",
        ] {
            let problem = check(&begun, "cpi", &format!("where.a=1{other}")).unwrap_err();
            assert_eq!(problem.loc[1], "cursor", "{other}");
        }
        assert!(check(&position(""), "cpi", "as_of=2026-10-01").is_err());
        // Neither stands in for the other.
        assert_ne!(position("sort=-a").filters, position("as_of=2026-10-01").filters);
    }

    #[test]
    fn a_plain_cursor_is_that_of_releases_before_contract_15() {
        let filters = position("start=2020-01-01&dimensions=x&columns=a,b").filters;
        assert_eq!(crate::hex::encode_hex(&filters), "6795061a6599cd7f0ce240b70cf17b77");
    }

    #[test]
    fn a_cursor_never_mixes_snapshots_contract_3() {
        let problem = check(&position(""), "cpi", "snapshot=s2").unwrap_err();
        assert_eq!((problem.loc[1].as_str(), problem.input.as_deref()), ("snapshot", Some("s2")));
    }

    #[test]
    fn start_and_end_do_not_stand_in_for_each_other() {
        assert_ne!(position("start=2020-01-01").filters, position("end=2020-01-01").filters);
        assert_ne!(position("columns=a,b").filters, position("columns=ab").filters);
    }

    #[test]
    fn positions_survive_the_trip_through_bytes() {
        let snapshot = CursorSource::Snapshot(SnapshotId::parse(SNAPSHOT).unwrap());
        for source in [snapshot, CursorSource::Changes(Digest::compute(b""))] {
            let position = CursorPosition { source, row: u64::MAX, filters: [7; 16] };
            let bytes = position.to_bytes();
            assert_eq!(CursorPosition::from_bytes(&bytes), Some(position));
            for length in [0, 24, 25, bytes.len() - 1] {
                assert_eq!(CursorPosition::from_bytes(&bytes[..length]), None, "{length}");
            }
        }
        let position = CursorPosition { source: snapshot, row: 0, filters: [7; 16] };
        let bytes = position.to_bytes();
        let mut other = bytes.clone();
        other[0] = 2;
        assert_eq!(CursorPosition::from_bytes(&other), None);
    }
}
