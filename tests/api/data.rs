//! `/data`: parameters and their effect (`docs/spec/parameters.md`).

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, big, harvest, parks};

#[tokio::test]
async fn parameters_choose_rows_and_columns_spec_4_1() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let rows = async |query: &str| {
        let reply = app.get(&format!("/v1/datasets/harvest/data?{query}")).key(&key).send().await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        reply.json().as_array().unwrap().clone()
    };
    assert_eq!(rows("").await.len(), 100, "the default limit");
    assert_eq!(rows("limit=0").await.len(), 120);
    assert_eq!(rows("limit=%2B5").await.len(), 5);
    assert_eq!(rows("limit=0&start=2023-01-01").await.len(), 12, "start is inclusive");
    assert_eq!(rows("limit=0&start=2020-02-01&end=2020-03-01").await.len(), 6, "end is inclusive");
    assert_eq!(rows("limit=0&start=2030-01-01").await, Vec::<Value>::new());
    assert_eq!(rows("limit=0&dimensions=M%C4%80ORI").await.len(), 40, "case folds beyond ASCII");
    assert_eq!(rows("limit=0&dimensions=%25").await.len(), 0, "no wildcards");
    assert_eq!(rows("limit=0&dimensions=nowhere").await.len(), 0);
    assert_eq!(
        rows("limit=1&columns=final,value,region,date").await,
        [json!({"final": true, "value": null, "region": "Auckland", "date": "2020-01-01"})]
    );
    assert_eq!(
        rows("limit=1&unknown=1&limit=2").await.len(),
        2,
        "the last repeated parameter wins, unknown ones are ignored"
    );
    let dates: Vec<String> = rows("limit=0")
        .await
        .iter()
        .map(|row| row["date"].to_string() + &row["region"].to_string())
        .collect();
    assert!(dates.is_sorted(), "by date, then primary key");
}

#[tokio::test]
async fn a_plans_cap_truncates_and_says_so_spec_4_1() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.free.row_cap = Some(50);
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let (free, pro) = (app.key(Plan::Free).await, app.key(Plan::Pro).await);
    // (key, query, rows, truncated, whether there is a next page)
    let cases = [
        (&free, "limit=0", 50, true, true),
        (&free, "limit=51", 50, true, true),
        (&free, "", 50, true, true),
        (&free, "limit=50", 50, false, true),
        (&free, "limit=49", 49, false, true),
        (&free, "limit=0&start=2023-01-01", 12, false, false),
        (&free, "limit=51&dimensions=auckland", 40, false, false),
        (&pro, "limit=0", 120, false, false),
        (&pro, "limit=119", 119, false, true),
        (&pro, "limit=120", 120, false, false),
    ];
    for (key, query, rows, truncated, more) in cases {
        let reply = app.get(&format!("/v1/datasets/harvest/data?{query}")).key(key).send().await;
        assert_eq!(reply.json().as_array().unwrap().len(), rows, "{query}");
        assert_eq!(
            reply.header("x-service-truncated"),
            if truncated { "true" } else { "" },
            "{query}"
        );
        assert_eq!(reply.header("x-plan-row-cap"), if truncated { "50" } else { "" }, "{query}");
        assert_eq!(!reply.header("x-next-page").is_empty(), more, "{query}");
        assert_eq!(reply.header("link").contains("rel=\"next\""), more, "{query}");
    }
}

#[tokio::test]
async fn geometry_can_be_left_out_spec_4_1() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let get = async |path: &str| app.get(path).key(&key).send().await;

    let with = get("/v1/datasets/parks/data").await;
    assert_eq!(with.json()[0]["geometry_wkt"], "MULTIPOINT ((174.0 -36.8))");
    assert_eq!(with.header("x-service-geometry-omitted"), "");
    let without = get("/v1/datasets/parks/data?geometry=No&limit=0").await;
    assert_eq!(without.json()[0], json!({"park": "Albert", "area": 0}));
    assert_eq!(without.header("x-service-geometry-omitted"), "true");
    assert_eq!(
        get("/v1/datasets/harvest/data?geometry=false").await.header("x-service-geometry-omitted"),
        "true",
        "on every dataset"
    );

    assert_eq!(
        get("/v1/datasets/parks/data?limit=0").await.outcome(),
        (413, "unbounded_pull".to_owned())
    );
    assert_eq!(
        get("/v1/datasets/parks/data?limit=0&columns=park").await.outcome().0,
        413,
        "columns do not relieve the guard"
    );
    assert_eq!(
        get("/v1/datasets/parks/data?limit=0&start=2020-01-01").await.outcome().0,
        413,
        "there is no date axis"
    );
}

#[tokio::test]
async fn a_response_of_many_batches_is_whole() {
    let app = TestApp::start().await;
    app.publish(&big(90_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let reply = app.get("/v1/datasets/big/data?limit=0&format=csv").key(&key).send().await;
    assert!(!reply.cut);
    assert_eq!(reply.header("content-length"), "", "a stream's length is not known");
    let text = reply.text();
    assert_eq!(text.lines().count(), 90_001);
    let sum: u64 = text
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(sum, 3 * 90_000 * 89_999 / 2);
}

#[tokio::test]
async fn a_damaged_file_is_500_for_its_dataset_alone() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let file = app.catalog_cache.dataset("harvest").unwrap().current.file.clone();
    std::fs::write(
        app.folder.path().join("objects/snapshots").join(format!("{}.parquet", file.sha256)),
        b"PAR1 nothing",
    )
    .unwrap();
    let broken =
        app.get("/v1/datasets/harvest/data").key(&key).header("x-request-id", "abc-1").send().await;
    assert_eq!(broken.outcome(), (500, "internal".to_owned()));
    assert!(
        broken.text().contains("abc-1") && !broken.text().contains(file.sha256.as_str()),
        "{}",
        broken.text()
    );
    assert_eq!(app.get("/v1/datasets/parks/data").key(&key).send().await.status, 200);
    assert_eq!(
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"],
        1,
        "a 500 is not charged"
    );
}
