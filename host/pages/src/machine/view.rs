//! The catalog and a dataset as all documents for machines name them: addresses and words.

use std::sync::Arc;

use yearbook_domain::meaning::Language;
use yearbook_domain::preview_facts::cut_text;
use yearbook_domain::{Dataset, PreviewFacts, Snapshot};
use yearbook_sandbox::EncoderDescription;

use super::escape::web_address;
use crate::dataset_formats::DatasetFormats;
use crate::figures::counted;
use yearbook_domain::settings::PageSettings;

/// Language of the service's own words, and of those of which nobody said another.
pub(super) const SERVICE_LANGUAGE: &str = "en";

/// Fewest and most characters of a description (Google's rule for schema.org's `Dataset`).
const DESCRIPTION_CHARACTERS: (usize, usize) = (50, 5_000);

/// Facts of an installation that all its documents name.
pub(crate) struct CatalogView<'a> {
    /// Start of every address, without a slash at its end.
    pub(super) base_url: &'a str,
    pub(super) settings: &'a PageSettings,
}

/// One dataset.
pub(crate) struct DatasetView<'a> {
    pub(super) catalog: &'a CatalogView<'a>,
    pub(super) dataset: &'a Dataset,
    /// None: they are not computed yet.
    pub(super) facts: Option<&'a PreviewFacts>,
    /// Language of the publisher's texts.
    pub(super) language: &'a str,
    /// Formats that the dataset has.
    formats: DatasetFormats,
}

impl<'a> CatalogView<'a> {
    /// The catalog of `settings` at `base_url`.
    pub(crate) fn new(base_url: &'a str, settings: &'a PageSettings) -> Self {
        Self { base_url, settings }
    }
}

impl<'a> DatasetView<'a> {
    /// The view of `dataset` in its first language, without facts and formats.
    pub(crate) fn new(catalog: &'a CatalogView<'a>, dataset: &'a Dataset) -> Self {
        let language = first_language(dataset);
        Self { catalog, dataset, facts: None, language, formats: Arc::default() }
    }

    /// The same with facts and formats.
    pub(crate) fn with(self, facts: Option<&'a PreviewFacts>, formats: DatasetFormats) -> Self {
        Self { facts, formats, ..self }
    }

    /// The same of a dataset whose texts are in `language`, where it has some.
    pub(super) fn in_language(self, language: Option<&'a Language>) -> Self {
        Self { language: language.map_or(self.language, Language::as_str), ..self }
    }

    /// Returns the formats that the dataset has, with the address of its rows in each.
    pub(super) fn formats(&self) -> impl Iterator<Item = (&EncoderDescription, String)> {
        let Self { catalog, dataset, .. } = self;
        let data = format!("{}/v1/series/{}/data?format=", catalog.base_url, dataset.name);
        let described = self.formats.iter().map(|encoder| encoder.description());
        described.map(move |description| (description, format!("{data}{}", description.format)))
    }

    pub(super) fn snapshot(&self) -> &'a Snapshot {
        &self.dataset.current
    }

    /// Returns the title; the name where there is none.
    pub(super) fn title(&self) -> &'a str {
        self.dataset.title()
    }

    /// Returns the language of the description: the service's where the publisher wrote none.
    pub(super) fn description_language(&self) -> &'a str {
        let written = self.snapshot().description.as_deref().unwrap_or_default().trim();
        if written.is_empty() { SERVICE_LANGUAGE } else { self.language }
    }

    /// Returns the description, filled up with facts where it is short and cut where it is long.
    pub(super) fn description(&self) -> String {
        let (fewest, most) = DESCRIPTION_CHARACTERS;
        let written = self.snapshot().description.as_deref().unwrap_or_default().trim();
        if written.chars().count() >= fewest {
            return cut_text(written, most).to_owned();
        }
        let mut filled = written.to_owned();
        let mut add = |sentence: String| {
            if !filled.is_empty() {
                filled.push(' ');
            }
            filled.push_str(&sentence);
        };
        let snapshot = self.snapshot();
        add(format!("{}, published by {}.", self.title(), snapshot.credit.source));
        if let Some((first, last)) = &snapshot.date_range {
            add(format!("Dates from {first} to {last}."));
        }
        let columns = snapshot.columns.len() as u64;
        let (rows, columns) =
            (counted(snapshot.rows, "row", "rows"), counted(columns, "column", "columns"));
        add(format!("{rows} and {columns}."));
        cut_text(&filled, most).to_owned()
    }

    /// Returns the address of the page.
    pub(super) fn page_url(&self) -> String {
        format!("{}/datasets/{}", self.catalog.base_url, self.dataset.name)
    }

    /// Returns the address of the citation of the current snapshot.
    pub(super) fn cite_url(&self) -> String {
        format!("{}/cite/{}/{}", self.catalog.base_url, self.dataset.name, self.snapshot().id)
    }

    /// Returns the address of the stored file; none where the licence forbids it.
    pub(super) fn bulk_url(&self) -> Option<String> {
        let Self { catalog, dataset, .. } = self;
        self.snapshot().bulk_redistribution.then(|| {
            format!(
                "{}/v1/bulk/{}/{}?freshness=current",
                catalog.base_url, dataset.namespace, dataset.name
            )
        })
    }

    /// Returns the licence's address, where its publisher gave one that may be linked.
    pub(super) fn licence_url(&self) -> Option<&'a str> {
        self.snapshot().credit.licence_url.as_deref().and_then(web_address)
    }

    /// Returns the agency's address, where it may be linked.
    pub(super) fn source_url(&self) -> Option<&'a str> {
        self.snapshot().credit.source_url.as_deref().and_then(web_address)
    }

    /// Returns the bounds of the geometry as boxes that do not cross 180°: west, south, east,
    /// north.
    pub(super) fn boxes(&self) -> Vec<[f64; 4]> {
        let Some(bounds) = self.snapshot().bbox else { return Vec::new() };
        let [west, south, east, north] = bounds.0;
        if west <= east {
            return vec![[west, south, east, north]];
        }
        vec![[west, south, 180.0, north], [-180.0, south, east, north]]
    }
}

/// Returns the language of a publisher's texts that are not translated.
pub(super) fn first_language(dataset: &Dataset) -> &str {
    dataset.current.meaning.languages.first().map_or(SERVICE_LANGUAGE, Language::as_str)
}
