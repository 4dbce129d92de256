//! Whole answers as snapshots: status, headers and body of one of each kind.

use yearbook_domain::Plan;
use yearbook_tests::app::{Reply, TestApp, harvest, parks};

/// Ids, tags, dates and cursors change with every run; their shape does not.
fn snapshot_settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r#""[0-9a-f]{32}(-gzip|-zstd)?""#, "[tag$1]");
    settings.add_filter(r"[0-9a-f]{16,64}", "[hex]");
    settings.add_filter(r"(cursor=|x-next-page: )[A-Za-z0-9_-]+", "$1[cursor]");
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[instant]");
    settings.add_filter(r"(last-modified: ).*", "$1[date]");
    settings.add_filter(r#""latency_ms":[0-9.e-]+"#, r#""latency_ms":[ms]"#);
    settings.add_filter(r"(x-ratelimit-reset: )\d+", "$1[unix]");
    settings.add_filter(r"(;t=|;w=|retry-after: )\d+", "$1[s]");
    // Latencies have more or fewer digits.
    settings.add_filter(r"(content-length: )\d+", "$1[bytes]");
    settings
}

fn check(name: &str, reply: &Reply) {
    snapshot_settings().bind(|| insta::assert_snapshot!(name, reply.snapshot()));
}

#[tokio::test]
async fn answers_look_as_the_contract_says() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let (free, top) = (app.key(Plan::Free).await, app.key(Plan::Enterprise).await);

    check("health", &app.get("/health").send().await);
    check("health_full", &app.get("/health/full").send().await);
    check("datasets", &app.get("/v1/datasets").key(&free).send().await);
    check("dataset", &app.get("/v1/datasets/parks").key(&top).send().await);
    check("preview", &app.get("/v1/datasets/parks/preview").send().await);
    check("me", &app.get("/v1/me").key(&free).send().await);
    check("data_json", &app.get("/v1/datasets/harvest/data?limit=3").key(&free).send().await);
    check(
        "data_csv",
        &app.get("/v1/datasets/parks/data?limit=0&geometry=false&format=csv")
            .key(&top)
            .send()
            .await,
    );
    check(
        "data_alias",
        &app.get("/v1/series/harvest/data?start=2023-04-01&columns=value,date")
            .key(&top)
            .send()
            .await,
    );
    check("data_head", &app.head("/v1/datasets/harvest/data?limit=3").key(&free).send().await);
    check("refused_401", &app.get("/v1/datasets").send().await);
    check("refused_404", &app.get("/v1/datasets/nothing").key(&free).send().await);
    check("refused_413", &app.get("/v1/datasets/parks/data?limit=0").key(&free).send().await);
    check(
        "refused_422",
        &app.get("/v1/datasets/Parks/data?limit=-1&format=xml&start=2020-02-30")
            .key(&free)
            .send()
            .await,
    );
    let problem = app.get("/v1/nothing").header("accept", "application/problem+json").send().await;
    check("refused_problem", &problem);
}
