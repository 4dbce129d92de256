//! Contents of the generated script, without running it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::Value;
use yearbook_sdk::testing::project::{self, HARD, generate, text};

use super::*;

#[test]
fn columns_are_typed_and_texts_are_literals() {
    let made = generate::<Python>(&project::request(), &[]).unwrap();
    let script = text(&made, "read_statistics.py");
    assert!(
        script.contains("(\"date\", pa.date32()),") && script.contains("(\"no\", pa.int64()),"),
        "{script}"
    );
    assert!(
        script.contains("import pandas as pd\n")
            && script.contains("return table.to_pandas(types_mapper=pd.ArrowDtype)\n")
    );
    assert!(
        script.contains("\"SERVICE_BASE_URL\", \"https://data.example.org\"")
            && !script.contains("DATASETS = {}")
    );
    assert!(script.contains(&serde_json::to_string(HARD).unwrap()), "{script}");
}

#[test]
fn polars_may_be_asked_for() {
    let made =
        generate::<Python>(&project::request(), &[("frame", Value::Text("polars".to_owned()))])
            .unwrap();
    let script = text(&made, "read_statistics.py");
    assert!(
        script.contains("return pl.from_arrow(table)\n") && !script.contains("pandas"),
        "{script}"
    );
    assert!(text(&made, "requirements.txt").contains("polars"));
}

#[test]
fn a_limited_plan_is_warned() {
    let made = generate::<Python>(&project::request(), &[]).unwrap();
    assert!(
        made.warnings[0].starts_with("A full run costs 6 requests")
            && made.warnings[1].ends_with(": codes.")
    );
}
