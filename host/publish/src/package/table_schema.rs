//! The table's columns: `resources[0].schema`, a Table Schema. What Table Schema allows and this
//! crate does not do is refused with advice, because ignoring it would serve something else than
//! was meant.

use std::collections::HashSet;

use serde_json::Value;
use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::meaning::{Language, Text};
use yearbook_domain::{ColumnType, name};

use super::meaning;
use super::node::{DescriptorNode, DescriptorProblems, nearest};
use super::text_rules;

/// Types that a field may have, as Table Schema writes them.
fn types() -> [&'static str; ColumnType::ALL.len()] {
    ColumnType::ALL.map(ColumnType::as_str)
}

/// A field.
pub(super) struct TableField {
    pub(super) name: String,
    pub(super) column_type: ColumnType,
    pub(super) required: bool,
    pub(super) unit: Option<String>,
    pub(super) title: Option<Text>,
    pub(super) description: Option<Text>,
}

/// Fields and primary key.
pub(super) struct TableSchema {
    pub(super) fields: Vec<TableField>,
    pub(super) primary_key: Vec<String>,
}

impl TableSchema {
    pub(super) fn find(&self, name: &str) -> Option<&TableField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Reads the schema; `None` when a field or the key is wrong.
pub(super) fn parse(
    schema: &DescriptorNode<'_>,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> Option<TableSchema> {
    let before = problems.0.len();
    if schema.value.is_string() {
        problems.add(schema.at.clone(), "is an address; write the schema itself here");
        return None;
    }
    schema.object(problems)?;
    check_missing_values(schema, problems);
    if let Some(word) = schema.get("fieldsMatch")
        && word.value != "exact"
        && *word.value != serde_json::json!(["exact"])
    {
        problems.add(word.at, "only \"exact\" is read; list every column in the file's order");
    }
    let nodes = schema.require("fields", "the list of columns", problems)?.list(problems)?;
    let fields: Vec<TableField> =
        nodes.iter().filter_map(|node| parse_field(node, languages, problems)).collect();
    if nodes.is_empty() {
        problems.add(schema.member_path("fields"), "is empty; list the columns");
    }
    let mut seen = HashSet::new();
    for (node, field) in nodes.iter().zip(&fields) {
        if problems.0.len() == before && !seen.insert(&field.name) {
            problems.add(
                node.member_path("name"),
                format!("{:?} is the name of an earlier column too; rename one", field.name),
            );
        }
    }
    let mut schema_read = TableSchema { fields, primary_key: Vec::new() };
    if problems.0.len() == before {
        schema_read.primary_key = parse_primary_key(schema, &schema_read, problems);
    }
    (problems.0.len() == before).then_some(schema_read)
}

fn parse_field(
    node: &DescriptorNode<'_>,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> Option<TableField> {
    node.object(problems)?;
    let name = node
        .require("name", "the column's name", problems)
        .and_then(|n| parse_column_name(&n, problems));
    let column_type = node
        .require("type", &format!("one of {}", types().join(", ")), problems)
        .and_then(|n| parse_column_type(&n, problems));
    let unit = node.get("unit").and_then(|n| text_rules::parse_prose(&n, problems));
    let mut text = |key: &str| {
        let node = node.get(key)?;
        meaning::parse_text(&node, languages, text_rules::parse_prose, problems)
    };
    let (title, description) = (text("title"), text("description"));
    check_notation(node, column_type, problems);
    check_missing_values(node, problems);
    let required = parse_constraints(node, problems);
    let (name, declared) = (name?, column_type?);
    match promised_type(&name, declared) {
        Ok(column_type) => {
            Some(TableField { name, column_type, required, unit, title, description })
        }
        Err(message) => {
            problems.add(node.member_path("type"), message);
            None
        }
    }
}

/// The column that holds dates (contract-7-date).
pub(super) const DATE_COLUMN: &str = "date";

/// The column that holds period codes (spec-2.2-period).
pub(super) const PERIOD_COLUMN: &str = "period";

/// Type of the column `name` that is declared as `declared`. Clients rely on what some names
/// promise, so such a column is checked by its name whatever is declared.
fn promised_type(name: &str, declared: ColumnType) -> Result<ColumnType, String> {
    match (name, declared) {
        (DATE_COLUMN, ColumnType::String | ColumnType::Date) => Ok(ColumnType::Date),
        (DATE_COLUMN, _) => {
            Err(format!("{name} holds dates YYYY-MM-DD; declare it as date, or rename the column"))
        }
        (GEOMETRY_COLUMN | PERIOD_COLUMN, declared) if declared != ColumnType::String => {
            Err(format!("{name} holds text; declare it as string"))
        }
        (_, declared) => Ok(declared),
    }
}

fn parse_column_name(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    let text = node.text(problems)?;
    if name::is_snake_case(text) {
        return Some(text.to_owned());
    }
    let snake = text_rules::to_snake_case(text);
    let advice = if name::is_snake_case(&snake) {
        format!("; rename it, for example {snake}")
    } else {
        String::new()
    };
    problems
        .add(node.at.clone(), format!("{text:?} is not snake_case ({}){advice}", name::PATTERN));
    None
}

fn parse_column_type(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<ColumnType> {
    let word = node.text(problems)?;
    if let Some(known) = ColumnType::parse(word) {
        return Some(known);
    }
    let advice = match word {
        "datetime" | "time" | "duration" => {
            "declare it as string, or keep the date alone as date".to_owned()
        }
        "year" | "yearmonth" => "declare it as string in a column named period".to_owned(),
        "geopoint" | "geojson" => format!("write WKT into a string column named {GEOMETRY_COLUMN}"),
        _ => format!("the nearest is {}", nearest(word, types()).unwrap_or("string")),
    };
    problems.add(
        node.at.clone(),
        format!("{word:?} is not served: types are {}; {advice}", types().join(", ")),
    );
    None
}

/// Properties that change how a cell is to be read: only their defaults are.
fn check_notation(
    node: &DescriptorNode<'_>,
    column_type: Option<ColumnType>,
    problems: &mut DescriptorProblems,
) {
    let mut refuse = |key: &str, message: &str| problems.add(node.member_path(key), message);
    if let Some(format) = node.get("format")
        && column_type == Some(ColumnType::Date)
        && !["default", "%Y-%m-%d"].iter().any(|word| format.value == word)
    {
        refuse(
            "format",
            "dates are read as YYYY-MM-DD only; rewrite them so and leave `format` out",
        );
    }
    if node.get("decimalChar").is_some_and(|n| n.value != ".") || node.get("groupChar").is_some() {
        refuse(
            "decimalChar",
            "numbers are read with a decimal point and without group separators; rewrite them so",
        );
    }
    if node.get("bareNumber").is_some_and(|n| *n.value == Value::Bool(false)) {
        refuse(
            "bareNumber",
            "numbers are read without a currency or percent sign; remove it from the data",
        );
    }
    for (key, words) in [
        ("trueValues", ["true", "True", "TRUE", "1"]),
        ("falseValues", ["false", "False", "FALSE", "0"]),
    ] {
        let Some(list) = node.get(key) else { continue };
        let known = list.value.as_array().is_some_and(|list| {
            list.iter().all(|v| v.as_str().is_some_and(|v| words.contains(&v)))
        });
        if !known {
            refuse(key, &format!("only {} are read; rewrite the data so", words.join(", ")));
        }
    }
}

/// Null is the empty field and nothing else: a code such as `NA` or `-9` must have become an empty
/// field.
fn check_missing_values(node: &DescriptorNode<'_>, problems: &mut DescriptorProblems) {
    if let Some(list) = node.get("missingValues")
        && *list.value != serde_json::json!([""])
    {
        problems.add(
            list.at,
            "only [\"\"] is read: write missing values as empty fields and leave this out, or name them in yearbook.reader_options.missing_values where a reader reads the format",
        );
    }
}

fn parse_constraints(node: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> bool {
    let Some(constraints) = node.get("constraints") else { return false };
    let Some(members) = constraints.object(problems) else { return false };
    for key in members.keys().filter(|key| *key != "required") {
        let message = "is not checked by publishing, so it would promise what nobody has verified; remove it (`required` is checked)";
        problems.add(constraints.member_path(key), message);
    }
    constraints.get("required").and_then(|required| required.boolean(problems)).unwrap_or(false)
}

fn parse_primary_key(
    node: &DescriptorNode<'_>,
    schema: &TableSchema,
    problems: &mut DescriptorProblems,
) -> Vec<String> {
    let Some(key) = node.get("primaryKey") else { return Vec::new() };
    let nodes =
        if key.value.is_string() { vec![key] } else { key.list(problems).unwrap_or_default() };
    let names = columns(&nodes, schema, problems);
    for (node, name) in nodes.iter().zip(&names) {
        if name == GEOMETRY_COLUMN {
            problems.add(
                node.at.clone(),
                format!("{GEOMETRY_COLUMN} cannot be part of the primary key; use an identifier"),
            );
        }
    }
    names
}

/// Names of columns that must be in the schema, each once.
pub(super) fn columns(
    nodes: &[DescriptorNode<'_>],
    schema: &TableSchema,
    problems: &mut DescriptorProblems,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for node in nodes {
        let Some(name) = node.text(problems) else { continue };
        if schema.find(name).is_none() {
            let near = nearest(name, schema.fields.iter().map(|field| field.name.as_str()))
                .unwrap_or_default();
            problems.add(
                node.at.clone(),
                format!("there is no column {name:?}; the nearest is {near:?}"),
            );
        } else if names.iter().any(|earlier| earlier == name) {
            problems.add(node.at.clone(), format!("{name:?} is named twice; once is enough"));
        } else {
            names.push(name.to_owned());
        }
    }
    names
}
