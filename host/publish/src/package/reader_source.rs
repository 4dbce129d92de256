//! The parts of a descriptor that a reader of another format wants to know: which columns of the
//! file the table's are, and options (contract-7-readers).

use std::sync::Arc;

use serde_json::{Map, Value};
use yearbook_domain::{Column, ColumnRole, ColumnType, SourceColumn, SourceType};

use super::node::{DescriptorNode, DescriptorProblems, nearest};
use super::table_schema::TableSchema;
use crate::format_reader::FormatReader;

/// Largest number of options.
const OPTIONS: usize = 32;

/// Longest name of a column in a file, bytes.
const SOURCE_BYTES: usize = 1024;

/// A file that a reader is needed for.
#[derive(Clone, Debug)]
pub(crate) struct ReaderSource {
    /// The format as `resources[0].format` names it.
    pub(crate) format: String,
    /// Options as the descriptor writes them.
    pub(crate) options: Map<String, Value>,
    /// The table's columns, in its order.
    pub(crate) columns: Vec<SourceColumn>,
    /// None until one was found.
    pub(crate) reader: Option<Arc<dyn FormatReader>>,
}

/// The part of `"yearbook"` about the file.
#[derive(Default)]
pub(super) struct SourceMapping {
    /// Names in the file by column.
    sources: Vec<(String, String)>,
    options: Map<String, Value>,
}

/// Reads `source_columns` and `reader_options`.
pub(super) fn parse(
    node: &DescriptorNode<'_>,
    schema: Option<&TableSchema>,
    problems: &mut DescriptorProblems,
) -> SourceMapping {
    let mut mapping = SourceMapping::default();
    if let Some(sources) = node.get("source_columns") {
        for name in sources.object(problems).into_iter().flat_map(Map::keys) {
            let Some(source) = sources.get(name) else { continue };
            let Some(text) = source.text(problems) else { continue };
            if schema.is_some_and(|schema| schema.find(name).is_none()) {
                let fields = schema.into_iter().flat_map(|schema| &schema.fields);
                let near = nearest(name, fields.map(|field| field.name.as_str()));
                problems.add(
                    source.at,
                    format!(
                        "there is no column {name:?}; the nearest is {:?}",
                        near.unwrap_or_default()
                    ),
                );
            } else if text.is_empty() || text.len() > SOURCE_BYTES {
                let message = format!(
                    "must be the name of a column of the file, at most {SOURCE_BYTES} bytes"
                );
                problems.add(source.at, message);
            } else {
                mapping.sources.push((name.clone(), text.to_owned()));
            }
        }
    }
    if let Some(options) = node.get("reader_options")
        && let Some(members) = options.object(problems)
    {
        if members.len() > OPTIONS {
            let message = format!("has {} members; a reader has at most {OPTIONS}", members.len());
            problems.add(options.at.clone(), message);
        }
        for (name, value) in members {
            if !matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_)) {
                let message = "must be a string, a number, true or false";
                problems.add(options.member_path(name), message);
            }
        }
        mapping.options.clone_from(members);
    }
    mapping
}

impl SourceMapping {
    /// The source of a format that a reader is needed for.
    pub(super) fn for_format(self, format: &str, columns: &[Column]) -> ReaderSource {
        let source = |column: &Column| {
            let found = self.sources.iter().find(|(name, _)| *name == column.name);
            SourceColumn {
                name: column.name.clone(),
                source: found.map(|(_, source)| source.clone()),
                source_type: source_type(column),
            }
        };
        ReaderSource {
            format: format.to_owned(),
            columns: columns.iter().map(source).collect(),
            options: self.options,
            reader: None,
        }
    }

    /// Reports what is said of a file that needs no reader, since nothing would come of it.
    pub(super) fn refuse(self, problems: &mut DescriptorProblems) {
        let message = "is for files that a reader reads; CSV, Parquet and Arrow have the columns of the schema, so leave it out or name the reader's format in resources[0].format";
        if !self.sources.is_empty() {
            problems.add("yearbook.source_columns", message);
        }
        if !self.options.is_empty() {
            problems.add("yearbook.reader_options", message);
        }
    }
}

fn source_type(column: &Column) -> SourceType {
    match column.column_type {
        ColumnType::String if column.role == ColumnRole::Period => SourceType::Period,
        ColumnType::String => SourceType::Text,
        ColumnType::Integer => SourceType::Integer,
        ColumnType::Number => SourceType::Number,
        ColumnType::Boolean => SourceType::Boolean,
        ColumnType::Date => SourceType::Date,
    }
}
