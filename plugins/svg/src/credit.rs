//! Words that a picture takes from the schema's metadata: its title, where the data comes from, and
//! the credit line that its licence asks for.

use yearbook_sdk::Schema;

use crate::line::marks::StatusTotals;
use crate::xml::one_line;

/// Words about the data of a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataCredit {
    /// Title of the dataset, else its name.
    pub title: String,
    /// The agency.
    pub source: String,
    /// The credit line and the licence's title.
    pub line: String,
    /// Rows of which those that are drawn are a sample; `None` where they are all.
    pub sampled_rows: Option<u64>,
    /// Series of which those that are drawn are some.
    pub sampled_series: Option<u64>,
    /// Statuses of all rows of the series that is drawn, where only some of its rows are.
    pub statuses: Option<StatusTotals>,
    /// The date before which no status is known.
    pub statuses_from: Option<String>,
}

impl DataCredit {
    /// Reads the metadata.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let text = |key: &str| {
            let value = schema.metadata(&format!("yearbook.{key}")).map(one_line);
            value.filter(|text| !text.is_empty())
        };
        let number = |key| text(key).and_then(|digits| digits.parse().ok());
        let source = text("source").unwrap_or_default();
        let credit = text("attribution").or_else(|| text("source"));
        let licence = text("licence_title").or_else(|| text("licence"));
        let licence = licence.map(|licence| format!("Licence: {licence}"));
        // A credit line that publishing composed says it already.
        let licence = licence
            .filter(|licence| credit.as_ref().is_none_or(|credit| !credit.contains(licence)));
        let line = [credit, licence].into_iter().flatten().collect::<Vec<_>>();
        Self {
            title: text("title").or_else(|| text("dataset")).unwrap_or_else(|| "Data".to_owned()),
            source,
            line: line.join(" · "),
            sampled_rows: number("sampled_rows"),
            sampled_series: number("sampled_series"),
            statuses: text("sampled_statuses").and_then(|text| StatusTotals::parse(&text)),
            statuses_from: text("statuses_from"),
        }
    }
}
