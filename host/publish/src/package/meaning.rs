//! Meaning of values in a package (contract-21-meaning): `languages`, and `status`, `labels` and
//! `notes` under `"yearbook"`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use yearbook_domain::meaning::{
    Language, ListedCode, MAX_LABEL_BYTES, MAX_LABELS, Note, StatusCodes, StatusColumn, Text,
    ValueTexts,
};
use yearbook_domain::{Column, ColumnRole, ColumnType, Date};

use super::node::{DescriptorNode, DescriptorProblems};
use super::table_schema::{self, TableSchema};
use super::text_rules;

/// Notes at most.
const MAX_NOTES: usize = 200;

/// Bytes of a note at most.
const MAX_NOTE_BYTES: usize = 2_000;

/// Bytes of all notes at most.
const MAX_NOTES_BYTES: usize = 64 << 10;

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
                format!("{text:?} is no tag of a language (BCP 47), for example en or pt-BR"),
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
        match translated {
            Some(translated) if language == *first => text.text = translated,
            Some(translated) => {
                text.translations.insert(language, translated);
            }
            None => {}
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
        let named = object.get("from").filter(|_| object.len() == 1).and_then(Value::as_str);
        if let Some(from) = named.filter(|from| schema.find(from).is_some()) {
            columns.insert(name, LabelSource::Column { from: from.to_owned() });
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
                problems
                    .add(member.member_path(key), format!("{key:?} is no value of type {kind}"));
                continue;
            };
            let Some(label) = member
                .get(key)
                .and_then(|label| parse_text(&label, languages, text_rules::parse_prose, problems))
            else {
                continue;
            };
            bytes += value.len() + label.bytes();
            labels.insert(value, label);
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

/// Reads `notes`. Conditions are read as text; the columns judge them ([`check_notes`]).
pub(super) fn parse_notes(
    node: &DescriptorNode<'_>,
    schema: &TableSchema,
    languages: &[Language],
    problems: &mut DescriptorProblems,
) -> Vec<Note> {
    let Some(list) = node.get("notes") else { return Vec::new() };
    let nodes = list.list(problems).unwrap_or_default();
    if nodes.len() > MAX_NOTES {
        let found = nodes.len();
        problems.add(list.at.clone(), format!("has {found} notes; at most {MAX_NOTES} are kept"));
    }
    let mut notes = Vec::new();
    for node in nodes {
        let text = node
            .require("text", "what the note says", problems)
            .and_then(|text| parse_text(&text, languages, text_rules::parse_prose, problems));
        let column = node
            .get("column")
            .and_then(|column| table_schema::columns(&[column], schema, problems).pop());
        let conditions = parse_conditions(&node, problems);
        let Some(text) = text else { continue };
        if text.text.len() > MAX_NOTE_BYTES
            || text.translations.values().any(|text| text.len() > MAX_NOTE_BYTES)
        {
            problems.add(node.at, format!("is longer than {MAX_NOTE_BYTES} bytes; shorten it"));
            continue;
        }
        notes.push(Note { text, column, conditions });
    }
    let bytes: usize = notes.iter().map(|note| note.text.bytes()).sum();
    if bytes > MAX_NOTES_BYTES {
        problems.add(list.at, format!("has {bytes} bytes; at most {MAX_NOTES_BYTES} are kept"));
    }
    notes
}

fn parse_conditions(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> BTreeMap<String, Vec<String>> {
    let mut conditions = BTreeMap::new();
    let Some(node) = node.get("where") else { return conditions };
    for name in node.object(problems).into_iter().flatten().map(|(name, _)| name) {
        let Some(member) = node.get(name) else { continue };
        let values = if member.value.is_array() {
            member.list(problems).unwrap_or_default()
        } else {
            vec![member]
        };
        let mut texts = Vec::new();
        for value in values {
            match value.value {
                Value::String(text) => texts.push(text.clone()),
                Value::Number(number) => texts.push(number.to_string()),
                Value::Bool(said) => texts.push(said.to_string()),
                _ => problems.add(value.at, "must be text, a number, true or false"),
            }
        }
        conditions.insert(name.clone(), texts);
    }
    conditions
}

/// Checks the conditions of notes as those of a request.
pub(super) fn check_notes(notes: &[Note], columns: &[Column], problems: &mut DescriptorProblems) {
    for (position, note) in notes.iter().enumerate() {
        let pairs: Vec<(String, String)> = note
            .conditions
            .iter()
            .flat_map(|(name, values)| {
                values.iter().map(move |value| (format!("where.{name}"), value.clone()))
            })
            .collect();
        for problem in yearbook_domain::read_plan::judge_conditions(columns, &pairs) {
            let at = format!("yearbook.notes[{position}].where");
            problems.add(at, format!("{}: {}", problem.loc[1], problem.msg));
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
