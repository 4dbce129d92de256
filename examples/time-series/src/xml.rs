//! The few bytes of XML that the API is made of: elements without content but attributes.

use yearbook_sdk::adapter::{Document, Stop};

/// The beginning of a document.
pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n";
/// The media type of all documents.
pub(crate) const MEDIA_TYPE: &str = "text/xml; charset=utf-8";

/// The tag of an element with attributes, which `end` ends: `>` or `/>`.
pub(crate) fn tag(name: &str, attributes: &[(&str, &str)], end: &str) -> String {
    let mut tag = format!("<{name}");
    for (attribute, value) in attributes {
        tag.push_str(&format!(" {attribute}=\"{}\"", escape(value)));
    }
    tag + end
}

/// Text of the publisher may hold any character; XML 1.0 has no place for most controls.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(character))),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A document around some elements.
pub(crate) fn document(name: &str, attributes: &[(&str, &str)], elements: &[String]) -> Document {
    let open = tag(name, attributes, ">\n");
    Document::new(200, MEDIA_TYPE, format!("{DECLARATION}{open}{}</{name}>\n", elements.concat()))
}

/// A failure, as this API's clients read it.
pub(crate) fn error(status: u16, sentence: &str) -> Document {
    let attributes = [("code", &*status.to_string()), ("message", sentence)];
    Document::new(status, MEDIA_TYPE, format!("{DECLARATION}{}\n", tag("error", &attributes, "/>")))
}

/// Ends the call with a failure that is the client's.
pub(crate) fn bad_request(sentence: &str) -> Stop {
    error(400, &format!("Bad Request. {sentence}")).into()
}
