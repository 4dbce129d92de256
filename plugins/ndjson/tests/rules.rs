//! Lines of `ndjson`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_ndjson::NdjsonEncoder;
use yearbook_sdk::testing::{Table, conformance, encode};

fn text(table: &Table) -> String {
    String::from_utf8(encode::<NdjsonEncoder>(table, &[]).unwrap()).unwrap()
}

#[test]
fn conforms() {
    conformance::check::<NdjsonEncoder>(|bytes| {
        let text = str::from_utf8(bytes).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines()
            .filter(|line| serde_json::from_str::<serde_json::Map<_, _>>(line).is_ok())
            .count()
    });
}

#[test]
fn a_row_is_an_object_on_a_line_of_its_own() {
    let table = Table::new()
        .text("region", &[Some("two\nlines"), None])
        .integers("year", &[Some(2020), None])
        .numbers("value", &[Some(f64::NAN), Some(0.1)])
        .booleans("final", &[Some(true), None]);
    let expected = "{\"region\":\"two\\nlines\",\"year\":2020,\"value\":null,\"final\":true}\n\
                    {\"region\":null,\"year\":null,\"value\":0.1,\"final\":null}\n";
    assert_eq!(text(&table), expected);
    assert_eq!(text(&Table::new().integers("a", &[])), "");
}
