//! Fields of the index and their weights: name, then title, then columns, then description. Each
//! text is indexed twice, as it is spelled and by its stems: prefixes and slips are of spelling,
//! and a stem that a slip has bent is not near the right one.

use tantivy::TantivyDocument;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

use crate::analysis::{SPELLED, STEMMED, fold};
use crate::document::SearchDocument;

/// Weights of the fields, in the order of [`texts`].
const WEIGHTS: [(&str, f32); FIELDS] = [
    ("name", 10.0),
    ("title", 8.0),
    ("topics", 5.0),
    ("columns", 3.0),
    ("agency", 3.0),
    ("description", 1.0),
];

/// Number of texts of a document.
const FIELDS: usize = 6;

/// Fields of one text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextFields {
    /// Words as they are spelled.
    pub(crate) spelled: Field,
    /// Stems.
    pub(crate) stemmed: Field,
    /// Factor of a match's score.
    pub(crate) weight: f32,
}

/// All fields.
pub(crate) struct Fields {
    schema: Schema,
    texts: [TextFields; FIELDS],
}

impl Fields {
    /// Creates the schema.
    pub(crate) fn new() -> Self {
        let mut schema = Schema::builder();
        let options = |analyzer| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(analyzer)
                .set_index_option(IndexRecordOption::WithFreqs);
            TextOptions::default().set_indexing_options(indexing)
        };
        let texts = WEIGHTS.map(|(name, weight)| TextFields {
            spelled: schema.add_text_field(&format!("{name}_{SPELLED}"), options(SPELLED)),
            stemmed: schema.add_text_field(&format!("{name}_{STEMMED}"), options(STEMMED)),
            weight,
        });
        Self { schema: schema.build(), texts }
    }

    pub(crate) fn schema(&self) -> Schema {
        self.schema.clone()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TextFields> {
        self.texts.iter()
    }

    /// Returns `document` as the library takes it.
    pub(crate) fn document(&self, document: &SearchDocument) -> TantivyDocument {
        let mut indexed = TantivyDocument::default();
        for (fields, text) in self.texts.iter().zip(texts(document)) {
            let folded = fold(&text);
            indexed.add_text(fields.spelled, &folded);
            indexed.add_text(fields.stemmed, &folded);
        }
        indexed
    }
}

/// Returns the texts of `document` in the order of [`WEIGHTS`]. Descriptions of columns count as
/// part of the description: they are prose.
fn texts(document: &SearchDocument) -> [String; FIELDS] {
    let column_names: Vec<&str> =
        document.columns.iter().map(|column| column.name.as_str()).collect();
    let prose: Vec<&str> = document
        .description
        .iter()
        .chain(document.columns.iter().filter_map(|column| column.description.as_ref()))
        .chain(&document.other_prose)
        .map(String::as_str)
        .collect();
    let titles: Vec<&str> =
        document.title.iter().chain(&document.other_titles).map(String::as_str).collect();
    [
        document.name.clone(),
        titles.join(" "),
        document.keywords.join(" "),
        column_names.join(" "),
        document.agency.clone(),
        prose.join(" "),
    ]
}
