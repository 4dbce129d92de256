//! The canonical query: the one text of what selects rows and columns (contract-13-canonical,
//! contract-13-same-text). It is made of what a query means for its snapshot, never of how it was
//! spelled.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::hex::encode_hex;
use crate::query::SortName;
use crate::read_plan::AppliedTransforms;
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
        Self(encode_pairs(query_pairs(plan, limit)))
    }

    /// Creates the text of what transforms make. `selection` shapes what the last one gives, and is
    /// taken as it was sent: only a run of the transforms tells their columns.
    #[must_use]
    pub fn of_transforms(
        applied: &AppliedTransforms,
        selection: &Selection,
        limit: Option<u64>,
    ) -> Self {
        let mut pairs = query_pairs(&applied.input, limit);
        pairs.extend(applied.to_pairs());
        let columns = selection.columns.as_ref().map(|columns| columns.value.join(","));
        pairs.extend(columns.map(|columns| ("columns".to_owned(), columns)));
        let sort = selection.sort.as_ref().map(|sort| sort.value.iter().map(SortName::to_string));
        let sort = sort.map(|names| names.collect::<Vec<_>>().join(","));
        pairs.extend(sort.map(|sort| ("sort".to_owned(), sort)));
        let series_rows = selection.series_rows.as_ref().map(|rows| rows.value.to_pair());
        pairs.extend(series_rows.map(|(name, rows)| (name.to_owned(), rows)));
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
        ["/cite/", dataset.as_str(), "/", id.as_str(), mark, &self.0].concat()
    }

    /// Returns the first hexadecimal digits of a digest of the text; `None` for the whole snapshot.
    pub(super) fn short_digest(&self, digits: usize) -> Option<String> {
        let mut digest = encode_hex(&Sha256::digest(&self.0));
        digest.truncate(digits);
        (!self.is_whole()).then_some(digest)
    }
}

/// Returns the canonical text of what `plan` selects by conditions, box, order, rows of each series
/// and transforms (contract-15-canonical, contract-16-canonical). Empty without any of them.
#[must_use]
pub fn selection_text(plan: &ReadPlan) -> String {
    encode_pairs(selection_pairs(plan).collect())
}

/// Names and values of the parameters that select what `plan` does.
fn query_pairs(plan: &ReadPlan, limit: Option<u64>) -> Vec<(String, String)> {
    let stored = plan.stored_rows();
    let (columns, geometry) = match plan.applied {
        None => projection(&plan.snapshot.columns, &plan.columns),
        // What transforms see has all columns but geometry at least.
        Some(_) => (
            names_unless_all(&plan.snapshot.columns, &plan.columns),
            projection(&stored.snapshot.columns, &stored.columns).1,
        ),
    };
    let parameters = [
        ("columns", columns),
        ("dimensions", stored.search_text.clone()),
        ("end", stored.end.as_ref().map(Date::to_string)),
        ("geometry", geometry.map(str::to_owned)),
        ("limit", limit.map(|limit| limit.to_string())),
        ("start", stored.start.as_ref().map(Date::to_string)),
    ];
    let named = parameters
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name.to_owned(), value)));
    named.chain(selection_pairs(plan)).collect()
}

/// Names and values of the parameters of sections 15 and 16.
fn selection_pairs(plan: &ReadPlan) -> impl Iterator<Item = (String, String)> {
    let named = |(name, value): (&str, String)| (name.to_owned(), value);
    let stored = plan.stored_rows();
    let conditions = stored.conditions.iter().flat_map(|condition| {
        let column =
            stored.snapshot.columns.get(condition.column).map_or("", |column| &column.name);
        let name = condition.test.operator().parameter(column);
        condition.test.values().into_iter().map(move |value| (name.clone(), value))
    });
    let bbox = stored.bbox.as_ref().map(|bbox| ("bbox", bbox.to_parameter()));
    let sort = plan.order.to_parameter(&plan.snapshot).map(|sort| ("sort", sort));
    let others = [bbox, plan.series_rows.map(SeriesRows::to_pair), sort];
    let applied = plan.applied.iter().flat_map(|applied| applied.to_pairs());
    conditions.chain(others.into_iter().flatten().map(named)).chain(applied)
}

/// `pairs` sorted by name, then by value, each once, encoded.
fn encode_pairs(mut pairs: Vec<(String, String)>) -> String {
    pairs.sort_unstable();
    pairs.dedup();
    let mut encoded = String::new();
    for (name, value) in &pairs {
        encoded.push_str(if encoded.is_empty() { "" } else { "&" });
        encoded.extend(utf8_percent_encode(name, ESCAPED));
        encoded.push('=');
        encoded.extend(utf8_percent_encode(value, ESCAPED));
    }
    encoded
}

/// Returns the values of `columns` and `geometry` that select `chosen` of `all`, the shorter way
/// where there are two: nothing for all columns, `geometry=false` for all but geometry.
fn projection(all: &[Column], chosen: &[usize]) -> (Option<String>, Option<&'static str>) {
    let is_geometry = |position: &usize| {
        all.get(*position).is_some_and(|column| column.role == ColumnRole::Geometry)
    };
    let Some(names) = names_unless_all(all, chosen) else { return (None, None) };
    if (0..all.len()).filter(|position| !is_geometry(position)).eq(chosen.iter().copied()) {
        return (None, Some("false"));
    }
    (Some(names), None)
}

/// Returns the value of `columns` that selects `chosen` of `all`; `None` for all of them in order.
fn names_unless_all(all: &[Column], chosen: &[usize]) -> Option<String> {
    let name = |position: &usize| all.get(*position).map(|column| column.name.as_str());
    let is_all = (0..all.len()).eq(chosen.iter().copied());
    (!is_all).then(|| chosen.iter().filter_map(name).collect::<Vec<_>>().join(","))
}
