//! Rules that hold on every route alike, or that no other module is about. Named, as all are, after
//! where the rule stands; `docs/spec` has them all.

use futures::StreamExt;
use serde_json::{Value, json};
use yearbook_domain::{Millis, Plan};
use yearbook_server::{PublicUrl, ServiceSettings};
use yearbook_tests::app::{TestApp, big, harvest, parks};

use super::router::{keyed, open};

const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

async fn with_harvest() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app
}

/// Deletes every stored file.
fn delete_files(app: &TestApp) {
    std::fs::remove_dir_all(app.folder.path().join("objects/snapshots")).unwrap();
}

#[tokio::test]
async fn every_route_below_v1_wants_a_key_but_the_preview_spec_5_1() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    for path in keyed() {
        assert_eq!(
            app.get(&path).send().await.outcome(),
            (401, "key_missing".to_owned()),
            "{path}"
        );
        assert_eq!(app.head(&path).send().await.status, 401, "{path}");
        assert_eq!(
            app.get(&path).key("yb_wrong").send().await.outcome(),
            (401, "key_invalid".to_owned()),
            "{path}"
        );
        assert_eq!(
            app.get(&format!("{path}api_key={key}")).send().await.status,
            401,
            "only the header counts: {path}"
        );
        assert_eq!(app.get(&path).key(&key).send().await.status, 200, "{path}");
    }
    for path in open() {
        assert!(!path.starts_with("/v1/") || path.contains("/preview"), "{path} wants no key");
        assert_eq!(app.get(&path).send().await.status, 200, "{path}");
        assert_eq!(
            app.get(&path).key("yb_wrong").send().await.status,
            200,
            "no key is looked at: {path}"
        );
    }
}

#[tokio::test]
async fn open_routes_charge_nothing_contract_4() {
    let app = with_harvest().await;
    let key = app.key(Plan::Free).await;
    for path in open() {
        assert_eq!(app.get(&path).key(&key).send().await.header("x-ratelimit-limit"), "", "{path}");
    }
    assert_eq!(app.get("/v1/me").key(&key).send().await.json()["requests"]["used"], 0);
}

#[tokio::test]
async fn unknown_parameters_are_ignored_on_every_route_contract_2() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    for path in keyed().into_iter().chain(open()) {
        assert_eq!(
            app.get(&format!("{path}sorted=asc&order_by=date&%ff=&="))
                .key(&key)
                .send()
                .await
                .status,
            200,
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_format_page_and_file_carries_the_credit_spec_4_1() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    let mut paths: Vec<String> =
        FORMATS.map(|format| format!("/v1/datasets/harvest/data?format={format}")).into();
    paths.push("/v1/series/harvest/data?start=2099-01-01".to_owned());
    paths.push("/v1/bulk/farms/harvest".to_owned());
    paths.push("/v1/datasets/harvest/changes".to_owned());
    let cursor =
        app.get("/v1/datasets/harvest/data?limit=1").key(&key).send().await.header("x-next-page");
    paths.push(format!("/v1/datasets/harvest/data?cursor={cursor}"));
    for path in paths {
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(reply.status, 200, "{path}");
        for (name, value) in [
            ("x-service-attribution", "Ahuwhenua Māori, CC BY 4.0"),
            ("x-service-source", "Ministry of Harvest"),
            ("x-service-licence", "CC-BY-4.0"),
            ("x-service-source-url", "https://agency.example/data"),
            ("x-service-namespace", "farms"),
        ] {
            assert_eq!(reply.header(name), value, "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn a_source_without_address_has_no_header_for_it_contract_4() {
    let app = TestApp::start().await;
    app.publish(
        &parks()
            .with("/sources", json!([{"title": "Council"}]))
            .with("/yearbook/source_url_precision", Value::Null),
    )
    .await;
    let key = app.key(Plan::Free).await;
    let reply = app.get("/v1/datasets/parks/data").key(&key).send().await;
    assert_eq!(
        (reply.status.as_u16(), reply.headers.contains_key("x-service-source-url")),
        (200, false)
    );
    let meta = app.get("/v1/datasets/parks").key(&key).send().await.json();
    assert_eq!((&meta["source_url"], &meta["source_url_precision"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn the_envelope_names_licence_and_every_source_contract_7() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    let envelope =
        app.get("/v1/datasets/harvest/data?envelope=true&limit=1").key(&key).send().await.json();
    let meta = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    assert_eq!(
        envelope["data_sources"].as_array().map(Vec::len),
        Some(1),
        "one dataset, one licence"
    );
    for field in ["licence", "licence_title", "licence_url", "source_url", "sources"] {
        assert!(!meta[field].is_null(), "{field}");
        assert_eq!(envelope["data_sources"][0][field], meta[field], "{field}");
    }
}

/// A column as the metadata describes it.
fn column(
    name: &str,
    kind: &str,
    nullable: bool,
    role: &str,
    unit: Value,
    description: Value,
) -> Value {
    json!({"name": name, "type": kind, "nullable": nullable, "role": role, "unit": unit, "description": description})
}

#[tokio::test]
async fn metadata_says_what_a_client_must_know_before_it_reads_spec_2_1() {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    let meta = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    for (field, expected) in [
        ("name", json!("harvest")),
        ("namespace", json!("farms")),
        ("date_filter_column", json!("date")),
        ("attribution_text", json!("Ahuwhenua Māori, CC BY 4.0")),
        ("licence", json!("CC-BY-4.0")),
        ("licence_title", json!("Attribution 4.0")),
        ("licence_url", json!("https://licence.example/by")),
        ("source_url", json!("https://agency.example/data")),
        ("source_url_precision", json!("dataset")),
        (
            "sources",
            json!([{"title": "Agency", "path": "https://agency.example/data"}, {"title": "A second source", "path": null}]),
        ),
        ("refresh_cadence", json!("weekly")),
        ("row_count_at_last_refresh", json!(120)),
        ("current_snapshot_id", json!(id)),
        ("primary_key", json!(["date", "region"])),
        ("dimensions", json!(["region"])),
        ("layout", json!("long")),
        ("has_geometry", json!(false)),
        ("bbox", Value::Null),
        ("date_range", json!({"first": "2020-01-01", "last": "2023-04-01"})),
        (
            "columns",
            json!([
                column("date", "date", false, "date", Value::Null, Value::Null),
                column("region", "string", false, "dimension", Value::Null, json!("Where.")),
                column("value", "number", true, "value", json!("tonnes"), Value::Null),
                column("final", "boolean", true, "attribute", Value::Null, Value::Null),
            ]),
        ),
    ] {
        assert_eq!(meta[field], expected, "{field}");
    }
}

#[tokio::test]
async fn checked_at_moves_without_new_data_and_last_refreshed_at_does_not_spec_2_1() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Free).await;
    let day = 86_400_000;
    app.publish_at(&harvest(), Millis(0)).await;
    app.publish_at(&harvest(), Millis(3 * day)).await;
    let meta = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    assert_eq!(
        (&meta["last_refreshed_at"], &meta["checked_at"]),
        (&json!("1970-01-01T00:00:00Z"), &json!("1970-01-04T00:00:00Z"))
    );
    assert_eq!(meta["snapshots"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_pinned_snapshot_has_the_same_bytes_after_a_refresh_spec_9_3() {
    let app = TestApp::start().await;
    let old = app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let pinned = async |format: &str| {
        let path = format!("/v1/datasets/harvest/data?limit=0&format={format}&snapshot={old}");
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(reply.status, 200, "{path}");
        (reply.header("etag"), reply.header("last-modified"), reply.body)
    };
    let mut before = Vec::new();
    for format in FORMATS {
        before.push(pinned(format).await);
    }
    let new = app
        .publish(&harvest().with_rows("date,region,value,final\n2024-01-01,Nelson,1.5,true\n"))
        .await;
    assert_ne!(old, new);
    for (format, before) in FORMATS.into_iter().zip(before) {
        assert!(pinned(format).await == before, "{format}");
    }
}

#[tokio::test]
async fn head_says_what_get_says_contract_3() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    app.until_listed("harvest").await;
    // Headers that a HEAD may leave out, and those that differ with every answer.
    let free = ["content-length", "link", "x-next-page", "x-request-id"];
    let data =
        FORMATS.map(|format| format!("/v1/datasets/harvest/data?format={format}&geometry=false"));
    for path in keyed().into_iter().chain(open()).chain(data) {
        let (get, head) =
            (app.get(&path).key(&key).send().await, app.head(&path).key(&key).send().await);
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for (name, value) in get.headers.iter().filter(|(name, _)| !free.contains(&name.as_str())) {
            assert_eq!(head.headers.get(name), Some(value), "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn every_refusal_is_one_sentence_with_a_code_contract_2() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.starter.requests_per_month = Some(0);
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let (free, spent) = (app.key(Plan::Free).await, app.key(Plan::Starter).await);
    for (key, path, status) in [
        ("", "/v1/me", 401),
        (&free, "/v1/bulk/farms/harvest", 402),
        (&free, "/v1/bulk/places/parks", 403),
        (&free, "/v1/datasets/nothing", 404),
        (&free, "/nothing", 404),
        (&free, "/v1/datasets/parks/data?snapshot=never", 404),
        (&free, "/v1/datasets/parks/data?limit=0", 413),
        (&spent, "/v1/datasets", 429),
    ] {
        let reply = app.get(path).key(key).send().await;
        let (found, code) = reply.outcome();
        assert_eq!(found, status, "{path}");
        assert!(
            !code.is_empty() && code.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{path}: {code}"
        );
        let body = reply.json();
        assert_eq!(body.as_object().unwrap().len(), 1, "{path}: {body}");
        assert!(body["detail"].as_str().unwrap().ends_with('.'), "{path}: {body}");
        assert_eq!(reply.header("retry-after").is_empty(), status != 429, "{path}");
    }
}

#[tokio::test]
async fn refusals_and_304_open_no_file_contract_1() {
    let app = TestApp::start().await;
    let old = app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let tag = app.get("/v1/datasets/parks/data").key(&key).send().await.header("etag");
    delete_files(&app);
    for (path, status) in [
        ("/v1/datasets/parks/data?limit=-1", 422),
        ("/v1/datasets/parks/data?columns=nothing", 422),
        ("/v1/datasets/parks/data?snapshot=never", 404),
        ("/v1/datasets/parks/data?limit=0", 413),
        ("/v1/bulk/places/parks", 403),
        ("/v1/datasets/parks", 200),
    ] {
        assert_eq!(app.get(path).key(&key).send().await.status, status, "{path}");
    }
    let same =
        app.get("/v1/datasets/parks/data").key(&key).header("if-none-match", &tag).send().await;
    assert_eq!((same.status.as_u16(), same.header("x-service-snapshot-id")), (304, old));
}

#[tokio::test]
async fn a_body_that_breaks_off_stays_charged_contract_5() {
    let app = TestApp::start().await;
    app.publish(&big(90_000)).await;
    app.load("evil");
    let key = app.key(Plan::Free).await;
    let used =
        async || app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].as_u64();
    let broken = app
        .get("/v1/datasets/big/data?limit=0&format=evil&evil.attack=panic&evil.call=tail")
        .key(&key)
        .send()
        .await;
    assert_eq!((broken.status.as_u16(), broken.cut, used().await), (200, true, Some(1)));
    // A client that goes away after the first bytes.
    let mut body = app
        .get("/v1/datasets/big/data?limit=0&format=csv")
        .key(&key)
        .begin()
        .await
        .into_body()
        .into_data_stream();
    assert!(body.next().await.unwrap().is_ok());
    drop(body);
    assert_eq!(used().await, Some(2));
}

#[tokio::test]
async fn each_plan_has_its_limits_contract_5() {
    let app = TestApp::start().await;
    for (plan, limit, cap) in [
        (Plan::Free, json!(10), json!(50_000)),
        (Plan::Starter, json!(1_000), json!(50_000)),
        (Plan::Pro, Value::Null, Value::Null),
        (Plan::Enterprise, Value::Null, Value::Null),
    ] {
        let key = app.key(plan).await;
        let me = app.get("/v1/me").key(&key).send().await.json();
        assert_eq!((&me["plan"], &me["row_cap"]), (&json!(plan.to_string()), &cap));
        assert_eq!(
            (&me["requests"]["limit"], &me["requests"]["left"], &me["requests"]["used"]),
            (&limit, &limit, &json!(0)),
            "{plan}"
        );
        assert!(me["requests"]["resets_at"].as_str().unwrap().ends_with("-01T00:00:00Z"), "{plan}");
    }
}

#[tokio::test]
async fn links_begin_with_the_public_address_contract_6() {
    let mut settings = ServiceSettings::default();
    settings.server.public_url =
        Some(PublicUrl::try_from("https://data.example.org/statistics/".to_owned()).unwrap());
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    let link = app.get("/v1/series/harvest/data?limit=1").key(&key).send().await;
    let all: Vec<_> = link
        .headers
        .get_all("link")
        .iter()
        .map(|value| value.to_str().unwrap().to_owned())
        .collect();
    let all = all.join(", ");
    assert_eq!(all.matches("<https://data.example.org/statistics/v1/").count(), 2, "{all}");
    assert!(all.contains("rel=\"canonical\"") && all.contains("rel=\"next\""), "{all}");
}
