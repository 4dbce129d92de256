//! Footnotes of a package (contract-21-meaning): `notes` under `"yearbook"`.

use std::collections::BTreeMap;

use serde_json::Value;
use yearbook_domain::Column;
use yearbook_domain::meaning::{Language, Note};

use super::meaning::parse_text;
use super::node::{DescriptorNode, DescriptorProblems};
use super::table_schema::{self, TableSchema};
use super::text_rules;

/// Notes at most.
const MAX_NOTES: usize = 200;

/// Bytes of a note at most.
const MAX_NOTE_BYTES: usize = 2_000;

/// Bytes of all notes at most.
const MAX_NOTES_BYTES: usize = 64 << 10;

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
        node.refuse_other_members(&["text", "column", "where"], problems);
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
    let bytes: usize = notes.iter().map(Note::bytes).sum();
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
    for (name, value) in node.object(problems).into_iter().flatten() {
        let member = DescriptorNode { at: node.member_path(name), value };
        let values = if value.is_array() {
            member.list(problems).unwrap_or_default()
        } else {
            vec![member.clone()]
        };
        if values.is_empty() {
            problems.add(member.at, "has no value; give one, or leave the condition out");
        }
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
