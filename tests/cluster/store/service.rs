//! The service on a bucket: the same responses as on a folder, and during faults of the bucket an
//! honest error, never wrong data.

use std::time::{Duration, Instant};

use futures::future::join_all;
use yearbook_domain::{DatasetName, Millis, Plan};
use yearbook_storage::{BulkDelivery, StorageSettings};
use yearbook_tests::app::{
    HostFixture, Reply, S3Fault, S3Server, TestApp, TestTable, big, harvest, parks, unbounded,
};

use crate::plugins::test_hosts::{
    TWO_SECONDS, embedded, eventually, patched, record_release, serving, start_reconciler,
};

const BULK: &str = "/v1/bulk/farms/harvest";

/// Bounds that a test can wait for.
fn short() -> StorageSettings {
    StorageSettings { attempt_ms: 600, retries: 2, answer_ms: 2_000, ..StorageSettings::default() }
}

/// Requests that read stored files in every way there is.
fn every() -> Vec<String> {
    let mut paths: Vec<String> = ["json", "csv", "arrow", "parquet"]
        .map(|format| format!("/v1/datasets/big/data?format={format}"))
        .to_vec();
    let more = [
        "/v1/datasets/big/data?limit=7&start=1900-02-01",
        "/v1/datasets/big/data?limit=7&q=series+05",
        "/v1/datasets/big/data?q=series+99&format=csv",
        "/v1/datasets/big/preview",
        "/v1/datasets/harvest/data?limit=0",
        "/v1/datasets/harvest/changes",
        "/v1/datasets/harvest/changes?format=csv",
        "/v1/datasets/harvest/changes?format=arrow&limit=3",
        "/v1/datasets/harvest/changes?format=parquet",
        "/v1/datasets/parks/preview",
        BULK,
    ];
    paths.extend(more.map(str::to_owned));
    paths
}

/// Publishes everything at the same moments on every service, since changes tell when; a key.
async fn published(app: &TestApp) -> String {
    for (table, seconds) in [(big(30_000), 0), (harvest(), 1), (parks(), 2), (second_version(), 3)]
    {
        app.publish_at(&table, Millis(1_767_225_600_000 + seconds * 1_000)).await;
    }
    app.key(Plan::Enterprise).await
}

fn second_version() -> TestTable {
    harvest().with_rows("date,region,value,final\n2020-01-01,Auckland,1.5,true\n")
}

fn summarize(reply: &Reply) -> (u16, bool, String, &[u8]) {
    (reply.status.as_u16(), reply.cut, reply.header("etag"), &reply.body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_serves_the_bytes_that_a_folder_serves() {
    let s3 = S3Server::start().await;
    let (folder, bucket) = (
        TestApp::start().await,
        TestApp::on_fixture(&HostFixture::with_s3(&s3, StorageSettings::default())).await,
    );
    let (key, other) = (published(&folder).await, published(&bucket).await);
    for path in every() {
        let (expected, got) =
            (folder.get(&path).key(&key).send().await, bucket.get(&path).key(&other).send().await);
        assert!(
            expected.status == 200 && summarize(&expected) == summarize(&got),
            "{path}: {} and {}",
            expected.status,
            got.status
        );
        if path.contains("/changes") {
            // Each installation seals watermarks with a secret of its own.
            assert!(!got.header("x-service-watermark").is_empty(), "{path}");
            assert!(
                expected.text().contains("update_postimage") || !path.ends_with("/changes"),
                "no change was compared"
            );
        }
    }
    let part = bucket.get(BULK).key(&other).header("range", "bytes=5-99").send().await;
    assert_eq!((part.status.as_u16(), part.body.len()), (206, 95));
}

#[tokio::test(flavor = "multi_thread")]
async fn small_reads_of_a_bucket_cost_few_requests_and_then_none() {
    let s3 = S3Server::start().await;
    let app = TestApp::on_fixture(&HostFixture::with_s3(&s3, StorageSettings::default())).await;
    let key = published(&app).await;
    let cost = async |path: &str| {
        let before = s3.requests();
        assert_eq!(app.get(path).key(&key).send().await.status, 200);
        s3.requests() - before
    };
    let first = cost("/v1/datasets/big/data?limit=7").await;
    assert!(first <= 4, "checksums, the end of the file, pages: {first}");
    assert_eq!(cost("/v1/datasets/big/data?limit=7").await, 0, "from memory");
    assert_eq!(cost("/v1/datasets/big/data?limit=6").await, 0, "of pages that are in memory");
    let next = cost("/v1/datasets/big/data?limit=7&start=1900-08-01").await;
    assert!(next <= 2, "pages alone, since footer and page index are in memory: {next}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_in_a_bucket_is_served_by_every_host_within_2_s_contract_6() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let (here, there) = (TestApp::on_fixture(&fixture).await, TestApp::on_fixture(&fixture).await);
    let _keepers =
        (start_reconciler(&here, embedded()).await, start_reconciler(&there, embedded()).await);
    let newer = record_release(
        &here,
        patched("json", "0.1.0", "0.2.0"),
        yearbook_catalog::ReleaseState::Promoted,
    )
    .await;
    let begun = Instant::now();
    eventually(|| {
        [&here, &there]
            .iter()
            .all(|app| serving(&app.registry, "json").as_ref() == Some(&newer.digest))
    })
    .await;
    assert!(begun.elapsed() < TWO_SECONDS, "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_bucket_is_ill_clients_get_503_or_the_right_bytes_and_the_service_recovers_by_itself()
 {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, short());
    let writer = TestApp::on_fixture(&fixture).await;
    let key = published(&writer).await;
    let paths = every();
    let ask = async |app: &TestApp| {
        join_all(paths.iter().map(|path| app.get(path).key(&key).send())).await
    };
    let expected = ask(&writer).await;
    assert!(expected.iter().all(|reply| reply.status == 200 && !reply.cut));
    for fault in [
        S3Fault::Status(500),
        S3Fault::Status(503),
        S3Fault::Reset,
        S3Fault::Silent,
        S3Fault::Slow(Duration::from_millis(50)),
        S3Fault::Truncated(1_000),
        S3Fault::Flipped(1_000),
    ] {
        // A host that has nothing in memory.
        let app = TestApp::on_fixture(&fixture).await;
        s3.fail_from_now(fault);
        let begun = Instant::now();
        for (path, (got, expected)) in paths.iter().zip(ask(&app).await.iter().zip(&expected)) {
            match got.status.as_u16() {
                200 if !got.cut => {
                    assert!(summarize(got) == summarize(expected), "{fault:?}: {path}")
                }
                // Damage that stays is no outage; a client sees neither as a whole answer.
                500 if matches!(fault, S3Fault::Flipped(_)) => {}
                503 => {
                    assert_eq!(
                        (got.outcome().1.as_str(), got.header("retry-after").as_str()),
                        ("unavailable", "5"),
                        "{fault:?}: {path}"
                    )
                }
                status => assert!(got.cut, "{fault:?}: {path}: {status}: {}", got.text()),
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{fault:?}: {:?}", begun.elapsed());
        s3.mend();
        let again = ask(&app).await;
        for (path, (got, expected)) in paths.iter().zip(again.iter().zip(&expected)) {
            assert!(
                summarize(got) == summarize(expected),
                "after {fault:?}: {path}: {} {}",
                got.status,
                got.text()
            );
        }
        let used = app.get("/v1/me").key(&key).send().await;
        assert_eq!(used.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_of_the_share_are_those_of_the_bucket_where_settings_say_so_contract_12() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let mut settings = unbounded();
    settings.share.redirect = true;
    let app = TestApp::with_settings_on(&fixture, settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/share/delta/shares/yearbook/schemas/farms/tables/harvest/query";
    let reply = app.ask("POST", path).bearer(&key).json_body(&serde_json::json!({})).send().await;
    let file = &reply.json_lines()[2]["file"];
    let url = file["url"].as_str().unwrap();
    assert!(url.contains("X-Amz-Signature=") && !url.contains("/share/files/"), "{url}");
    let fetched = reqwest::get(url).await.unwrap().bytes().await.unwrap();
    assert_eq!(file["id"], yearbook_domain::Digest::compute(&fetched).to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_described_once_and_its_metadata_read_once_contract_12() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let mut settings = unbounded();
    settings.share.iceberg = true;
    let app = TestApp::with_settings_on(&fixture, settings).await;
    let key = app.key(Plan::Enterprise).await;
    let load = || app.get("/share/iceberg/v1/namespaces/farms/tables/harvest").bearer(&key).send();
    let versions = |reply: &Reply| -> Vec<i64> {
        let snapshots = reply.json()["metadata"]["snapshots"].as_array().unwrap().clone();
        snapshots.iter().map(|entry| entry["snapshot-id"].as_i64().unwrap()).collect()
    };
    // Names of what describes the newest file.
    let described = || -> Vec<String> {
        let file = app.catalog_cache.dataset("harvest").unwrap().current.file.sha256.to_string();
        let folder = std::fs::read_dir(s3.below().join("iceberg").join(file));
        let mut names: Vec<String> = folder
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".metadata.json"))
            .collect();
        names.sort();
        names
    };
    app.publish(&harvest()).await;
    app.publish(&second_version()).await;
    assert!(app.store.retire_dataset(&DatasetName::parse("harvest").unwrap()).await.unwrap());
    let third = harvest().with_rows("date,region,value,final\n2020-01-01,Auckland,2.5,true\n");
    app.publish(&third).await;
    let first_read = load().await;
    assert_eq!(versions(&first_read), [1, 2, 3]);
    assert_eq!(described(), ["v2.metadata.json"], "as what it became, though it was retired");
    let asked = s3.requests();
    assert_eq!(load().await.text(), first_read.text());
    assert_eq!(s3.requests(), asked, "the second answer comes from memory");

    // The rows of version 0, so its file, as another version.
    app.publish(&harvest()).await;
    assert_eq!(versions(&load().await), [1, 2, 3, 4]);
    assert_eq!(described(), ["v0.metadata.json", "v3.metadata.json"]);
    app.publish(&third.with("/yearbook/bulk_redistribution", serde_json::json!(false))).await;
    assert_eq!(load().await.status, 404);
    let newest = "v4.metadata.json".to_owned();
    assert!(!described().contains(&newest), "what may not be handed on is not described");
}

#[tokio::test(flavor = "multi_thread")]
async fn bulk_files_are_fetched_from_the_bucket_itself_where_settings_say_so() {
    let s3 = S3Server::start().await;
    let storing =
        StorageSettings { bulk: BulkDelivery::Redirect, link_s: 1, ..StorageSettings::default() };
    let app = TestApp::on_fixture(&HostFixture::with_s3(&s3, storing)).await;
    let key = published(&app).await;
    let ask = |method| app.ask(method, BULK).key(&key);
    let reply = ask("GET").send().await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (307, 0));
    let head = ask("HEAD").send().await;
    assert_eq!(head.status, 200);
    for name in [
        "etag",
        "last-modified",
        "x-service-licence",
        "x-service-attribution",
        "x-service-snapshot-id",
        "x-service-freshness",
        "vary",
    ] {
        assert!(!head.header(name).is_empty() && head.header(name) == reply.header(name), "{name}");
    }
    assert_eq!(
        (reply.header("cache-control").as_str(), reply.header("repr-digest").as_str()),
        ("no-store", "")
    );
    let link = reply.header("location");
    let fetched = reqwest::get(&link).await.unwrap();
    assert_eq!(fetched.status(), 200);
    let header = |name: &str| fetched.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/vnd.apache.parquet");
    // The name with its date, as the file has it that goes through us.
    assert_eq!(header("content-disposition"), head.header("content-disposition"));
    assert!(
        header("content-disposition").starts_with("attachment; filename=\"harvest-20"),
        "{}",
        header("content-disposition")
    );
    let whole = fetched.bytes().await.unwrap();
    // What follows from our tag is our business.
    assert_eq!(ask("GET").header("if-none-match", &reply.header("etag")).send().await.status, 304);
    let part = ask("GET")
        .header("range", "bytes=4-9")
        .header("if-range", &reply.header("etag"))
        .send()
        .await;
    assert_eq!((part.status.as_u16(), &part.body[..]), (206, &whole[4..10]));
    let other =
        ask("GET").header("range", "bytes=4-9").header("if-range", "\"other\"").send().await;
    assert_eq!((other.status.as_u16(), &other.body), (200, &whole));
    // Nobody signs an address for somebody else's object, nor one that holds for ever.
    assert_eq!(reqwest::get(link.replace("harvest", "parks")).await.unwrap().status(), 403);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(reqwest::get(&link).await.unwrap().status(), 403, "it has ended");
    // Refusals come first, and a file that is not there is an honest status.
    let free = app.key(Plan::Free).await;
    assert_eq!(app.get(BULK).key(&free).send().await.status, 402);
    std::fs::remove_dir_all(s3.below()).unwrap();
    assert_eq!(ask("GET").send().await.status, 500);
    // A redirect to the file is counted like a file that went through us (contract-5-charged).
    let used = app.get("/v1/me").key(&key).send().await.json();
    assert_eq!(used["requests"]["used"], 3, "{used}");
}
