//! Tags of XML out of bytes that come in pieces. Of text between tags the beginning is kept, and a
//! document type is refused, so nothing is ever expanded. Memory holds one tag and the names of
//! what is open.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use memchr::{memchr, memchr_iter};
use quick_xml::XmlVersion;
use quick_xml::events::attributes::{Attribute, Attributes};
use quick_xml::parser::{CommentParser, ElementParser, Parser as _, PiParser};
use yearbook_sdk::reader::{FilePlace, ReadRefusal};

/// Most bytes of a tag or comment.
const TAG_BYTES: usize = 8 << 20;

/// Most bytes of an element's name.
const NAME_BYTES: usize = 256;

/// Most bytes of text that are kept.
const TEXT_BYTES: usize = 256;

/// Most elements inside each other.
const DEPTH: usize = 32;

/// A byte order mark, which is no content.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The tags of a file.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    /// Bytes from `start` on; those before it are dropped with the next push.
    buffer: Vec<u8>,
    start: usize,
    /// The markup that begins at `start`, and how many bytes of it were looked at.
    markup: Option<Markup>,
    scanned: usize,
    is_last: bool,
    /// Set once the first element was there.
    begun: bool,
    /// Lines before `start`.
    lines: u64,
    /// Names of open elements.
    open: Vec<String>,
    /// The beginning of the text before the last tag, or of that behind it.
    text: Vec<u8>,
    is_text_old: bool,
}

/// Search for the end of markup.
#[derive(Debug)]
enum Markup {
    Tag(ElementParser),
    Comment(CommentParser),
    Instruction(PiParser),
}

/// A tag, valid until the next is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tag<'a> {
    /// Line where it begins, from 1.
    pub(crate) line: u64,
    /// True for `</a>`.
    pub(crate) is_end: bool,
    /// True for `<a/>`.
    pub(crate) is_empty: bool,
    /// Name and attributes.
    text: &'a str,
    name_bytes: usize,
}

impl Tags {
    /// Takes the next bytes, and whether they are the last ones.
    pub(crate) fn push(&mut self, bytes: &[u8], is_last: bool) {
        self.buffer.drain(..mem::take(&mut self.start));
        self.buffer.extend_from_slice(bytes);
        self.is_last = is_last;
    }

    /// The next tag; `None` where more bytes are needed, or at the end.
    ///
    /// # Errors
    /// [`ReadRefusal`] for what is no XML, too large, too deep or cut off.
    pub(crate) fn read(&mut self) -> Result<Option<Tag<'_>>, ReadRefusal> {
        let (range, line) = loop {
            let Some((range, line, is_tag)) = self.find_end()? else { return Ok(None) };
            if is_tag {
                break (range, line);
            }
            check_aside(&String::from_utf8_lossy(&self.buffer[range]), line)?;
        };
        self.is_text_old = true;
        let text = std::str::from_utf8(&self.buffer[range]);
        let text = text.map_err(|_| refusal(line, "is not UTF-8; convert the file"))?;
        check_characters(text, line)?;
        tag(text, line, &mut self.open, &mut self.begun).map(Some)
    }

    /// The bytes between the brackets of the next markup, which is skipped; its line, and whether
    /// it is a tag.
    fn find_end(&mut self) -> Result<Option<(Range<usize>, u64, bool)>, ReadRefusal> {
        if self.markup.is_none() && !self.find_markup()? {
            return Ok(None);
        }
        let from = self.start + self.scanned;
        let rest = self.buffer.get(from..).unwrap_or_default();
        let end = match &mut self.markup {
            Some(Markup::Comment(parser)) => parser.feed(rest),
            Some(Markup::Instruction(parser)) => parser.feed(rest).map(|at| at + 1),
            Some(Markup::Tag(parser)) => parser.feed(rest).map(|at| at + 1),
            None => None,
        };
        let length = end.map_or(self.buffer.len(), |end| from + end) - self.start;
        if length > TAG_BYTES {
            return self.refuse(match &self.markup {
                Some(Markup::Tag(_)) => {
                    format!(
                        "begins a tag of more than {TAG_BYTES} bytes; a quote may not be closed"
                    )
                }
                _ => format!("begins a comment of more than {TAG_BYTES} bytes; take it out"),
            });
        }
        if end.is_none() {
            self.scanned = length;
            let cut = "begins a tag that does not end; the file is cut off";
            return if self.is_last { self.refuse(cut) } else { Ok(None) };
        }
        let (first, line) = (self.start + 1, self.lines + 1);
        self.skip(length);
        let is_tag = matches!(self.markup.take(), Some(Markup::Tag(_)));
        Ok(Some((first..self.start - 1, line, is_tag)))
    }

    /// The beginning of the text before the tag that was read last.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.trim_ascii()
    }

    /// Skips text up to the next markup; false where more bytes are needed, or at the end.
    fn find_markup(&mut self) -> Result<bool, ReadRefusal> {
        if mem::take(&mut self.is_text_old) {
            self.text.clear();
        }
        let rest = &self.buffer[self.start..];
        if !self.begun && matches!(rest, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, ..] | [_, 0, ..])
        {
            return self.refuse("is UTF-16, not UTF-8; save the file as UTF-8");
        }
        let found = memchr(b'<', rest);
        let text = &rest[..found.unwrap_or(rest.len())];
        if self.open.is_empty() {
            let content = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii();
            // A byte order mark may come in pieces.
            let may_go_on = found.is_none() && !self.is_last;
            if may_go_on && !content.is_empty() && BYTE_ORDER_MARK.starts_with(content) {
                return Ok(false);
            }
            if !content.is_empty() {
                let blank = text.len() - text.trim_ascii_start().len();
                self.skip(blank);
                return self.refuse("has text outside all elements; the file is no XML");
            }
        }
        let kept = text.len().min(TEXT_BYTES.saturating_sub(self.text.len()));
        self.text.extend_from_slice(&text[..kept]);
        let length = text.len();
        self.skip(length);
        let Some(_) = found else {
            return if self.is_last { self.finish() } else { Ok(false) };
        };
        let rest = &self.buffer[self.start..];
        let (markup, scanned) = match rest {
            [_, b'?', ..] => (Markup::Instruction(PiParser::default()), 2),
            [_, b'!', b'-', b'-', ..] => (Markup::Comment(CommentParser::default()), 4),
            [_] | [_, b'!'] | [_, b'!', b'-'] if !self.is_last => return Ok(false),
            [_, b'!', b'[', ..] => return self.refuse("has a CDATA section, which is no data"),
            [_, b'!', ..] => {
                return self.refuse(
                    "has a document type or another declaration, which data of SDMX does not have; take it out",
                );
            }
            _ => (Markup::Tag(ElementParser::default()), 1),
        };
        self.markup = Some(markup);
        self.scanned = scanned;
        Ok(true)
    }

    fn finish(&self) -> Result<bool, ReadRefusal> {
        match self.open.last() {
            Some(name) => self.refuse(format!("ends inside <{name}>; the file is cut off")),
            None if !self.begun => self.refuse("the file is empty; SDMX-ML has an element"),
            None => Ok(false),
        }
    }

    fn skip(&mut self, length: usize) {
        let skipped = &self.buffer[self.start..self.start + length];
        self.lines += memchr_iter(b'\n', skipped).count() as u64;
        self.start += length;
        self.scanned = 0;
    }

    fn refuse<T>(&self, sentence: impl Into<String>) -> Result<T, ReadRefusal> {
        Err(refusal(self.lines + 1, sentence))
    }
}

/// A fault of the file.
pub(crate) fn refusal(line: u64, sentence: impl Into<String>) -> ReadRefusal {
    ReadRefusal::malformed(FilePlace::line(line, ""), sentence)
}

/// The tag of the text between its brackets; `open` and `begun` follow.
fn tag<'a>(
    text: &'a str,
    line: u64,
    open: &mut Vec<String>,
    begun: &mut bool,
) -> Result<Tag<'a>, ReadRefusal> {
    let (is_end, text) = text.strip_prefix('/').map_or((false, text), |text| (true, text));
    let (is_empty, text) = text.strip_suffix('/').map_or((false, text), |text| (true, text));
    let name_bytes = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
    let name = &text[..name_bytes];
    if name.is_empty() || name_bytes > NAME_BYTES || name.contains(['"', '\'', '<', '=']) {
        return Err(refusal(line, "has a tag without a name; the file is no XML"));
    }
    if is_end {
        match open.pop() {
            Some(last) if last == name && !is_empty => {}
            Some(last) => {
                return Err(refusal(line, format!("has </{name}> where <{last}> is open")));
            }
            None => return Err(refusal(line, format!("has </{name}> where nothing is open"))),
        }
    } else if mem::replace(begun, true) && open.is_empty() {
        return Err(refusal(line, format!("has <{name}> behind the end of the message")));
    } else if open.len() >= DEPTH {
        return Err(refusal(line, format!("has more than {DEPTH} elements inside each other")));
    } else if !is_empty {
        open.push(name.to_owned());
    }
    Ok(Tag { line, is_end, is_empty, text, name_bytes })
}

/// True for what is no character of XML 1.0.
fn is_no_character(c: char) -> bool {
    (c < ' ' && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Refuses `<`, characters that XML does not have, and attributes without a blank between them.
fn check_characters(text: &str, line: u64) -> Result<(), ReadRefusal> {
    let mut quote = None;
    let mut was_closed = false;
    for byte in text.bytes() {
        let is_control = byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
        if byte == b'<' || is_control {
            let what = if is_control { "a control character" } else { "`<`" };
            return Err(refusal(line, format!("has {what} in a tag; the file is no XML")));
        }
        if was_closed && !byte.is_ascii_whitespace() && byte != b'/' {
            return Err(refusal(line, "has attributes without a blank between them"));
        }
        was_closed = quote == Some(byte);
        if was_closed {
            quote = None;
        } else if quote.is_none() && matches!(byte, b'"' | b'\'') {
            quote = Some(byte);
        }
    }
    Ok(())
}

/// Refuses a declaration of another encoding, and a comment with `--`.
fn check_aside(text: &str, line: u64) -> Result<(), ReadRefusal> {
    let comment = text.strip_prefix("!--").and_then(|text| text.strip_suffix("--"));
    if comment.is_some_and(|comment| comment.contains("--") || comment.ends_with('-')) {
        return Err(refusal(line, "has a comment with `--` in it; the file is no XML"));
    }
    let Some(declaration) = text.strip_prefix("?xml ") else { return Ok(()) };
    let declared = Attributes::new(declaration.trim_end_matches('?'), 0);
    let encoding = declared.flatten().find(|attribute| attribute.key.0 == b"encoding");
    match encoding.map(|attribute| String::from_utf8_lossy(&attribute.value).to_uppercase()) {
        Some(name) if name != "UTF-8" && name != "US-ASCII" => {
            Err(refusal(line, format!("is {name}, not UTF-8; convert the file")))
        }
        _ => Ok(()),
    }
}

/// The name without its prefix.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

impl<'a> Tag<'a> {
    /// The element's name without its prefix.
    pub(crate) fn local_name(&self) -> &'a str {
        local(&self.text[..self.name_bytes])
    }

    /// The attributes, each with its name.
    pub(crate) fn attributes(
        &self,
    ) -> impl Iterator<Item = Result<(&'a str, Attribute<'a>), ReadRefusal>> + use<'a> {
        let line = self.line;
        let mut attributes = Attributes::new(self.text, self.name_bytes);
        // To compare each with each takes too long; components are checked where they are kept.
        attributes.with_checks(false);
        attributes.map(move |attribute| {
            let attribute = attribute.map_err(|fault| refusal(line, fault.to_string()))?;
            let name = std::str::from_utf8(attribute.key.0).unwrap_or_default();
            Ok((name, attribute))
        })
    }

    /// The text of an attribute of this tag.
    ///
    /// # Errors
    /// [`ReadRefusal`] for an entity or a character that XML does not have by itself.
    pub(crate) fn text_of(&self, attribute: &Attribute<'a>) -> Result<Cow<'a, str>, ReadRefusal> {
        let text = attribute.normalized_value(XmlVersion::Explicit1_0);
        // The fault repeats a part of the text, which may be secret.
        let text = text.ok().filter(|text| !text.contains(is_no_character));
        text.ok_or_else(|| {
            let name = String::from_utf8_lossy(attribute.key.0);
            let sentence = "an entity or a character that XML does not have, or an `&` alone";
            refusal(self.line, format!("has {name} with {sentence}"))
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn nothing_is_held_of_what_was_read_or_is_no_tag_contract_7() {
        let mut tags = Tags::default();
        let pieces = ["\n".repeat(1 << 16), "<a>".to_owned(), "text ".repeat(1 << 14)];
        let comments = ["<!-- -->".repeat(1 << 13), "<b c=\"d\"/>".repeat(1 << 13)];
        let many = std::iter::repeat_n(pieces[2..].iter().chain(&comments), 64).flatten();
        let mut read = 0;
        for piece in pieces[..2].iter().chain(many) {
            tags.push(piece.as_bytes(), false);
            while tags.read().unwrap().is_some() {
                read += 1;
            }
            assert!(tags.buffer.capacity() <= 1 << 18, "{}", tags.buffer.capacity());
        }
        assert_eq!((read, tags.lines), (1 + 64 * (1 << 13), 1 << 16));
    }
}
