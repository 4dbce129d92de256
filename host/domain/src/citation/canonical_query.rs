//! The canonical query: the one text of what selects rows and columns (contract-13-canonical,
//! contract-13-same-text). It is made of what a query means for its snapshot, never of how it was
//! spelled.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::hex::encode_hex;
use crate::{Column, ColumnRole, DatasetName, Date, ReadPlan, Selection, SeriesRows, SnapshotId};

/// Characters that are escaped: all but the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A query in its canonical text; empty: the whole snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CanonicalQuery(String);

impl CanonicalQuery {
    /// Creates the text of what `plan` selects, pages and the row cap apart. `limit` is part of it
    /// where it cut the result ([`CanonicalQuery::explicit_limit`]).
    #[must_use]
    pub fn new(plan: &ReadPlan, limit: Option<u64>) -> Self {
        let all = &plan.snapshot.columns;
        let limit = limit.map(|limit| limit.to_string());
        let (columns, geometry) = projection(all, &plan.columns);
        let parameters = [
            ("columns", columns),
            ("dimensions", plan.search_text.clone()),
            ("end", plan.end.as_ref().map(Date::to_string)),
            ("geometry", geometry.map(str::to_owned)),
            ("limit", limit),
            ("start", plan.start.as_ref().map(Date::to_string)),
        ];
        let mut pairs: Vec<(String, String)> = parameters
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| (name.to_owned(), value)))
            .collect();
        pairs.extend(selection_pairs(plan));
        Self(encode_pairs(pairs))
    }

    /// Returns the limit of a query where the client named a positive one and no cursor. `named`:
    /// the parameter was there.
    #[must_use]
    pub fn explicit_limit(selection: &Selection, named: bool) -> Option<u64> {
        (named && selection.limit > 0 && selection.cursor.is_none()).then_some(selection.limit)
    }

    /// The text, without a question mark.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true when the whole snapshot is selected.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path of the citation of this query in the snapshot `id` of `dataset`.
    #[must_use]
    pub fn citation_path(&self, dataset: &DatasetName, id: &SnapshotId) -> String {
        let mark = if self.is_whole() { "" } else { "?" };
        format!("/cite/{dataset}/{id}{mark}{}", self.0)
    }

    /// Returns the first hexadecimal digits of a digest of the text; `None` for the whole snapshot.
    pub(super) fn short_digest(&self, digits: usize) -> Option<String> {
        let mut digest = encode_hex(&Sha256::digest(&self.0));
        digest.truncate(digits);
        (!self.is_whole()).then_some(digest)
    }
}

/// Returns the canonical text of what `plan` selects by conditions, box, order and rows of each
/// series (contract-15-canonical). Empty without any of them.
#[must_use]
pub fn selection_text(plan: &ReadPlan) -> String {
    encode_pairs(selection_pairs(plan).collect())
}

/// Names and values of the parameters of section 15.
fn selection_pairs(plan: &ReadPlan) -> impl Iterator<Item = (String, String)> {
    let named = |(name, value): (&str, String)| (name.to_owned(), value);
    let conditions = plan.conditions.iter().flat_map(|condition| {
        let column = plan.snapshot.columns.get(condition.column).map_or("", |column| &column.name);
        let name = condition.test.operator().parameter(column);
        condition.test.values().into_iter().map(move |value| (name.clone(), value))
    });
    let bbox = plan.bbox.as_ref().map(|bbox| ("bbox", bbox.to_parameter()));
    let sort = plan.order.to_parameter(&plan.snapshot).map(|sort| ("sort", sort));
    let others = [bbox, plan.series_rows.map(SeriesRows::to_pair), sort];
    conditions.chain(others.into_iter().flatten().map(named))
}

/// `pairs` sorted by name, then by value, each once, encoded.
fn encode_pairs(mut pairs: Vec<(String, String)>) -> String {
    pairs.sort_unstable();
    pairs.dedup();
    let encode = |(name, value): &(String, String)| {
        let [name, value] = [name, value].map(|text| utf8_percent_encode(text, ESCAPED));
        format!("{name}={value}")
    };
    pairs.iter().map(encode).collect::<Vec<_>>().join("&")
}

/// Returns the values of `columns` and `geometry` that select `chosen` of `all`, the shorter way
/// where there are two: nothing for all columns, `geometry=false` for all but geometry.
fn projection(all: &[Column], chosen: &[usize]) -> (Option<String>, Option<&'static str>) {
    let is_geometry = |position: &usize| {
        all.get(*position).is_some_and(|column| column.role == ColumnRole::Geometry)
    };
    if (0..all.len()).eq(chosen.iter().copied()) {
        return (None, None);
    }
    if (0..all.len()).filter(|position| !is_geometry(position)).eq(chosen.iter().copied()) {
        return (None, Some("false"));
    }
    let name = |position: &usize| all.get(*position).map(|column| column.name.as_str());
    (Some(chosen.iter().filter_map(name).collect::<Vec<_>>().join(",")), None)
}
