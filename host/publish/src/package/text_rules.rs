//! Rules for the words of a descriptor: what reaches a response header is one line without control
//! characters (contract-4-control, contract-7-descriptor), what does not may be prose.

use yearbook_domain::name;

use super::node::{DescriptorNode, DescriptorProblems};

/// Longest text that reaches a header, in bytes: clients and proxies commonly allow 8 KiB for all
/// headers together.
pub(super) const MAX_HEADER_BYTES: usize = 2048;

/// Longest prose, in bytes: it is sent with every description of the dataset.
const MAX_PROSE_BYTES: usize = 64 << 10;

const BLANK: &str = "is blank; say something or leave it out";

/// A line that reaches a header: not blank, no control character, no white space at its ends (HTTP
/// strips it there).
pub(super) fn line(node: &DescriptorNode<'_>, problems: &mut DescriptorProblems) -> Option<String> {
    judge_text(node, problems, find_header_fault)
}

/// The text of a node in which `find_fault` finds none.
fn judge_text(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
    find_fault: fn(&str) -> Option<String>,
) -> Option<String> {
    let text = node.text(problems)?;
    match find_fault(text) {
        None => Some(text.to_owned()),
        Some(message) => {
            problems.add(node.at.clone(), message);
            None
        }
    }
}

/// The fault of `text` as a header's value.
pub(super) fn find_header_fault(text: &str) -> Option<String> {
    if let Some((at, control)) = text.chars().enumerate().find(|(_, c)| c.is_control()) {
        let code = u32::from(control);
        return Some(format!(
            "has a control character (U+{code:04X}, character {}), which a response header cannot carry; remove it",
            at + 1
        ));
    }
    if text.trim().is_empty() {
        return Some(BLANK.to_owned());
    }
    if text.trim() != text {
        return Some(
            "starts or ends with white space, which HTTP strips from headers; remove it".to_owned(),
        );
    }
    (text.len() > MAX_HEADER_BYTES).then(|| {
        format!("has {} bytes; a response header takes at most {MAX_HEADER_BYTES}", text.len())
    })
}

/// A title that stands in no descriptor, by the rules of those that do.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse_title(text: &str) -> Result<String, String> {
    find_header_fault(text).map_or_else(|| Ok(text.to_owned()), Err)
}

/// Text for people: line breaks and tabs allowed, other control characters refused (databases and
/// XML cannot hold them).
pub(super) fn parse_prose(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    let text = judge_text(node, problems, find_prose_fault);
    // An empty text says no more than none, and clients should meet one form only.
    text.filter(|text| !text.trim().is_empty())
}

fn find_prose_fault(text: &str) -> Option<String> {
    let control = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    if let Some(control) = control {
        let code = u32::from(control);
        return Some(format!("has a control character (U+{code:04X}); remove it"));
    }
    (text.len() > MAX_PROSE_BYTES)
        .then(|| format!("has {} bytes; at most {MAX_PROSE_BYTES} are kept", text.len()))
}

/// A label of a value: prose that says something.
pub(super) fn parse_label(
    node: &DescriptorNode<'_>,
    problems: &mut DescriptorProblems,
) -> Option<String> {
    judge_text(node, problems, find_label_fault)
}

/// The fault of `text` as a label, wherever it is from.
pub(crate) fn find_label_fault(text: &str) -> Option<String> {
    find_prose_fault(text).or_else(|| text.trim().is_empty().then(|| BLANK.to_owned()))
}

/// Reads a snake_case name with `parse`; a text that is none is a problem with the nearest name.
pub(super) fn parse_snake_case<T>(
    node: &DescriptorNode<'_>,
    parse: impl FnOnce(&str) -> Option<T>,
    problems: &mut DescriptorProblems,
) -> Option<T> {
    let text = node.text(problems)?;
    let parsed = parse(text);
    if parsed.is_none() {
        let (pattern, nearest) = (name::PATTERN, to_snake_case(text));
        let advice = format!("{text:?} does not match {pattern}; try {nearest:?}");
        problems.add(node.at.clone(), advice);
    }
    parsed
}

/// A snake_case name near `text`.
pub(super) fn to_snake_case(text: &str) -> String {
    let mut snake = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => snake.push(c.to_ascii_lowercase()),
            _ if snake.is_empty() || snake.ends_with('_') => {}
            _ => snake.push('_'),
        }
    }
    let snake = snake.trim_matches('_');
    if snake.starts_with(|c: char| c.is_ascii_digit()) {
        format!("x{snake}")
    } else {
        snake.to_owned()
    }
}
