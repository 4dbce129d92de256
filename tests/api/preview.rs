//! `/preview` (spec-4-preview): for anybody, ten rows, no geometry.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, TestTable, harvest, parks};

#[tokio::test]
async fn the_newest_ten_rows_need_no_key_contract_4() {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let preview = app.get("/v1/datasets/harvest/preview").send().await.json();
    let rows = preview["rows"].as_array().unwrap();
    assert_eq!(
        (rows.len(), &preview["snapshot_id"], &preview["hidden_columns"]),
        (10, &json!(id), &json!([]))
    );
    let dates: Vec<&str> = rows.iter().filter_map(|row| row["date"].as_str()).collect();
    assert_eq!((dates.first(), dates.iter().rev().is_sorted()), (Some(&"2023-04-01"), true));
    assert_eq!(preview["columns"][2], json!({"name": "value", "type": "number", "role": "value"}));
    assert_eq!(preview["row_count"], 120, "rows of the snapshot, not of the preview");
}

#[tokio::test]
async fn geometry_is_hidden_contract_4() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let preview = app.get("/v1/datasets/parks/preview").send().await.json();
    assert_eq!(preview["hidden_columns"], json!(["geometry_wkt"]));
    assert!(
        preview["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row.get("geometry_wkt").is_none() && row.get("park").is_some())
    );
}

/// The harvest with `columns` more columns of text, 20 rows, and texts of `characters` characters.
fn wide(columns: usize, characters: usize) -> TestTable {
    let fields = (0..columns).map(|index| format!("note_{index:03}"));
    let csv = format!("date,region,value,final,{}\n", fields.clone().collect::<Vec<_>>().join(","));
    let text = format!(",{}", "ā".repeat(characters)).repeat(columns);
    let rows: String =
        (1..=20).map(|day| format!("2024-01-{day:02},Otago,1.5,true{text}\n")).collect();
    fields
        .fold(harvest(), |table, name| table.with_field(&name, "string"))
        .with_rows(&(csv + &rows))
}

#[tokio::test]
async fn long_cells_are_cut_and_large_previews_lose_rows_then_columns_contract_4() {
    let app = TestApp::start().await;
    // Columns, rows that are shown, columns that are hidden at least.
    for (columns, rows, hidden) in [(1, 10, 0), (8, 4, 0), (60, 1, 20)] {
        app.publish(&wide(columns, 1_500)).await;
        let reply = app.get("/v1/datasets/harvest/preview").send().await;
        let preview = reply.json();
        let list = |name: &str| preview[name].as_array().unwrap().clone();
        assert!(reply.body.len() <= 64 << 10, "{} bytes", reply.body.len());
        assert_eq!(
            (list("rows").len(), preview["row_count"].as_u64()),
            (rows, Some(20)),
            "{columns} columns"
        );
        assert_eq!(preview["rows"][0]["note_000"].as_str().unwrap().chars().count(), 1_000);
        assert!(
            list("hidden_columns").len() >= hidden
                && (hidden > 0 || list("hidden_columns").is_empty()),
            "{columns} columns"
        );
        assert_eq!(
            list("columns").len() + list("hidden_columns").len(),
            columns + 4,
            "what is not shown is named"
        );
        let shown: Vec<_> = list("columns").iter().map(|column| column["name"].clone()).collect();
        assert_eq!(
            preview["rows"][0]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .map(Value::from)
                .collect::<Vec<_>>(),
            shown
        );
    }
}

/// Ten rows with a text of twelve mebibytes each.
fn heavy() -> TestTable {
    let text = "x".repeat(12 << 20);
    let rows: String =
        (1..=10).map(|day| format!("2024-01-{day:02},Otago,1.5,true,{text}\n")).collect();
    harvest()
        .with_field("note", "string")
        .with_rows(&format!("date,region,value,final,note\n{rows}"))
}

/// Mebibytes of this process's memory: `VmRSS`, or `VmHWM` for the most there were.
fn mebibytes(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|found| found.strip_prefix(line)).unwrap();
    value.trim_matches(|other: char| !other.is_ascii_digit()).parse::<u64>().unwrap() >> 10
}

/// Processor time of this thread, which is all of the reactor in a test of one thread.
fn reactor_time() -> Duration {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap()
}

#[tokio::test]
async fn heavy_cells_cost_neither_memory_nor_the_reactor_contract_4() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    let app = TestApp::with(settings).await;
    let idle = mebibytes("VmRSS:");
    app.publish(&heavy()).await;
    // The most there was while it was published is forgotten.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (before, begun) = (mebibytes("VmRSS:"), reactor_time());
    let replies = join_all((0..20).map(|_| app.get("/v1/datasets/harvest/preview").send())).await;
    let (most, took) = (mebibytes("VmHWM:"), reactor_time() - begun);
    for reply in replies {
        let preview = reply.json();
        assert_eq!((preview["rows"].as_array().unwrap().len(), reply.status.as_u16()), (10, 200));
        assert_eq!(preview["rows"][9]["note"].as_str().unwrap(), "x".repeat(1_000));
    }
    // All rows at once would be 120, and copies of them.
    assert!(
        most < before.max(idle) + 100,
        "{idle} MiB without data, {before} before, {most} at most"
    );
    assert!(took < Duration::from_millis(100), "the reactor worked for {took:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preview_is_made_once_for_all_who_ask_and_for_those_who_go_away_contract_4() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let path = "/v1/datasets/harvest/preview";
    // Each goes away as soon as it has asked.
    for _ in 0..10 {
        let mut asking = Box::pin(app.get(path).send());
        let _ = futures::poll!(&mut asking);
    }
    let replies = join_all((0..20).map(|_| app.get(path).send())).await;
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == replies[0].body));
    let once = app.files.counts().reads;
    assert!(once > 0);
    let other = TestApp::start().await;
    other.publish(&harvest()).await;
    assert_eq!(other.get(path).send().await.status, 200);
    assert_eq!(once, other.files.counts().reads, "thirty askers cost what one does");
}

#[tokio::test]
async fn a_burst_from_one_address_is_refused_contract_4() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = 3;
    let app = TestApp::with(settings).await;
    app.publish(&parks()).await;
    for _ in 0..3 {
        assert_eq!(app.get("/v1/datasets/parks/preview").send().await.status, 200);
    }
    let refused = app.get("/v1/datasets/parks/preview").send().await;
    assert_eq!(refused.outcome(), (429, "slow_down".to_owned()));
    assert_eq!(
        (refused.header("retry-after"), refused.header("x-ratelimit-remaining")),
        ("1".to_owned(), "0".to_owned())
    );
}
