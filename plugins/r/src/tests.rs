//! Contents of the generated script, without running it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::testing::project::{self, generate, text};

use super::*;
use crate::script::{literal, vector};

#[test]
fn columns_are_typed_whatever_they_are_called() {
    let made = generate::<R>(&project::request(), &[]).unwrap();
    let script = text(&made, "read_statistics.R");
    assert!(
        script.contains("      \"date\" = \"date\",\n")
            && script.contains("      \"no\" = \"integer\"\n"),
        "{script}"
    );
    assert!(
        script.contains("primary_key = c(\"date\", \"region\")")
            && script.contains("primary_key = character(0)")
    );
    assert!(script.is_ascii() && !script.contains("datasets <- list()"));
}

#[test]
fn literals_are_ascii_and_end_where_they_should() {
    assert_eq!(literal("a \"b\" \\ `c`\n\0🌾"), "\"a \\\"b\\\" \\\\ `c`\\U{a}\\U{1f33e}\"");
    assert_eq!(vector(["a", "b"].into_iter()), "c(\"a\", \"b\")");
}

#[test]
fn a_limited_plan_and_large_numbers_are_warned() {
    let made = generate::<R>(&project::request(), &[]).unwrap();
    assert!(made.warnings[0].starts_with("A full run costs 6 requests"), "{}", made.warnings[0]);
    assert!(
        made.warnings[1].contains("2^53") && made.warnings[1].ends_with(": prices_wide, codes.")
    );
}
