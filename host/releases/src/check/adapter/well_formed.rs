//! Bodies that clients parse: JSON and XML, by their media types.

use quick_xml::XmlVersion;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// Reads a body whose media type is one of JSON or XML.
///
/// # Errors
/// A sentence where it cannot be read.
pub(super) fn read(media_type: &str, body: &[u8]) -> Result<(), String> {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        return serde_json::from_slice::<serde_json::Value>(body)
            .map(drop)
            .map_err(|error| error.to_string());
    }
    if matches!(&*essence, "application/xml" | "text/xml") || essence.ends_with("+xml") {
        return read_xml(body);
    }
    Ok(())
}

fn read_xml(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let is_forbidden = |sign: &char| {
        *sign < ' ' && !matches!(sign, '\t' | '\n' | '\r')
            || matches!(sign, '\u{fffe}' | '\u{ffff}')
    };
    if let Some(sign) = text.chars().find(is_forbidden) {
        return Err(format!("XML cannot hold the sign U+{:04X}", u32::from(sign)));
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().enable_all_checks(true);
    let (mut depth, mut roots) = (0_usize, 0_usize);
    loop {
        let at = reader.buffer_position();
        let wrong = |sentence: &dyn std::fmt::Display| format!("{sentence}, at byte {at}");
        let event = reader.read_event().map_err(|error| wrong(&error))?;
        if let Event::Start(tag) | Event::Empty(tag) = &event {
            read_attributes(tag).map_err(|error| wrong(&error))?;
            roots += usize::from(depth == 0);
        }
        match event {
            Event::Eof => break,
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::GeneralRef(name) => {
                let name = String::from_utf8_lossy(&name);
                unescape(&format!("&{name};")).map_err(|error| wrong(&error))?;
            }
            Event::Text(outside) if depth == 0 && !outside.trim_ascii().is_empty() => {
                return Err(wrong(&"text outside of the element"));
            }
            Event::CData(_) if depth == 0 => return Err(wrong(&"text outside of the element")),
            _ => {}
        }
    }
    match (depth, roots) {
        (0, 1) => Ok(()),
        (0, _) => Err(format!("{roots} elements at the top where there must be one")),
        _ => Err("it ends within an element".to_owned()),
    }
}

/// Reads the attributes of a tag.
fn read_attributes(tag: &BytesStart<'_>) -> quick_xml::Result<()> {
    for attribute in tag.attributes() {
        attribute?.normalized_value(XmlVersion::Implicit1_0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_xml_are_read_whole_and_nothing_else_is_contract_17() {
        for (media_type, body) in [
            ("application/json; charset=utf-8", "{\"a\":[1,null]}"),
            ("application/geo+json", "[]"),
            ("application/xml", "<?xml version=\"1.0\"?>\n<a b=\"&lt;&#xA;\"><c/>&amp;x</a>\n"),
            ("Application/Problem+XML", "<a><![CDATA[<]]></a>"),
            ("text/csv", "\"a"),
            ("text/plain", "<"),
        ] {
            assert_eq!(read(media_type, body.as_bytes()), Ok(()), "{media_type}");
        }
        for (media_type, body) in [
            ("application/json", ""),
            ("application/json", "[1,]"),
            ("application/json", "[] []"),
            ("application/sdmx+json", "{\"a\":\"\u{1f}\"}"),
            ("application/xml", ""),
            ("application/xml", "text"),
            ("application/xml", "<a>"),
            ("application/xml", "<a></b>"),
            ("application/xml", "<a/><b/>"),
            ("application/xml", "<a/>x"),
            ("application/xml", "<a b=c/>"),
            ("application/xml", "<a b=\"1\" b=\"2\"/>"),
            ("application/xml", "<a b=\"&nbsp;\"/>"),
            ("application/xml", "<a>&nbsp;</a>"),
            ("application/xml", "<a>Māori & more</a>"),
            ("text/xml", "<a>\u{1f}</a>"),
            ("image/svg+xml", "<a><!-- -- --></a>"),
        ] {
            assert!(read(media_type, body.as_bytes()).is_err(), "{media_type} {body}");
        }
        assert!(read("application/xml", b"<a>\xff</a>").is_err());
    }
}
