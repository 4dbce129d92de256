//! Meaning of values in a package (contract-21-meaning): `languages`, and `status` and `labels`
//! under `"yearbook"`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use yearbook_domain::meaning::{
    Language, ListedCode, MAX_LABEL_BYTES, MAX_LABELS, StatusCodes, StatusColumn, Text, ValueTexts,
};
use yearbook_domain::{Column, ColumnRole, ColumnType, Date};

use super::node::{DescriptorNode, DescriptorProblems};
use super::table_schema::{self, TableSchema};
use super::text_rules;
use crate::faults::quote;

/// Codes of a publisher's own list at most: each may be sent with every description.
const MAX_LISTED_CODES: usize = 200;

/// Languages at most.
const MAX_LANGUAGES: usize = 32;

/// Labels of a column.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum LabelSource {
    /// As written.
    Listed(ValueTexts),
    /// The values of another column, which each value has one of.
    Column { from: String },
}

/// Labels by column.
pub(crate) type PackageLabels = BTreeMap<String, LabelSource>;

/// Reads `languages`, the first of which untranslated texts are in.
pub(super) fn parse_languages(
    root: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Vec<Language> {
    let Some(list) = root.get("languages") else { return Vec::new() };
    let mut languages = Vec::new();
    for node in list.list(problems).unwrap_or_default() {
        let Some(text) = node.text(problems) else { continue };
        match Language::parse(text) {
            None => problems.add(
                node.at,
                format!(
                    "{} is no tag of a language (BCP 47), for example en or pt-BR",
                    quote(text.as_bytes())
                ),
            ),
            Some(language) if languages.contains(&language) => {
                problems.add(node.at, format!("{text:?} is named twice; once is enough"));
            }
            Some(language) => languages.push(language),
        }
    }
    if languages.len() > MAX_LANGUAGES {
        let found = languages.len();
        problems.add(list.at, format!("has {found} languages; at most {MAX_LANGUAGES} are kept"));
    }
    languages
}

/// Reads a text that may be in several languages, each by `rule`.
pub(super) fn parse_text(
    node: &DescriptorNode<'_>,
    languages: &[Language],
    rule: fn(&DescriptorNode<'_>, &mut DescriptorProblems) -> Option<String>,
    problems: &mut DescriptorProblems,
) -> Option<Text> {
    if !node.value.is_object() {
        return rule(node, problems).map(|text| Text { text, ..Text::default() });
    }
    let Some(first) = languages.first() else {
        problems.add(
            node.at.clone(),
            "is an object of texts by language; name the languages in `languages` of the package, the main one first",
        );
        return None;
    };
    let mut text = Text::default();
    for key in node.object(problems)?.keys() {
        let Some(language) = Language::parse(key).filter(|tag| languages.contains(tag)) else {
            let known: Vec<&str> = languages.iter().map(Language::as_str).collect();
            problems.add(
                node.member_path(key),
                format!(
                    "is none of the package's languages {}; add it to `languages`",
                    known.join(", ")
                ),
            );
            continue;
        };
        let translated = node.get(key).and_then(|member| rule(&member, problems));
        let Some(translated) = translated else { continue };
        let earlier = if language == *first {
            std::mem::replace(&mut text.text, translated)
        } else {
            text.translations.insert(language, translated).unwrap_or_default()
        };
        if !earlier.is_empty() {
            problems.add(node.member_path(key), "is a language that is there twice; leave one out");
        }
    }
    if text.text.is_empty() {
        problems.add(
            node.at.clone(),
            format!("has no text in {}, the first language; give it one", first.as_str()),
        );
        return None;
    }
    Some(text)
}

/// Reads `status`, by column.
pub(super) fn parse_status(
    node: &DescriptorNode<'_>,
    schema: &TableSchema,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> BTreeMap<String, StatusColumn> {
    let mut columns = BTreeMap::new();
    for (name, member) in members(node, "status", schema, problems) {
        member.refuse_other_members(&["of", "codes"], problems);
        let Some(of) = member.require("of", "the list of columns that it speaks of", problems)
        else {
            continue;
        };
        let nodes = of.list(problems).unwrap_or_default();
        let named = table_schema::columns(&nodes, schema, problems);
        if nodes.is_empty() {
            problems.add(of.at, "is empty; name the columns that it speaks of");
        }
        let codes = member
            .require("codes", "sdmx-obs, sdmx-conf or a list of codes", problems)
            .and_then(|codes| parse_codes(&codes, languages, problems));
        if let Some(codes) = codes.filter(|_| !named.is_empty()) {
            columns.insert(name, StatusColumn { of: named, codes });
        }
    }
    columns
}

fn parse_codes(
    node: &DescriptorNode<'_>,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> Option<StatusCodes> {
    if let Some(name) = node.value.as_str() {
        let codes = StatusCodes::named(name);
        if codes.is_none() {
            let sentence = format!(
                "{name:?} is no list of statuses; write sdmx-obs, sdmx-conf or a list of codes"
            );
            problems.add(node.at.clone(), sentence);
        }
        return codes;
    }
    let mut codes: Vec<ListedCode> = Vec::new();
    let nodes = node.list(problems)?;
    if nodes.is_empty() || nodes.len() > MAX_LISTED_CODES {
        let found = nodes.len();
        problems
            .add(node.at.clone(), format!("has {found} codes; 1 to {MAX_LISTED_CODES} are taken"));
    }
    for node in nodes {
        node.refuse_other_members(&["code", "label", "confidential"], problems);
        let code = node
            .require("code", "the value that stands in the column", problems)
            .and_then(|code| text_rules::line(&code, problems));
        let label = node
            .get("label")
            .and_then(|label| parse_text(&label, languages, text_rules::line, problems));
        let confidential = node.get("confidential").and_then(|said| said.boolean(problems));
        let Some(code) = code else { continue };
        if codes.iter().any(|earlier| earlier.code == code) {
            problems.add(node.at, format!("{code:?} is listed twice; once is enough"));
            continue;
        }
        codes.push(ListedCode { code, label, confidential: confidential.unwrap_or(false) });
    }
    Some(StatusCodes::Own(codes))
}

/// Checks columns of statuses against the purposes of all columns.
pub(super) fn check_status(columns: &[Column], problems: &mut DescriptorProblems) {
    let find = |name: &str| columns.iter().find(|column| column.name == name);
    let mut spoken_of = BTreeSet::new();
    for column in columns {
        let Some(status) = column.status() else { continue };
        let at = format!("yearbook.status.{}", column.name);
        if column.role != ColumnRole::Status || column.column_type != ColumnType::String {
            problems.add(
                at,
                format!(
                    "column {:?} must be text, and neither a dimension nor part of the primary key, to hold statuses",
                    column.name
                ),
            );
            continue;
        }
        for name in &status.of {
            if find(name).is_some_and(|of| of.role != ColumnRole::Value) {
                problems.add(format!("{at}.of"), format!("column {name:?} holds no values"));
            } else if !spoken_of.insert((name.clone(), status.codes.name())) {
                problems.add(
                    format!("{at}.of"),
                    format!("column {name:?} has another column with statuses of such a list"),
                );
            }
        }
    }
}

/// Reads `labels`, by column.
pub(super) fn parse_labels(
    node: &DescriptorNode<'_>,
    schema: &TableSchema,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> PackageLabels {
    let mut columns = PackageLabels::new();
    let mut bytes = 0;
    for (name, member) in members(node, "labels", schema, problems) {
        let Some(object) = member.object(problems) else { continue };
        let from = member.get("from").filter(|from| from.value.is_string());
        if let (Some(from), 1) = (&from, object.len()) {
            let named = table_schema::columns(std::slice::from_ref(from), schema, problems).pop();
            columns.extend(named.map(|from| (name, LabelSource::Column { from })));
            continue;
        }
        if from.is_some_and(|from| from.value.as_str().is_some_and(|of| schema.find(of).is_some()))
        {
            problems.add(
                member.member_path("from"),
                "names a column, so it stands alone; leave the labels beside it out",
            );
            continue;
        }
        let Some(column_type) = schema.find(&name).map(|field| field.column_type) else { continue };
        if object.len() > MAX_LABELS {
            let found = object.len();
            problems.add(member.at, format!("has {found} labels; at most {MAX_LABELS} are kept"));
            continue;
        }
        let mut labels = ValueTexts::new();
        for key in object.keys() {
            let Some(value) = canonical(key, column_type) else {
                let kind = column_type.as_str();
                let key = quote(key.as_bytes());
                problems.add(member.at.clone(), format!("{key} is no value of type {kind}"));
                continue;
            };
            let Some(label) = member
                .get(key)
                .and_then(|label| parse_text(&label, languages, text_rules::parse_label, problems))
            else {
                continue;
            };
            bytes += value.len() + label.bytes();
            if labels.insert(value, label).is_some() {
                problems.add(member.member_path(key), "is a value that is there twice");
            }
        }
        columns.insert(name, LabelSource::Listed(labels));
    }
    if bytes > MAX_LABEL_BYTES {
        let at = node.member_path("labels");
        problems.add(at, format!("has {bytes} bytes; at most {MAX_LABEL_BYTES} are kept"));
    }
    columns
}

/// The text of a value as `/values` writes it. `None` for what the type does not have.
fn canonical(text: &str, column_type: ColumnType) -> Option<String> {
    match column_type {
        // Numbers have no labels, which is said of the column.
        ColumnType::String | ColumnType::Number => Some(text.to_owned()),
        ColumnType::Integer => text.parse::<i64>().ok().map(|number| number.to_string()),
        ColumnType::Boolean => matches!(text, "true" | "false").then(|| text.to_owned()),
        ColumnType::Date => Date::parse(text).map(|date| date.to_string()),
    }
}

/// Checks labelled columns against the purposes of all columns.
pub(super) fn check_labels(
    labels: &PackageLabels,
    columns: &[Column],
    problems: &mut DescriptorProblems,
) {
    let find = |name: &str| columns.iter().find(|column| column.name == name);
    for (name, source) in labels {
        let at = format!("yearbook.labels.{name}");
        let measures = |column: &Column| {
            matches!(column.role, ColumnRole::Value | ColumnRole::Geometry)
                || column.column_type == ColumnType::Number
        };
        if find(name).is_some_and(measures) {
            problems.add(at, format!("column {name:?} measures; only codes have labels"));
        } else if let LabelSource::Column { from } = source
            && (find(from).is_some_and(|from| from.column_type != ColumnType::String)
                || from == name)
        {
            problems.add(at, format!("{from:?} must be another column, and hold text"));
        }
    }
}

/// Members of an object under `"yearbook"` whose keys are columns.
fn members<'a>(
    node: &DescriptorNode<'a>,
    key: &str,
    schema: &TableSchema,
    problems: &mut DescriptorProblems,
) -> Vec<(String, DescriptorNode<'a>)> {
    let Some(object) = node.get(key) else { return Vec::new() };
    let mut found = Vec::new();
    for name in object.object(problems).into_iter().flatten().map(|(name, _)| name) {
        let Some(member) = object.get(name) else { continue };
        // The place is that of the key; the words are those for a list of columns.
        let name = Value::String(name.clone());
        let node = DescriptorNode { at: member.at.clone(), value: &name };
        let named = table_schema::columns(&[node], schema, problems).pop();
        found.extend(named.map(|name| (name, member)));
    }
    found
}
