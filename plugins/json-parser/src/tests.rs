//! The parser against values that it must take and faults that it must name, in pieces of any size.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// Records its events.
#[derive(Default)]
struct Notes(Vec<String>);

impl JsonHandler for Notes {
    fn event(&mut self, event: JsonEvent<'_>, path: JsonPath<'_>) -> Result<(), String> {
        if event == JsonEvent::Text("refuse me") {
            return Err("is refused".to_owned());
        }
        self.0.push(format!("{path} {event:?}"));
        Ok(())
    }
}

fn parse(text: &[u8], piece: usize) -> Result<Vec<String>, JsonFault> {
    let (mut parser, mut notes) = (JsonParser::new(), Notes::default());
    for piece in text.chunks(piece) {
        parser.push(piece, &mut notes)?;
    }
    parser.finish(&mut notes)?;
    Ok(notes.0)
}

#[test]
fn values_come_with_their_paths_in_pieces_of_any_size() {
    let text = "\u{feff}{\"a\": [1, -2.5e+3, \"x\\n\\u00e9\\ud83c\\udf3e\", true], \"b c\": {}, \"\": null}\n";
    let expected = [
        "$ BeginObject",
        "$.a BeginArray",
        "$.a[0] Number(\"1\")",
        "$.a[1] Number(\"-2.5e+3\")",
        "$.a[2] Text(\"x\\né🌾\")",
        "$.a[3] Boolean(true)",
        "$.a EndArray",
        "$[\"b c\"] BeginObject",
        "$[\"b c\"] EndObject",
        "$. Null",
        "$ EndObject",
    ];
    for piece in [3, 4, 7, 1000] {
        assert_eq!(parse(text.as_bytes(), piece).unwrap(), expected, "{piece}");
    }
    assert_eq!(parse(b"12", 1).unwrap(), ["$ Number(\"12\")"]);
}

#[test]
fn a_fault_has_its_line_byte_and_path() {
    let fault = parse(b"{\n \"a\": [1,\n  x]}", 4).unwrap_err();
    assert_eq!((fault.line, fault.byte, fault.path.as_str()), (3, 14, "$.a[1]"));
    assert!(fault.sentence.contains("'x' stands where a value belongs") && !fault.by_handler);
    let refused = parse(b"[\"refuse me\"]", 5).unwrap_err();
    assert!(refused.by_handler && refused.path == "$[0]");
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "",
        "{",
        "[1",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "[01]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[+1]",
        "[NaN]",
        "[nul]",
        "[truee]",
        "[\"\\x\"]",
        "[\"\\u12g4\"]",
        "[\"\\ud800\"]",
        "[\"\\ud800x\"]",
        "[\"\\ud800\\n\"]",
        "[\"\\udc00\"]",
        "[\"a\nb\"]",
        "[1] 2",
        "]",
        "[}",
        "{]",
        "\"open",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "-",
        "[--1]",
    ] {
        for piece in [1, 1000] {
            assert!(parse(text.as_bytes(), piece).is_err(), "{text} in pieces of {piece}");
        }
    }
    assert!(parse(b"[\"\xff\"]", 100).unwrap_err().sentence.contains("UTF-8"));
}

#[test]
fn json_in_utf_16_is_named_contract_7() {
    let text = "{\"a\": [1, \"b\"]}";
    for mark in ["", "\u{feff}"] {
        let units = || mark.encode_utf16().chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        for file in [little, big] {
            for piece in [1, 1000] {
                let sentence = parse(&file, piece).unwrap_err().sentence;
                assert_eq!(sentence, "is UTF-16, not UTF-8; save the file as UTF-8");
            }
        }
    }
    for damaged in [&b"[\xff]"[..], b"{\"a\": 1\0", b"[1]\0\0", b"[[\0"] {
        let sentence = parse(damaged, 100).unwrap_err().sentence;
        assert!(!sentence.contains("UTF-16"), "{sentence}");
    }
}

#[test]
fn depth_and_texts_have_a_bound() {
    assert!(parse(&b"[".repeat(MAX_DEPTH + 1), 100).unwrap_err().sentence.contains("deeper"));
    let mut long = vec![b'"'];
    long.resize(MAX_TEXT_BYTES + 10, b'x');
    assert!(parse(&long, 1 << 20).unwrap_err().sentence.contains("more than"));
    let deep = [b"[".repeat(MAX_DEPTH), b"]".repeat(MAX_DEPTH)].concat();
    assert_eq!(parse(&deep, 7).unwrap().len(), 2 * MAX_DEPTH);
}
