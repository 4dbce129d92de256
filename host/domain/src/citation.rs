//! Citations of a snapshot, or of a query's result in it (contract-13-fields): what they state, and
//! the texts in which they state it. The same for everybody and for ever: no clock, no host but
//! that of the link. Never touches HTTP or stored rows.

mod bibtex;
mod canonical_query;
mod cff;
mod csl_json;
mod datacite_json;
mod format;
mod ris;
mod text;

use crate::{Credit, DatasetName, Millis, ResultDigest, Snapshot, SnapshotId};

pub use canonical_query::{CanonicalQuery, selection_text};
pub use format::CitationFormat;

/// A citation.
#[derive(Clone, Debug, PartialEq)]
pub struct Citation {
    /// Name of the dataset.
    pub dataset: DatasetName,
    /// Id of the snapshot, which is the version.
    pub snapshot_id: SnapshotId,
    /// Time of its commit: year and date of the citation.
    pub created_at: Millis,
    /// Title of the dataset; its name where it has none.
    pub title: String,
    /// Agency, licence and credit line.
    pub credit: Credit,
    /// Query whose result is cited.
    pub query: CanonicalQuery,
    /// Address of the citation, with the query.
    pub url: String,
    /// Releases of transforms that compute the rows, with their options; `None` for stored rows.
    pub computed_by: Option<String>,
    /// Number of rows, where it is known.
    pub rows: Option<u64>,
    /// Digest of the rows, where it is known.
    pub digest: Option<ResultDigest>,
    /// Sentence for readers of data that is gone.
    pub remark: Option<String>,
}

impl Citation {
    /// Cites the result of `query` in `snapshot` of the dataset called `name`, for a service at
    /// `base_url`. What computed the rows, their number, digest and remark are left for those who
    /// know them.
    #[must_use]
    pub fn new(
        name: &DatasetName,
        snapshot: &Snapshot,
        query: CanonicalQuery,
        base_url: &str,
    ) -> Self {
        Self {
            dataset: name.clone(),
            snapshot_id: snapshot.id,
            created_at: snapshot.created_at,
            title: snapshot.title.clone().unwrap_or_else(|| name.to_string()),
            credit: snapshot.credit.clone(),
            url: format!("{base_url}{}", query.citation_path(name, &snapshot.id)),
            query,
            computed_by: None,
            rows: None,
            digest: None,
            remark: None,
        }
    }

    /// Returns the citation in `format`.
    #[must_use]
    pub fn render(&self, format: CitationFormat) -> String {
        match format {
            CitationFormat::Text => text::render(self),
            CitationFormat::Bibtex => bibtex::render(self),
            CitationFormat::Ris => ris::render(self),
            CitationFormat::CslJson => csl_json::render(self),
            CitationFormat::Cff => cff::render(self),
            CitationFormat::DataciteJson => datacite_json::render(self),
        }
    }

    /// Year, month and day of the snapshot, UTC.
    fn date(&self) -> String {
        self.created_at.date().to_string()
    }

    /// Year of the snapshot, UTC.
    fn year(&self) -> String {
        self.date().split('-').next().unwrap_or_default().to_owned()
    }

    /// The agency on one line.
    fn agency(&self) -> String {
        one_line(&self.credit.source)
    }

    /// The title on one line.
    fn title(&self) -> String {
        one_line(&self.title)
    }

    /// Key for reference managers: agency, dataset and the beginning of the snapshot's id; of a
    /// result also the beginning of a digest of its query. The same in every format.
    fn key(&self) -> String {
        let agency: String = self
            .credit
            .source
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .take(MAX_KEY_AGENCY)
            .collect();
        let snapshot: String = self.snapshot_id.as_str().chars().take(KEY_DIGITS).collect();
        let query = self.query.short_digest(KEY_DIGITS);
        let parts = [Some(agency), Some(self.dataset.to_string()), Some(snapshot), query];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
    }

    /// Sentences for a reader: what computed the rows, rows, digest, licence, credit and remark.
    fn notes(&self) -> Vec<String> {
        let computed = self.computed_by.as_deref();
        let computed = computed.map(|by| sentence(&format!("Computed from the data by {by}")));
        let rows = self.rows.map(|rows| format!("Rows: {rows}."));
        let digest = self.digest.map(|digest| format!("Digest: {digest}."));
        let licence = format!("Licence: {}.", one_line(&self.credit.licence));
        let credit = format!("Credit: {}", sentence(&self.credit.attribution));
        let remark = self.remark.as_deref().map(sentence);
        [computed, rows, digest, Some(licence), Some(credit), remark]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Letters of an agency in a key.
const MAX_KEY_AGENCY: usize = 20;

/// Hexadecimal digits of an id in a key.
const KEY_DIGITS: usize = 8;

/// Returns `text` with every run of white space and control characters as one space.
fn one_line(text: &str) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control();
    text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns `text` on one line with a full stop at its end.
fn sentence(text: &str) -> String {
    let text = one_line(text);
    if text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
}

#[cfg(test)]
mod tests;
