//! A message of structures, before it is written as XML or JSON.

use yearbook_sdk::adapter::Dataset;
use yearbook_sdmx_model::MEASURE;

use crate::flow::Flow;
use crate::query::{Kind, Query};

/// Sender of every message, and id of it.
pub(crate) const SENDER: &str = "YEARBOOK";
pub(crate) const MESSAGE_ID: &str = "YB";
/// Time of a message about nothing that was ever published.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// An answer.
pub(crate) struct Message<'a> {
    /// Ids of agencies, where their scheme is asked for.
    pub(crate) agencies: Option<Vec<String>>,
    pub(crate) flows: Vec<&'a Flow>,
    pub(crate) query: &'a Query,
    /// The codes that a selection has.
    pub(crate) available: Option<Available>,
    /// Time of the newest snapshot that it speaks of.
    pub(crate) prepared: String,
}

/// Codes, times and numbers under a selection.
pub(crate) struct Available {
    /// Ids of dimensions with the codes that there are.
    pub(crate) codes: Vec<(String, Vec<String>)>,
    /// Set where a condition or a time may leave codes out.
    pub(crate) is_part: bool,
    /// First and last date.
    pub(crate) times: Option<(String, String)>,
    pub(crate) observations: Option<u64>,
    pub(crate) series: Option<u64>,
}

impl Message<'_> {
    /// Returns whether a message has something of this kind in it.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.query.wants(kind) && !self.flows.is_empty()
    }

    /// Returns whether something of this kind and id has a part of its items alone: those that are
    /// named, or the codes that a selection has.
    pub(crate) fn is_part(&self, kind: Kind, flow: &Flow, id: &str) -> bool {
        // Columns of values are codes whether they are selected or not.
        let is_selected = kind == Kind::Codelist
            && self.available.as_ref().is_some_and(|available| available.is_part)
            && id != flow.name.codelist_id(MEASURE);
        !self.query.is_stub(kind) && (is_selected || self.query.is_part(kind))
    }

    /// Returns whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        let is_none = |agencies: &Vec<String>| agencies.is_empty();
        self.flows.is_empty() && self.agencies.as_ref().is_none_or(is_none)
    }
}

/// Time of the newest snapshot of some datasets.
pub(crate) fn prepared<'a>(datasets: impl Iterator<Item = &'a Dataset>) -> String {
    let times = datasets.filter_map(|dataset| dataset.editions.first());
    times.map(|edition| edition.published_at.clone()).max().unwrap_or_else(|| NEVER.to_owned())
}

/// Notes of a dataflow for people: type, title, address, text.
pub(crate) fn annotations(flow: &Flow) -> Vec<Annotation<'_>> {
    let credit = &flow.dataset.credit;
    let mut annotations = vec![
        Annotation { kind: "SOURCE", text: &credit.source, address: credit.source_url.as_deref() },
        Annotation {
            kind: "LICENCE",
            text: &credit.licence,
            address: credit.licence_url.as_deref(),
        },
        Annotation { kind: "ATTRIBUTION", text: &credit.attribution, address: None },
    ];
    let notes = flow.dataset.notes.iter();
    annotations.extend(notes.map(|text| Annotation { kind: "NOTE", text, address: None }));
    annotations
}

/// A note.
pub(crate) struct Annotation<'a> {
    pub(crate) kind: &'static str,
    pub(crate) text: &'a str,
    pub(crate) address: Option<&'a str>,
}
