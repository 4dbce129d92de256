//! The query of one dataset. Names of columns stand in texts, where no keyword of M can hurt.

use yearbook_sdk::generator::{ColumnType, Dataset, Plan};

use crate::text::literal;

/// The parameter that has the service's address.
pub(crate) fn base_url(address: &str) -> String {
    format!(
        "{} meta [IsParameterQuery = true, IsParameterQueryRequired = true, Type = \"Text\"]",
        literal(address)
    )
}

/// A table with typed columns, its credit as metadata.
pub(crate) fn dataset(dataset: &Dataset, plan: &Plan) -> String {
    let names: Vec<String> = dataset.columns.iter().map(|column| literal(&column.name)).collect();
    let types: Vec<String> = dataset
        .columns
        .iter()
        .map(|column| {
            format!("            {{{}, {}}}", literal(&column.name), m_type(column.column_type))
        })
        .collect();
    let key: Vec<String> = dataset.primary_key.iter().map(|name| literal(name)).collect();
    let (last, keyed) = if key.is_empty() {
        ("Typed", String::new())
    } else {
        ("Keyed", format!(",\n    Keyed = Table.AddKey(Typed, {{{}}}, true)", key.join(", ")))
    };
    let source_url = dataset.source_url.as_deref().map_or_else(|| "null".to_owned(), literal);
    format!(
        "let\n    Rows = ReadDataset({name}, {page}),\n    Records = Table.FromRecords(Rows, {{{names}}}),\n    \
         Typed = Table.TransformColumnTypes(\n        Records,\n        {{\n{types}\n        }},\n        \"en-US\"\n    ){keyed}\n\
         in\n    {last} meta [\n        Title = {title},\n        Attribution = {attribution},\n        Licence = {licence},\n        \
         Source = {source},\n        SourceUrl = {source_url}\n    ]\n",
        name = literal(&dataset.name),
        page = dataset.page(plan, true),
        names = names.join(", "),
        types = types.join(",\n"),
        title = literal(&dataset.label()),
        attribution = literal(&dataset.attribution),
        licence = literal(&dataset.licence),
        source = literal(&dataset.source),
    )
}

fn m_type(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Text => "type text",
        ColumnType::Integer => "Int64.Type",
        ColumnType::Number => "type number",
        ColumnType::Boolean => "type logical",
        ColumnType::Date => "type date",
    }
}
