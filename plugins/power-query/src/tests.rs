//! Contents of the generated queries, without a parser of M.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::testing::project::{self, generate, text};

use super::*;
use crate::query::literal;

#[test]
fn columns_are_typed_and_keyed() {
    let made = generate::<PowerQuery>(&project::request(), &[]).unwrap();
    let long = text(&made, "dataset_harvest_long.pq");
    assert!(
        long.contains("ReadDataset(\"harvest_long\", 50000)")
            && long.contains("{\"date\", type date},"),
        "{long}"
    );
    assert!(
        long.contains(
            "Keyed = Table.AddKey(Typed, {\"date\", \"region\"}, true)\nin\n    Keyed meta ["
        ),
        "{long}"
    );
    assert!(text(&made, "dataset_prices_wide.pq").contains("{\"no\", Int64.Type}"));
    assert!(!text(&made, "dataset_codes.pq").contains("Table.AddKey"));
}

#[test]
fn the_key_is_a_parameter_that_is_empty() {
    let made = generate::<PowerQuery>(&project::request(), &[]).unwrap();
    assert!(text(&made, "ApiKey.pq").starts_with("\"\" meta ["));
    assert!(text(&made, "BaseUrl.pq").starts_with("\"https://data.example.org\" meta ["));
    assert!(made.warnings[0].starts_with("A full run costs 6 requests"), "{}", made.warnings[0]);
}

#[test]
fn literals_have_no_line_breaks_and_no_escapes_but_ours() {
    assert_eq!(
        literal("a \"b\" #(lf) #1 {x}\n\0\u{2028}🌾"),
        "\"a \"\"b\"\" #(#)(lf) #1 {x}#(lf)#(0000)#(2028)🌾\""
    );
    assert_eq!(literal("#"), "\"#\"");
    assert_eq!(literal("##(("), "\"##(#)((\"");
}
