//! Rows that weigh much: a table of many columns with long names, and the heaviest cell that is
//! published, in every built-in format.

use std::fmt::Write;

use serde_json::json;
use yearbook_domain::{Plan, json_size};
use yearbook_tests::app::{TestApp, TestTable, harvest};

const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

/// 5,000 rows of 400 truth values that JSON writes in 150 MB, and that take 300 kB as bits.
fn survey() -> TestTable {
    const ROWS: usize = 5_000;
    let name = |index: usize| {
        format!("whether_the_household_said_that_it_had_answered_question_{index:03}")
    };
    let fields: Vec<_> =
        (0..400).map(|index| json!({"name": name(index), "type": "boolean"})).collect();
    let mut csv = (0..400).map(name).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..ROWS {
        let value = |column: usize| {
            if (row * 31 + column * 17).is_multiple_of(3) { "true" } else { "false" }
        };
        let _ = writeln!(csv, "{}", (0..400).map(value).collect::<Vec<_>>().join(","));
    }
    plain(fields, csv)
}

/// The harvest's descriptor around another table.
fn plain(fields: Vec<serde_json::Value>, csv: String) -> TestTable {
    let yearbook = json!({"namespace": "farms"});
    harvest()
        .with("/resources/0/schema/fields", json!(fields))
        .with("/yearbook", yearbook)
        .without_key()
        .with_rows(&csv)
}

#[tokio::test]
async fn a_wide_table_is_sent_in_every_built_in_format() {
    let app = TestApp::start().await;
    app.publish(&survey()).await;
    let key = app.key(Plan::Enterprise).await;
    for format in FORMATS {
        let path = format!("/v1/datasets/harvest/data?limit=0&format={format}");
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{format}");
        match format {
            "json" => {
                assert!(
                    reply.body.len() > 2 * json_size::CALL_OUTPUT_BYTES,
                    "more than one call may return: {}",
                    reply.body.len()
                );
                assert_eq!(reply.body.iter().filter(|byte| **byte == b'{').count(), 5_000);
                assert!(reply.body.ends_with(b"}]"));
            }
            "csv" => assert_eq!(reply.text().lines().count(), 5_001),
            _ => {}
        }
        assert_eq!(
            reply.header("etag"),
            app.head(&path).key(&key).send().await.header("etag"),
            "{format}"
        );
    }
}

#[tokio::test]
async fn the_heaviest_row_that_is_published_is_sent_in_every_built_in_format() {
    let app = TestApp::start().await;
    let fields =
        vec![json!({"name": "id", "type": "integer"}), json!({"name": "note", "type": "string"})];
    // Quotes, which JSON and CSV write twice; the names and the number take what is left out of the
    // half.
    let note = "\"\"".repeat(json_size::ROW_BYTES / 2 - 50);
    app.publish(&plain(fields, format!("id,note\n1,\"{note}\"\n2,\"\"\n"))).await;
    let key = app.key(Plan::Enterprise).await;
    for format in FORMATS {
        let reply = app
            .get(&format!("/v1/datasets/harvest/data?limit=0&format={format}"))
            .key(&key)
            .send()
            .await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{format}");
        assert!(
            reply.body.len() > json_size::ROW_BYTES / 4 || format == "parquet",
            "{format}: {}",
            reply.body.len()
        );
    }
}
