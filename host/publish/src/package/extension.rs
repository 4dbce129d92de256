//! Facts for which a data package has no word: the object under `"yearbook"`
//! (contract-7-descriptor). Unknown keys are errors, because a misspelt one would silently not
//! hold.

use std::collections::BTreeMap;

use yearbook_domain::credit::SourceUrlPrecision;
use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::meaning::{Language, Note, StatusColumn};
use yearbook_domain::{Cadence, ColumnType, Namespace, PlannedRelease, TableLayout};

use crate::loss::MaxLoss;

use super::meaning::{self, PackageLabels};
use super::node::{DescriptorNode, DescriptorProblems};
use super::notes;
use super::planned_releases;
use super::reader_source::{self, SourceMapping};
use super::table_schema::{self, DATE_COLUMN, TableSchema};
use super::text_rules;

/// Keys that `"yearbook"` takes.
pub(super) const KEYS: [&str; 19] = [
    "namespace",
    "source",
    "attribution_text",
    "source_url_precision",
    "refresh_cadence",
    "max_loss",
    "date_filter_column",
    "dimensions",
    "bulk_redistribution",
    "layout",
    "proportions",
    "value_columns",
    "source_columns",
    "reader_options",
    "status",
    "labels",
    "notes",
    "releases",
    "no_derivatives",
];

/// Everything under `"yearbook"` as written; defaults that depend on other parts are chosen by the
/// caller.
pub(super) struct YearbookExtension {
    pub(super) namespace: Option<Namespace>,
    pub(super) source: Option<String>,
    pub(super) attribution: Option<String>,
    pub(super) source_url_precision: Option<SourceUrlPrecision>,
    pub(super) refresh_cadence: Option<Cadence>,
    /// None: the settings decide.
    pub(super) max_loss: Option<MaxLoss>,
    pub(super) date_column: Option<String>,
    pub(super) dimensions: Vec<String>,
    /// None: the licence decides.
    pub(super) bulk_redistribution: Option<bool>,
    pub(super) layout: Option<TableLayout>,
    pub(super) proportions: Vec<String>,
    /// None: every number outside the key is a measure.
    pub(super) value_columns: Option<Vec<String>>,
    pub(super) sources: SourceMapping,
    pub(super) status: BTreeMap<String, StatusColumn>,
    pub(super) labels: PackageLabels,
    pub(super) notes: Vec<Note>,
    pub(super) releases: Vec<PlannedRelease>,
    /// Set where the publisher says so; the licence may say so too.
    pub(super) no_derivatives: bool,
}

/// Reads the object. Column names are checked where the schema could be read.
pub(super) fn parse(
    node: &DescriptorNode<'_>,
    schema: Option<&TableSchema>,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> Option<YearbookExtension> {
    node.object(problems)?;
    node.refuse_other_members(&KEYS, problems);
    let line = |key: &str, problems: &mut DescriptorProblems| {
        node.get(key).and_then(|n| text_rules::line(&n, problems))
    };
    let columns = |kind: &ColumnKind, problems: &mut DescriptorProblems| {
        parse_column_list(node, kind, schema, problems)
    };
    Some(YearbookExtension {
        namespace: parse_namespace(node, problems),
        source: line("source", problems),
        attribution: line("attribution_text", problems),
        source_url_precision: parse_keyword(
            node,
            "source_url_precision",
            &SourceUrlPrecision::ALL.map(|precision| (precision.as_str(), precision)),
            problems,
        ),
        refresh_cadence: parse_keyword(
            node,
            "refresh_cadence",
            &Cadence::ALL.map(|cadence| (cadence.as_str(), cadence)),
            problems,
        ),
        max_loss: parse_max_loss(node, problems),
        date_column: schema.and_then(|schema| parse_date_column(node, schema, problems)),
        dimensions: columns(&DIMENSIONS, problems).unwrap_or_default(),
        bulk_redistribution: node.get("bulk_redistribution").and_then(|n| n.boolean(problems)),
        layout: parse_keyword(
            node,
            "layout",
            &TableLayout::ALL.map(|layout| (layout.as_str(), layout)),
            problems,
        ),
        proportions: columns(&PROPORTIONS, problems).unwrap_or_default(),
        value_columns: columns(&VALUE_COLUMNS, problems),
        sources: reader_source::parse(node, schema, problems),
        status: schema
            .map(|schema| meaning::parse_status(node, schema, languages, problems))
            .unwrap_or_default(),
        labels: schema
            .map(|schema| meaning::parse_labels(node, schema, languages, problems))
            .unwrap_or_default(),
        notes: schema
            .map(|schema| notes::parse_notes(node, schema, languages, problems))
            .unwrap_or_default(),
        releases: planned_releases::parse(node, problems),
        no_derivatives: node
            .get("no_derivatives")
            .and_then(|n| n.boolean(problems))
            .unwrap_or(false),
    })
}

/// A list of columns under `"yearbook"`.
struct ColumnKind {
    key: &'static str,
    types: &'static [ColumnType],
    /// The fault of a column of another type.
    why: &'static str,
}

const DIMENSIONS: ColumnKind = ColumnKind {
    key: "dimensions",
    types: &[ColumnType::String],
    why: "`dimensions` searches text: declare it as string or leave it out",
};
const PROPORTIONS: ColumnKind = ColumnKind {
    key: "proportions",
    types: &[ColumnType::Number],
    why: "a proportion is a fraction: declare it as number or leave it out",
};
const VALUE_COLUMNS: ColumnKind = ColumnKind {
    key: "value_columns",
    types: &[ColumnType::Number, ColumnType::Integer],
    why: "a measure is a number: declare it as number or integer, or leave it out",
};

fn parse_namespace(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<Namespace> {
    let node = node.require(
        "namespace",
        "the grouping that appears in bulk addresses, for example stats_nz",
        problems,
    )?;
    text_rules::parse_snake_case(&node, Namespace::parse, problems)
}

fn parse_keyword<T: Copy>(
    node: &DescriptorNode<'_>,
    key: &str,
    words: &[(&str, T)],
    problems: &mut DescriptorProblems,
) -> Option<T> {
    let node = node.get(key)?;
    let text = node.text(problems)?;
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let known = match known.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        };
        problems.add(node.at.clone(), format!("{text:?} is unknown; write {known}"));
    }
    found.map(|(_, value)| *value)
}

fn parse_max_loss(node: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Option<MaxLoss> {
    let node = node.get("max_loss")?;
    let loss = node.value.as_f64().and_then(MaxLoss::new);
    if loss.is_none() {
        problems.add(node.at, format!("must be {}", MaxLoss::EXPECTED));
    }
    loss
}

/// Default: a column named `date` of type date; an explicit null: no date axis.
fn parse_date_column(
    node: &DescriptorNode<'_>,
    schema: &TableSchema,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    let is_date =
        |name: &str| schema.find(name).is_some_and(|field| field.column_type == ColumnType::Date);
    let Some(named) = node.get("date_filter_column") else {
        return (!node.is_null("date_filter_column") && is_date(DATE_COLUMN))
            .then(|| DATE_COLUMN.to_owned());
    };
    let name = table_schema::columns(std::slice::from_ref(&named), schema, problems).pop()?;
    if !is_date(&name) {
        problems.add(
            named.at,
            format!("column {name:?} is not of type date, so `start` and `end` cannot filter it"),
        );
        return None;
    }
    Some(name)
}

fn parse_column_list(
    node: &DescriptorNode<'_>,
    kind: &ColumnKind,
    schema: Option<&TableSchema>,
    problems: &mut DescriptorProblems,
) -> Option<Vec<String>> {
    let (list, schema) = (node.get(kind.key)?, schema?);
    let nodes = list.list(problems)?;
    let names = table_schema::columns(&nodes, schema, problems);
    for name in &names {
        let at = nodes
            .iter()
            .find(|n| n.value == name.as_str())
            .map_or_else(|| list.at.clone(), |n| n.at.clone());
        let Some(message) = column_fault(name, kind, schema) else { continue };
        problems.add(at, message);
    }
    Some(names)
}

/// The fault of the column `name` in a list of this kind.
fn column_fault(name: &str, kind: &ColumnKind, schema: &TableSchema) -> Option<String> {
    let field = schema.find(name)?;
    if name == DATE_COLUMN && kind.key == DIMENSIONS.key {
        return Some(format!(
            "column {name:?} holds dates, which `start` and `end` filter; leave it out"
        ));
    }
    if !kind.types.contains(&field.column_type) {
        return Some(format!("column {name:?}: {}", kind.why));
    }
    if name == GEOMETRY_COLUMN {
        return Some(format!("{GEOMETRY_COLUMN} cannot be a dimension"));
    }
    let is_key = schema.primary_key.iter().any(|key| key == name);
    (is_key && kind.key == VALUE_COLUMNS.key)
        .then(|| format!("column {name:?} is part of the primary key, so it identifies rows and measures nothing; leave it out"))
}
