//! The landing page of a citation: what it states, its formats, and how to read and check the data.

use askama::Template;
use yearbook_catalog::CitedState;
use yearbook_domain::{Citation, CitationFormat, Millis, SnapshotId};

use super::{Subject, nearest_kept};
use crate::credit_view::CreditView;
use crate::{Frame, Section, Site};

/// `/cite/{name}/{snapshot}`.
#[derive(Template)]
#[template(path = "cite.html")]
pub(super) struct CitePage<'a> {
    frame: Frame<'a>,
    citation: &'a Citation,
    credit: CreditView<'a>,
    /// The citation as text.
    text: String,
    /// Names and addresses of the other formats.
    formats: Vec<(&'static str, String)>,
    date: String,
    /// Address of the rows; none where they are gone.
    data_url: Option<String>,
    /// Address that computes the digest, where this page does not state one.
    verify_url: Option<String>,
    /// Address of the proof that the version is in the log, where it is.
    proof_path: String,
    /// True where rows and digest were read for this page.
    is_verified: bool,
    /// Path of the citation of the nearest snapshot that is kept, and its id.
    nearest: Option<(String, SnapshotId)>,
}

impl<'a> CitePage<'a> {
    /// The page of `subject`.
    pub(super) fn new(site: &'a Site, subject: &'a Subject) -> Self {
        let citation = &subject.citation;
        let (name, query) = (&citation.dataset, citation.query.as_str());
        let path = citation.query.citation_path(name, &citation.snapshot_id);
        let mark = if citation.query.is_whole() { '?' } else { '&' };
        let with = |parameter: &str| format!("{}{path}{mark}{parameter}", site.root);
        let is_kept = subject.cited.state == CitedState::Retained;
        let is_loaded = subject.request.gone_release().is_none();
        let is_computable = is_kept && is_loaded;
        let version = match subject.past.map(Millis::to_rfc3339) {
            Some(time) => Some(format!("as_of={time}")),
            None => is_kept.then(|| format!("snapshot={}", citation.snapshot_id)),
        };
        let selection = if query.is_empty() { String::new() } else { format!("&{query}") };
        let data_url = version.filter(|_| is_loaded).map(|version| {
            format!("{}/v1/datasets/{name}/data?{version}{selection}", subject.base_url)
        });
        let nearest = subject.dataset.as_deref().filter(|_| !is_kept);
        let nearest = nearest.and_then(|dataset| nearest_kept(&subject.cited, dataset));
        Self {
            frame: site.frame("Citation", Section::Datasets),
            credit: CreditView(&citation.credit),
            text: citation.render(CitationFormat::Text).trim_end().to_owned(),
            formats: CitationFormat::ALL
                .into_iter()
                .map(|format| (format.title(), with(&format!("format={}", format.name()))))
                .collect(),
            date: citation.created_at.date().to_string(),
            data_url,
            verify_url: (is_computable && citation.digest.is_none()).then(|| with("verify=true")),
            proof_path: format!("{}/cite/{name}/{}/proof", site.root, citation.snapshot_id),
            is_verified: subject.is_verified,
            nearest: nearest.map(|id| (format!("{}/cite/{name}/{id}", site.root), id)),
            citation,
        }
    }
}
