//! A picture read by a reader of XML that is not ours.

use quick_xml::Reader;
use quick_xml::events::Event;

/// A picture as a reader of XML has it.
#[derive(Debug, Default)]
pub(crate) struct ParsedPicture {
    pub(crate) root: Vec<(String, String)>,
    pub(crate) title: String,
    /// Titles of elements within.
    pub(crate) titles: Vec<String>,
    /// `fill` of each path.
    pub(crate) fills: Vec<String>,
    pub(crate) desc: String,
    pub(crate) style: String,
    pub(crate) texts: Vec<String>,
    /// Names of elements.
    pub(crate) elements: Vec<String>,
    /// `d` of each path.
    pub(crate) paths: Vec<String>,
}

impl ParsedPicture {
    pub(crate) fn all_text(&self) -> String {
        self.texts.join(" ")
    }
}

pub(crate) fn parse(bytes: &[u8]) -> ParsedPicture {
    let text = str::from_utf8(bytes).unwrap();
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut parsed = ParsedPicture::default();
    let mut inside = Vec::new();
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("{error}: {text}"));
        match event {
            Event::Eof => break,
            Event::Start(ref start) | Event::Empty(ref start) => {
                let name = String::from_utf8(start.name().as_ref().to_vec()).unwrap();
                let attributes: Vec<_> = start
                    .attributes()
                    .map(|attribute| {
                        let attribute = attribute.unwrap();
                        let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
                        (key, String::from_utf8(attribute.value.to_vec()).unwrap())
                    })
                    .collect();
                if parsed.elements.is_empty() {
                    parsed.root = attributes.clone();
                }
                let named = |name| attributes.iter().find(|(key, _)| key == name);
                if let Some((_, d)) = named("d") {
                    parsed.paths.push(d.clone());
                    parsed
                        .fills
                        .push(named("fill").map(|(_, fill)| fill.clone()).unwrap_or_default());
                }
                if name == "title" && inside.len() > 1 {
                    parsed.titles.push(String::new());
                }
                if name == "text" {
                    parsed.texts.push(String::new());
                }
                parsed.elements.push(name.clone());
                if matches!(event, Event::Start(_)) {
                    inside.push(name);
                }
            }
            Event::End(_) => drop(inside.pop()),
            Event::Text(part) => push(&mut parsed, inside.last(), &part.decode().unwrap()),
            Event::GeneralRef(reference) => {
                let name = reference.decode().unwrap();
                let character = match &*name {
                    "amp" => '&',
                    "lt" => '<',
                    "gt" => '>',
                    "quot" => '"',
                    "#39" => '\'',
                    other => panic!("&{other};"),
                };
                push(&mut parsed, inside.last(), &character.to_string());
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(inside.is_empty(), "{inside:?}");
    parsed
}

fn push(parsed: &mut ParsedPicture, element: Option<&String>, text: &str) {
    match element.map(String::as_str) {
        Some("title") => match parsed.titles.last_mut() {
            Some(title) => title.push_str(text),
            None => parsed.title.push_str(text),
        },
        Some("desc") => parsed.desc.push_str(text),
        Some("style") => parsed.style.push_str(text),
        Some("text") => parsed.texts.last_mut().unwrap().push_str(text),
        _ => assert_eq!(text.trim(), "", "text outside of any element"),
    }
}
