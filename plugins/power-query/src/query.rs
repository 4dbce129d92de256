//! Query of one dataset, and text literals of M. Names of columns stand in texts, where no keyword of M can hurt.

use std::fmt::Write;

use yearbook_sdk::generator::{ColumnType, Dataset, Plan};

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

/// `text` between quotes. A quote is doubled, and whatever could end a line or begin an escape is
/// one: `#(lf)`, `#(#)(`.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' => literal.push_str("\"\""),
            '#' if rest.peek() == Some(&'(') => literal.push_str("#(#)"),
            '\n' => literal.push_str("#(lf)"),
            '\r' => literal.push_str("#(cr)"),
            '\t' => literal.push_str("#(tab)"),
            _ if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') => {
                let _ = write!(literal, "#({:04X})", u32::from(character));
            }
            _ => literal.push(character),
        }
    }
    literal.push('"');
    literal
}
