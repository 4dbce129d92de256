//! Releases at an instant (contract-21-releases): until then no answer of any route tells of them,
//! and from then on every one does.

use std::time::Duration;

use serde_json::Value;
use yearbook_catalog::Retention;
use yearbook_domain::{DatasetName, Millis, ObjectKey, Plan, StoredFile, WaitingFiles};
use yearbook_publish::{GcSettings, ReleaseFilesFailure, collect_garbage, finish_releases};
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_storage::StorageFailure;
use yearbook_tests::app::{Reply, TestApp, TestTable, harvest};

/// Id that no snapshot has.
const NO_ID: &str = "5eb1a0c2d3e4f5061728394a5b6c7d8e";

/// Headers that differ between two answers to one request.
const OF_THE_REQUEST: [&str; 4] =
    ["date", "x-request-id", "x-ratelimit-remaining", "x-service-requests-remaining"];

/// Addresses of everything that is served of `harvest` and of all datasets; `{id}` is a snapshot's.
const ADDRESSES: [&str; 58] = [
    "/v1/datasets",
    "/v1/datasets/harvest",
    "/v1/datasets/harvest/data",
    "/v1/datasets/harvest/data?format=csv&limit=2",
    "/v1/datasets/harvest/data?format=parquet&sort=-date&last=1",
    "/v1/datasets/harvest/data?snapshot={id}",
    "/v1/datasets/harvest/data?as_of=2020-01-01",
    "/v1/datasets/harvest/values",
    "/v1/datasets/harvest/values?snapshot={id}",
    "/v1/datasets/harvest/changes",
    "/v1/datasets/harvest/changes?since={id}",
    "/v1/datasets/harvest/revisions",
    "/v1/datasets/harvest/preview",
    "/v1/datasets/harvest/preview?snapshot={id}",
    "/v1/integrations/meltano?datasets=harvest",
    "/v1/bulk/farms/harvest?freshness=current",
    "/v1/bulk/farms/harvest?freshness=monthly",
    "/v1/datasets/secret",
    "/v1/datasets/secret/data",
    "/v1/datasets/secret/changes",
    "/openapi.json",
    "/health",
    "/calendar",
    "/calendar.ics",
    "/calendar.json",
    "/calendar/feed.xml",
    "/",
    "/datasets",
    "/datasets?q=secret",
    "/datasets/harvest",
    "/datasets/harvest/versions",
    "/datasets/harvest/request",
    "/datasets/harvest/feed.xml",
    "/datasets/harvest/croissant.json",
    "/datasets/secret",
    "/cite/harvest/{id}",
    "/cite/harvest/{id}?verify=true",
    "/cite/secret/{id}",
    "/cite/harvest/{id}/proof",
    "/cite/secret/{id}/proof",
    "/log/checkpoint",
    "/log/tile/0/000.p/1",
    "/log/tile/0/000.p/2",
    "/log/tile/entries/000.p/2",
    "/catalog.jsonld",
    "/feed.xml",
    "/sitemap.xml",
    "/robots.txt",
    "/share/delta/shares/yearbook/all-tables",
    "/share/delta/shares/yearbook/schemas/farms/tables/harvest/version",
    "/share/delta/shares/yearbook/schemas/farms/tables/harvest/metadata",
    "/share/delta/shares/yearbook/schemas/farms/tables/secret/metadata",
    "/share/delta/shares/yearbook/schemas/farms/tables/harvest/changes?startingVersion=0",
    "/api/ogc/collections",
    "/api/ogc/collections/harvest",
    "/api/sdmx/2.1/dataflow/all/all/latest",
    "/api/sdmx/2.1/availableconstraint/HARVEST",
    "/api/sdmx/2.1/data/HARVEST",
];

/// The answers to GET and HEAD of every address, as far as they may tell anything, without the id.
async fn answers(app: &TestApp, key: &str, id: &str) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for address in ADDRESSES {
        for method in ["GET", "HEAD"] {
            let path = address.replace("{id}", id);
            let asked = app.ask(method, &path);
            let is_share = path.starts_with("/share");
            let reply = if is_share { asked.bearer(key) } else { asked.key(key) }.send().await;
            answers.push((format!("{method} {address}"), render_reply(&reply).replace(id, "{id}")));
        }
    }
    answers
}

fn render_reply(reply: &Reply) -> String {
    let mut rendered = format!("{}\n", reply.status);
    for (name, value) in &reply.headers {
        if !OF_THE_REQUEST.contains(&name.as_str()) {
            rendered += &format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()));
        }
    }
    rendered + &reply.text().lines().map(without_signed_address).collect::<String>()
}

/// A line of an answer without the address of a stored file, which the second of the request is
/// signed with. The file stands beside it by its digest.
fn without_signed_address(line: &str) -> String {
    let mut action = serde_json::from_str(line).unwrap_or(Value::Null);
    let Some(file) = action.get_mut("add").and_then(Value::as_object_mut) else {
        return format!("{line}\n");
    };
    file.remove("url").unwrap();
    file.remove("expirationTimestamp").unwrap();
    format!("{action}\n")
}

fn newer() -> TestTable {
    harvest().with_appended("2024-01-01,Auckland,777.5,true\n")
}

async fn now(app: &TestApp) -> Millis {
    app.store.database_time().await.unwrap()
}

async fn wait_for(app: &TestApp, at: Millis) {
    while now(app).await < at {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_tells_of_a_release_before_its_time_contract_21() {
    let app = TestApp::start().await;
    ["ogc", "sdmx"].into_iter().for_each(|name| app.load(name));
    let key = app.key(Plan::Enterprise).await;
    let old = app.publish(&harvest()).await;
    app.until_listed("harvest").await;
    let before = answers(&app, &key, NO_ID).await;
    // An answer from memory is the same one.
    assert_eq!(answers(&app, &key, NO_ID).await, before);

    let at = Millis(now(&app).await.0 + 12_000).whole_second();
    let id = app.release(&newer(), at).await;
    let other = app.release(&newer().named("secret"), at).await;
    while app.catalog_cache.waiting_snapshots().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for asked in [NO_ID, id.as_str(), other.as_str()] {
        for (then, now) in before.iter().zip(answers(&app, &key, asked).await) {
            assert_eq!(*then, now, "asked with {asked}");
        }
    }
    assert!(now(&app).await < at, "the answers were those of before its time");
    let waiting = app.folder.path().join("objects/waiting");
    let stored = std::fs::read_dir(&waiting).unwrap().count();
    assert!(stored >= 6, "{stored} files wait");

    wait_for(&app, Millis(at.0 + 100)).await;
    let after = answers(&app, &key, &id).await;
    let changed = |address: &str| {
        let answer = |list: &[(String, String)]| {
            list.iter().find(|(asked, _)| asked == address).unwrap().1.clone()
        };
        answer(&before) != answer(&after)
    };
    // What is the same for whatever is published, what is of another time, and what is not there.
    let others = [
        "openapi",
        "health",
        "robots",
        "as_of",
        "monthly",
        "calendar",
        "tile/0/000.p/1",
        "verify",
        "harvest/request",
        "harvest/preview",
        "croissant",
        "integrations",
        "ogc",
    ];
    let silent: Vec<&str> = ADDRESSES
        .into_iter()
        .filter(|address| !others.iter().any(|part| address.contains(part)))
        .filter(|address| !changed(&format!("GET {address}")))
        .collect();
    assert_eq!(silent, [""; 0], "they do not tell of it");
    let get = async |path: &str| app.get(path).key(&key).send().await;
    let shown = get("/v1/datasets/harvest").await.json();
    assert_eq!(shown["current_snapshot_id"], id);
    assert_eq!(shown["last_refreshed_at"], at.to_rfc3339());
    let rows = get(&format!("/v1/datasets/harvest/data?as_of={}", at.to_rfc3339())).await;
    assert_eq!((rows.status.as_u16(), rows.header("x-service-snapshot-id")), (200, id.clone()));
    let earlier = Millis(at.0 - 1_000).to_rfc3339();
    let rows = get(&format!("/v1/datasets/harvest/data?as_of={earlier}")).await;
    assert_eq!(rows.header("x-service-snapshot-id"), old);
    let changes = get(&format!("/v1/datasets/harvest/changes?since={old}")).await;
    assert!(changes.text().contains("777.5"), "{}", changes.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_a_release_are_read_where_they_waited_until_they_are_moved_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    app.publish(&harvest()).await;
    let at = Millis(now(&app).await.0 + 1_500).whole_second();
    let id = app.release(&newer(), at).await;
    wait_for(&app, Millis(at.0 + 20)).await;
    let get = async |path: &str| app.get(path).key(&key).send().await;
    let file = async || get("/v1/bulk/farms/harvest?freshness=current").await;
    let rows = async || get("/v1/datasets/harvest/data?format=csv").await;
    let (bulk, table) = (file().await, rows().await);
    assert_eq!((bulk.status.as_u16(), table.header("x-service-snapshot-id")), (200, id.clone()));

    // A publish moves them, and what follows is compared with what was released.
    let next = app.publish(&newer().with_appended("2025-01-01,Auckland,888.5,true\n")).await;
    assert!(app.store.waiting_files(false).await.unwrap().is_empty());
    let pinned = get(&format!("/v1/datasets/harvest/data?format=csv&snapshot={id}")).await;
    assert_eq!(pinned.text(), table.text());
    let changes = get(&format!("/v1/datasets/harvest/changes?since={id}")).await;
    assert_eq!(changes.header("x-service-snapshot-id"), next);
    assert_eq!(finish_releases(&app.store, &app.files, None).await.unwrap(), 0);
    let settings =
        GcSettings { retention: Retention::default(), unnamed_for: Duration::ZERO, dry_run: false };
    tokio::time::sleep(Duration::from_millis(5)).await;
    collect_garbage(&app.store, &app.files, settings).await.unwrap();
    let waiting = app.folder.path().join("objects/waiting");
    assert_eq!(std::fs::read_dir(&waiting).unwrap().count(), 0, "the copies are in use");
    let again = get(&format!("/v1/datasets/harvest/data?format=csv&snapshot={id}&limit=7")).await;
    assert_eq!(again.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_moved_holds_up_no_other_contract_21() {
    let app = TestApp::start().await;
    let at = Millis(now(&app).await.0 + 12_000).whole_second();
    let names = ["lost", "moved", "waits"];
    for name in names {
        app.release(&harvest().named(name), at).await;
    }
    wait_for(&app, Millis(at.0 + 20)).await;
    app.store.settle_due_releases().await.unwrap();
    let mut files = Vec::new();
    for name in names {
        let name = DatasetName::parse(name).unwrap();
        files.push(app.store.current_snapshot(&name).await.unwrap().unwrap().file);
    }
    let [lost, moved, waits]: [StoredFile; 3] = files.try_into().unwrap();
    // One was moved, and what was copied is gone before the catalog was told. Another is lost.
    app.files.copy_waiting(&moved.sha256).await.unwrap();
    for file in [&lost, &moved] {
        app.files.remove(&ObjectKey::waiting(&file.sha256)).await.unwrap();
    }
    let failure = finish_releases(&app.store, &app.files, None).await.unwrap_err();
    assert!(
        matches!(failure, ReleaseFilesFailure::Storage(StorageFailure::Missing { .. })),
        "{failure}"
    );
    let left: Vec<_> = app.store.waiting_files(true).await.unwrap().into_iter().collect();
    assert_eq!(left, [lost.sha256]);
    let others = app.files.with_waiting_files(WaitingFiles::default());
    for file in [&moved, &waits] {
        assert!(others.exists(file).await.unwrap(), "{}", file.sha256);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_show_a_release_together_and_never_early_contract_21() {
    let app = TestApp::start().await;
    let other = app.second_host(ReleaseMonitorSettings::default()).await;
    let key = app.key(Plan::Enterprise).await;
    app.publish(&harvest()).await;
    let at = Millis(now(&app).await.0 + 3_000).whole_second();
    let id = app.release(&newer(), at).await;
    let mut seen = [None, None];
    while seen.contains(&None) {
        for (host, seen) in [&app, &other].into_iter().zip(&mut seen) {
            let reply = host.head("/v1/datasets/harvest/data").key(&key).send().await;
            let clock = now(&app).await;
            if reply.header("x-service-snapshot-id") == id {
                assert!(clock >= at, "shown at {clock:?}, due at {at:?}");
                seen.get_or_insert(clock);
            }
        }
        assert!(now(&app).await.0 < at.0 + 20_000, "{seen:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_announced_release_is_named_by_its_title_alone_until_its_time_contract_21() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let at = Millis(now(&app).await.0 + 4_000).whole_second();
    let secret = newer().named("secret");
    let id = app.release_announced(&secret, at, Some("Prices of the quarter")).await;
    while app.catalog_cache.announcements().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let pages = ["/calendar", "/calendar.ics", "/calendar.json", "/calendar/feed.xml"];
    for page in pages {
        let text = app.get(page).send().await.text();
        assert!(text.contains("Prices of the quarter"), "{page}: {text}");
        assert!(!text.contains("secret") && !text.contains(&id), "{page}: {text}");
    }
    wait_for(&app, Millis(at.0 + 20)).await;
    for page in pages {
        let text = app.get(page).send().await.text();
        assert!(text.contains("/datasets/secret"), "{page}: {text}");
    }
}
