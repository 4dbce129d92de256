//! The page of a dataset as a template: everything that contract-9-dataset lists.

use askama::Template;
use yearbook_catalog::CitedSnapshot;
use yearbook_domain::citation::{CanonicalQuery, Citation, CitationFormat};
use yearbook_domain::meaning::{Language, Note};
use yearbook_domain::{Column, ColumnType, Dataset, Snapshot};

use super::DatasetInputs;
use super::preview::{ChartAddress, PreviewView};
use super::revised::RevisedView;
use super::versions::{LISTED_VERSIONS, VersionList};
use crate::copy_lines::{CopyLine, LineRequest, copy_lines};
use crate::credit_view::CreditView;
use crate::figures::{and_more, bytes, count};
use crate::open_in::open_lines;
use crate::{Frame, Section, Site};

/// Columns of the table that are described (contract-9-cuts).
const MAX_COLUMNS: usize = 50;

/// Characters of a text in a cell (contract-9-cuts).
const MAX_CHARACTERS: usize = 200;

/// `/datasets/{name}`.
#[derive(Template)]
#[template(path = "dataset.html")]
pub(super) struct DatasetPage<'a> {
    frame: Frame<'a>,
    dataset: &'a Dataset,
    snapshot: &'a Snapshot,
    credit: CreditView<'a>,
    /// Language of the publisher's texts, where it is known.
    language: Option<&'a str>,
    /// The same where the address asks for one: links keep it.
    asked_language: Option<&'a str>,
    /// The page that makes a request.
    request_url: String,
    paragraphs: Vec<&'a str>,
    notes: Vec<NoteLine<'a>>,
    data_url: String,
    rows: String,
    size: String,
    preview: Option<PreviewView<'a>>,
    columns: Vec<ColumnLine<'a>>,
    /// "and 12 more columns".
    columns_left_out: Option<String>,
    versions: VersionList<'a>,
    /// A line that versions revised.
    revised: Option<RevisedView>,
    /// Names of the formats that the dataset has.
    formats: Vec<&'a str>,
    lines: Vec<CopyLine<'a>>,
    /// Lines for programs that speak other APIs.
    opened: Vec<CopyLine<'a>>,
    /// Rows of a line that does not read all of them.
    first_rows: Option<String>,
    citation: String,
    /// The schema.org document, ready to stand in a script element.
    json_ld: String,
}

/// A column in words.
struct ColumnLine<'a> {
    column: &'a Column,
    title: CutText<'a>,
    /// Columns whose values have these statuses.
    of: &'a [String],
    column_type: &'static str,
    unit: CutText<'a>,
    description: CutText<'a>,
}

/// A footnote in words.
struct NoteLine<'a> {
    text: &'a str,
    /// `value`, `period.ge=2025-Q3`: what it is about; empty: everything.
    about: Vec<String>,
}

impl<'a> NoteLine<'a> {
    fn new(note: &'a Note, language: Option<&Language>) -> Self {
        let conditions =
            note.conditions.iter().map(|(name, values)| format!("{name}={}", values.join(" or ")));
        Self {
            text: note.text.in_language(language),
            about: note.column.clone().into_iter().chain(conditions).collect(),
        }
    }
}

/// A text for a cell.
struct CutText<'a> {
    text: &'a str,
    is_cut: bool,
}

impl<'a> DatasetPage<'a> {
    pub(super) fn new(
        site: &'a Site,
        inputs: &'a DatasetInputs,
        citation: String,
        json_ld: String,
    ) -> Self {
        let dataset = &*inputs.dataset;
        let snapshot = &*dataset.current;
        let description = snapshot.description.as_deref().unwrap_or_default();
        let facts = inputs.facts.as_deref();
        let address = format!("{}/datasets/{}/chart.svg", site.root, dataset.name);
        let chart = inputs.has_picture.then_some(ChartAddress(&address));
        let language = inputs.language.as_ref().filter(|_| inputs.asks_language);
        let asked_language = language.map(Language::as_str);
        let kept = asked_language.map(|tag| format!("?lang={tag}")).unwrap_or_default();
        let everything = CanonicalQuery::default();
        let request = LineRequest::new(&inputs.base_url, dataset, &everything);
        Self {
            frame: site.frame(dataset.title(), Section::Datasets),
            dataset,
            snapshot,
            credit: CreditView(&snapshot.credit),
            language: inputs.language.as_ref().map(Language::as_str),
            asked_language,
            request_url: format!("{}/datasets/{}/request{kept}", site.root, dataset.name),
            notes: snapshot
                .meaning
                .notes
                .iter()
                .map(|note| NoteLine::new(note, inputs.language.as_ref()))
                .collect(),
            paragraphs: description
                .split("\n\n")
                .map(str::trim)
                .filter(|paragraph| !paragraph.is_empty())
                .collect(),
            data_url: format!("{}/v1/series/{}/data", inputs.base_url, dataset.name),
            rows: count(snapshot.rows),
            size: bytes(snapshot.file.bytes),
            preview: facts.map(|facts| PreviewView::new(facts, snapshot, inputs.series, chart)),
            columns: snapshot.columns.iter().take(MAX_COLUMNS).map(ColumnLine::new).collect(),
            columns_left_out: and_more(
                snapshot.columns.len().saturating_sub(MAX_COLUMNS) as u64,
                "column",
                "columns",
            ),
            versions: VersionList::new(dataset, LISTED_VERSIONS),
            revised: inputs.revised.as_ref().and_then(|revised| {
                let unit = |column: &str| snapshot.column(column)?.unit.clone();
                RevisedView::new(
                    &revised.most_revised(inputs.series.drawn())?,
                    facts?.series.as_ref()?,
                    unit,
                    chart,
                )
            }),
            formats: inputs
                .formats
                .iter()
                .map(|encoder| encoder.description().format.as_str())
                .collect(),
            lines: copy_lines(&request, &inputs.formats),
            opened: open_lines(
                &inputs.base_url,
                dataset,
                inputs.adapters.iter().map(|adapter| adapter.description()),
            ),
            first_rows: request.first_rows().map(count),
            citation,
            json_ld,
        }
    }
}

impl<'a> ColumnLine<'a> {
    fn new(column: &'a Column) -> Self {
        Self {
            column,
            title: CutText::new(column.title().unwrap_or_default()),
            of: column.status().map_or(&[], |status| &status.of),
            column_type: match column.column_type {
                ColumnType::String => "text",
                ColumnType::Integer => "integer",
                ColumnType::Number => "number",
                ColumnType::Boolean => "true or false",
                ColumnType::Date => "date",
            },
            unit: CutText::new(column.unit.as_deref().unwrap_or_default()),
            description: CutText::new(column.description.as_deref().unwrap_or_default()),
        }
    }
}

impl<'a> CutText<'a> {
    fn new(text: &'a str) -> Self {
        let cut = yearbook_domain::preview_facts::cut_text(text, MAX_CHARACTERS);
        Self { text: cut, is_cut: cut.len() < text.len() }
    }
}

/// The citation of the current version, as `/cite` has it.
pub(super) fn citation(base_url: &str, dataset: &Dataset, cited: Option<&CitedSnapshot>) -> String {
    let whole = CanonicalQuery::default();
    let citation = Citation {
        rows: cited.map(|cited| cited.snapshot.rows),
        digest: cited.map(|cited| cited.digest),
        ..Citation::new(&dataset.name, &dataset.current, whole, base_url)
    };
    citation.render(CitationFormat::Text)
}
