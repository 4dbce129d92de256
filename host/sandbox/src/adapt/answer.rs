//! Answers of a call, checked by the rules that the interface states. What a client can bring
//! about by what it asks, a condition too many for one, is no broken rule: the host refuses it as
//! on `/v1`.

use super::catalogue::{DatasetQuery, Question, Selection, ValueQuery, Version};
use super::document::{check_document, check_links, check_shown_type};
use super::input::{AdapterCall, AdapterInput};
use super::{PluginAdapter, adapter as guest};
use crate::guest::parameters::{check_name, quote};

/// Most questions of a call; those beyond 64 are answered with a refusal.
const QUESTIONS: usize = 1024;
/// Most bytes of text of a selection, and most entries of its lists, of whatever level: more than a
/// body of 64 KiB can name, so that no client brings an adapter to break the rule. What a call
/// returns is bounded by `sandbox.output_bytes_per_call` too.
const SELECTION_BYTES: usize = 256 << 10;
const SELECTION_ITEMS: usize = 32 << 10;
/// Most options of a format.
const OPTIONS: usize = 64;
/// Bytes around rows, on each side, and segments after them.
const WRAPPING_BYTES: usize = 64 << 10;
const SEGMENTS: usize = 16;
/// Longest name of a file.
const FILE_NAME_BYTES: usize = 128;

/// Answer of one call of an adapter, checked.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a call, which is taken apart at once")]
pub enum AdapterAnswer {
    /// Of `answer`.
    Reply(guest::Reply),
    /// Of `frame`.
    Framing(guest::Framing),
    /// Of `refuse`.
    Document(guest::Document),
}

impl AdapterAnswer {
    /// Returns whether it asks for more.
    pub(super) fn asks(&self) -> bool {
        matches!(self, Self::Reply(guest::Reply::Ask(_)))
    }

    /// Bytes that the guest wrote.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Reply(guest::Reply::Document(document))
            | Self::Framing(guest::Framing::Instead(document))
            | Self::Document(document) => document.body.len(),
            Self::Framing(guest::Framing::Wrap(wrapping)) => wrapping_bytes(wrapping),
            Self::Reply(_) => 0,
        }
    }

    /// Checks it as an answer to `input`.
    ///
    /// # Errors
    /// A sentence that names the rule.
    pub(super) fn check(
        &self,
        adapter: &PluginAdapter,
        input: &AdapterInput,
    ) -> Result<(), String> {
        let base = &input.request.base;
        match (self, &input.call) {
            (Self::Reply(guest::Reply::Ask(questions)), _) => check_questions(questions),
            (Self::Reply(guest::Reply::Document(document)), _) => {
                check_document(document, base, None)
            }
            (Self::Reply(guest::Reply::Rows(rows)), _) => {
                check_rows(rows, adapter.encoder().is_some())
            }
            (Self::Framing(guest::Framing::Wrap(wrapping)), _) => {
                if wrapping.after.len() > SEGMENTS {
                    return Err(format!("more than {SEGMENTS} segments after rows"));
                }
                if wrapping.before.len().max(segment_bytes(wrapping)) > WRAPPING_BYTES {
                    return Err(format!("more than {WRAPPING_BYTES} bytes before or after rows"));
                }
                check_links(&wrapping.links, base)
            }
            (Self::Framing(guest::Framing::Instead(document)), AdapterCall::Frame(_, known)) => {
                if known.rows != Some(0) {
                    return Err("a document in place of rows that there are".to_owned());
                }
                check_document(document, base, None)
            }
            (Self::Document(document), AdapterCall::Refuse(refusal)) => {
                check_document(document, base, Some(refusal.status))
            }
            _ => Err("what answers another call".to_owned()),
        }
    }
}

fn segment_bytes(wrapping: &guest::Wrapping) -> usize {
    let bytes = |segment: &guest::Segment| match segment {
        guest::Segment::Bytes(bytes) => bytes.len(),
        guest::Segment::RowCount => 0,
    };
    wrapping.after.iter().map(bytes).sum()
}

fn wrapping_bytes(wrapping: &guest::Wrapping) -> usize {
    wrapping.before.len() + segment_bytes(wrapping)
}

fn check_questions(questions: &[Question]) -> Result<(), String> {
    if questions.is_empty() || questions.len() > QUESTIONS {
        return Err(format!("{} questions; 1 to {QUESTIONS} are taken", questions.len()));
    }
    for question in questions {
        let mut size = Size::default();
        let named = match question {
            Question::Datasets(query) => size.dataset_query(query),
            Question::Dataset((name, language)) => size.text([name]).text(language),
            Question::Formats => &mut size,
            Question::Citation(selection)
            | Question::Count(selection)
            | Question::Rows(selection) => size.selection(selection),
            Question::Values(ValueQuery { selection, columns, language, after, .. }) => {
                size.selection(selection).text(columns).text(language).text(after)
            }
        };
        named.check("questions")?;
    }
    Ok(())
}

fn check_rows(rows: &guest::Rows, has_format: bool) -> Result<(), String> {
    match &rows.format {
        Some(format) => check_name("format", format, b"_-")?,
        None if has_format => {}
        None => return Err("rows without a format, and it brings none of its own".to_owned()),
    }
    if rows.options.len() > OPTIONS {
        return Err(format!("more than {OPTIONS} options of a format"));
    }
    if let Some(media_type) = &rows.media_type {
        check_shown_type(media_type)?;
    }
    if let Some(name) = &rows.file_name
        && (name.is_empty()
            || name.len() > FILE_NAME_BYTES
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)))
    {
        return Err(format!(
            "file name {} is not 1 to {FILE_NAME_BYTES} letters, digits, `.`, `_` and `-`",
            quote(name)
        ));
    }
    let mut size = Size::default();
    for (name, value) in &rows.options {
        size.text([name, value]);
    }
    size.selection(&rows.selection).check("a selection")
}

/// Size of what an adapter names, whatever it is.
#[derive(Default)]
struct Size {
    bytes: usize,
    items: usize,
}

impl Size {
    fn text<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) -> &mut Self {
        for text in texts {
            self.bytes += text.len();
            self.items += 1;
        }
        self
    }

    fn dataset_query(&mut self, query: &DatasetQuery) -> &mut Self {
        let DatasetQuery { search, namespace, language, after, .. } = query;
        self.text(search).text(namespace).text(language).text(after)
    }

    fn selection(&mut self, selection: &Selection) -> &mut Self {
        let Selection { dataset, version, start, end, search, columns, cursor, .. } = selection;
        if let Version::Snapshot(text) | Version::AsOf(text) | Version::ChangesSince(text) = version
        {
            self.text([text]);
        }
        self.text([dataset]).text(start).text(end).text(search).text(cursor);
        self.text(columns.iter().flatten());
        for condition in &selection.conditions {
            self.text([&condition.column]).text(&condition.values);
        }
        self.text(selection.sort.iter().map(|(column, _)| column));
        for applied in &selection.apply {
            self.text([&applied.transform]);
            for (name, value) in &applied.options {
                self.text([name, value]);
            }
        }
        self
    }

    fn check(&self, what: &str) -> Result<(), String> {
        if self.bytes > SELECTION_BYTES || self.items > SELECTION_ITEMS {
            return Err(format!(
                "{what} of more than {SELECTION_BYTES} bytes or {SELECTION_ITEMS} entries"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::{Condition, Operator, Pick};
    use super::*;

    fn selection(version: Version, values: usize) -> Selection {
        let values = vec!["1".to_owned(); values];
        let column = "region".to_owned();
        Selection {
            dataset: "harvest".to_owned(),
            version,
            start: None,
            end: None,
            search: None,
            conditions: vec![Condition { column, operator: Operator::Equal, values }],
            bbox: None,
            row: None,
            columns: None,
            geometry: true,
            row_numbers: false,
            sort: Vec::new(),
            pick: Pick::All,
            apply: Vec::new(),
            limit: None,
            skip: 0,
            cursor: None,
        }
    }

    #[test]
    fn what_a_body_can_name_is_no_broken_rule_however_often_it_is_asked_contract_17() {
        // A number and a comma each.
        let most = selection(Version::Current, (32 << 10) - 100);
        assert_eq!(check_questions(&vec![Question::Count(most.clone()); 64]), Ok(()));
        let rows = guest::Rows {
            selection: most,
            format: Some("csv".to_owned()),
            options: Vec::new(),
            media_type: None,
            file_name: None,
        };
        assert_eq!(check_rows(&rows, false), Ok(()));
    }

    #[test]
    fn each_question_is_bounded_contract_17() {
        let long = Version::AsOf("x".repeat(SELECTION_BYTES));
        for much in [selection(Version::Current, SELECTION_ITEMS), selection(long, 1)] {
            let found = check_questions(&[Question::Formats, Question::Rows(much)]);
            assert!(found.is_err_and(|rule| rule.contains("questions of more than")));
        }
    }
}
