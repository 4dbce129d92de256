//! `/v1/datasets/{name}/values` (contract-15-values): what publishing stored and what is counted,
//! pages, conditions, charges.

use std::path::PathBuf;

use serde_json::{Value, json};
use yearbook_domain::values::MAX_COLUMNS;
use yearbook_domain::{Plan, Snapshot};
use yearbook_tests::app::{HostFixture, Reply, TestApp, harvest, parks};
use yearbook_tests::components::root;

const PATH: &str = "/v1/datasets/harvest/values";

/// Packages with dates, periods, geometry, wide columns and nulls.
const PACKAGES: [&str; 6] = [
    "us_unemployment_by_industry",
    "us_state_capitals",
    "us_wildlife_strikes",
    "noaa_atlantic_storms",
    "us_macro_quarterly",
    "us_traffic_fatalities",
];

async fn publish_package(app: &TestApp, name: &str) {
    let package = root().join("datasets").join(name);
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
}

async fn service() -> (TestApp, String) {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

async fn values(app: &TestApp, key: &str, path: &str) -> Value {
    let reply = app.get(path).key(key).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

async fn used(app: &TestApp, key: &str) -> u64 {
    let me = app.get("/v1/me").key(key).send().await.json();
    me["requests"]["used"].as_u64().unwrap()
}

/// Names of the columns that have values, as many as one request may name.
fn named(snapshot: &Snapshot) -> Vec<String> {
    let names: Vec<&str> = snapshot.columns.iter().map(|column| column.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| *name != "geometry_wkt").collect();
    names.chunks(MAX_COLUMNS).map(|names| names.join(",")).collect()
}

/// Paths of what was stored beside the files.
fn sidecars(app: &TestApp) -> Vec<PathBuf> {
    let folder = app.folder.path().join("objects/snapshots");
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension() == Some("values".as_ref())).collect()
}

#[tokio::test]
async fn the_example_of_the_contract_contract_15() {
    let app = TestApp::start().await;
    publish_package(&app, PACKAGES[0]).await;
    let key = app.key(Plan::Free).await;
    let path =
        "/v1/datasets/us_unemployment_by_industry/values?columns=industry&limit=1&start=2010-01-01";
    let found = values(&app, &key, path).await;
    let id = app.catalog_cache.dataset(PACKAGES[0]).unwrap().current.id;
    let value = json!({
        "value": "Agriculture", "label": null,
        "rows": 4, "first": "2010-01-01", "last": "2010-02-01",
    });
    let expected = json!({
        "name": PACKAGES[0], "snapshot_id": id.as_str(),
        "selection": "start=2010-01-01", "rows": 56,
        "columns": [{
            "name": "industry", "role": "dimension", "distinct": 14, "nulls": 0,
            "values": [value], "next": "Agriculture",
        }],
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn values_are_counted_within_a_box_contract_15() {
    let app = TestApp::start().await;
    publish_package(&app, "us_state_capitals").await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/us_state_capitals/values?columns=city&bbox=";
    let of_box = async |bbox: &str| {
        let found = values(&app, &key, &format!("{path}{bbox}")).await;
        let column = &found["columns"][0];
        let names = column["values"].as_array().unwrap().iter();
        let names: Vec<String> = names.map(|one| one["value"].as_str().unwrap().into()).collect();
        assert_eq!((column["distinct"].as_u64(), found["rows"].as_u64()), {
            let count = Some(names.len() as u64);
            (count, count)
        });
        (found["selection"].clone(), names)
    };
    let (selection, cities) = of_box("-80,35,-75,40").await;
    assert_eq!(selection, "bbox=-80.0%2C35.0%2C-75.0%2C40.0");
    assert_eq!(cities, ["Annapolis", "Dover", "Raleigh", "Richmond"]);
    // A condition holds besides, across 180 degrees too, and somewhere there is nothing.
    assert_eq!(of_box("-80,35,-75,40&where.state=Virginia").await.1, ["Richmond"]);
    assert_eq!(of_box("150,15,-150,25").await.1, ["Honolulu"]);
    assert_eq!(of_box("0,0,1,1").await.1, [""; 0]);
    // Where there is no geometry there is no box.
    app.publish(&harvest()).await;
    let refused = app.get(&format!("{PATH}?bbox=0,0,1,1")).key(&key).send().await;
    assert_eq!(refused.json()["detail"][0]["loc"], json!(["query", "bbox"]));
}

#[tokio::test]
async fn stored_and_counted_values_agree_contract_15() {
    let fixture = HostFixture::default();
    let app = TestApp::on_fixture(&fixture).await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    for name in PACKAGES {
        publish_package(&app, name).await;
    }
    let key = app.key(Plan::Enterprise).await;
    let mut answers: Vec<(String, Reply, bool)> = Vec::new();
    for name in PACKAGES.into_iter().chain(["harvest", "parks"]) {
        let snapshot = app.catalog_cache.dataset(name).unwrap().current.clone();
        let lists = named(&snapshot);
        let single = snapshot.columns.iter().map(|column| column.name.clone());
        let single: Vec<String> = single.filter(|name| name != "geometry_wkt").collect();
        for (columns, limit) in lists
            .iter()
            .map(|columns| (columns, 10_000))
            .chain(single.iter().flat_map(|column| [(column, 10_000), (column, 2)]))
        {
            let path = format!("/v1/datasets/{name}/values?columns={columns}&limit={limit}");
            let scans = app.reads().scans;
            let reply = app.get(&path).key(&key).send().await;
            assert_eq!(reply.status, 200, "{path}: {}", reply.text());
            answers.push((path, reply, app.reads().scans == scans));
        }
    }
    assert!(answers.iter().filter(|(.., was_stored)| *was_stored).count() > 50);
    sidecars(&app).into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
    // Snapshots that were published before values were stored: another host counts all of them.
    let other = TestApp::on_fixture(&fixture).await;
    for (path, stored, _) in answers {
        let scans = other.reads().scans;
        let counted = other.get(&path).key(&key).send().await;
        assert_eq!(other.reads().scans, scans + 1, "{path}");
        assert_eq!(counted.text(), stored.text(), "{path}");
        assert_eq!(counted.header("etag"), stored.header("etag"), "{path}");
        let known = other.get(&path).key(&key).header("if-none-match", &stored.header("etag"));
        assert_eq!(known.send().await.status, 304, "{path}");
    }
}

/// Every value of a column, page by page.
async fn pages(app: &TestApp, key: &str, path: &str, column: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let page = values(app, key, &format!("{path}columns={column}&limit=3{after}")).await;
        let column = &page["columns"][0];
        let values = column["values"].as_array().unwrap();
        assert!(values.len() <= 3);
        found.extend(values.iter().cloned());
        let next = match &column["next"] {
            Value::Null => return found,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert_eq!(column["next"], found.last().unwrap()["value"]);
        let escaped: String = next.bytes().map(|byte| format!("%{byte:02X}")).collect();
        after = format!("&after={escaped}");
    }
}

#[tokio::test]
async fn pages_of_values_are_all_values_ascending_contract_15() {
    let (app, key) = service().await;
    let table = harvest().with_field("code", "integer").with_rows(
        "date,region,value,final,code\n\
         2020-01-01,b,NaN,true,10\n2020-01-02,a b,-0,false,9\n2020-01-03,B,0,,-1\n\
         2020-01-04,ā,INF,true,\n2020-01-05,z,-INF,true,9\n2020-01-06,y,5,true,1000\n\
         2020-01-07,x,1e300,false,10\n2020-01-08,w,,true,2\n",
    );
    app.publish(&table).await;
    let listed = |found: &[Value]| -> Vec<Value> {
        found.iter().map(|value| value["value"].clone()).collect()
    };
    for (selection, start) in [("?", ""), ("?start=2020-01-01&", "start=2020-01-01")] {
        let path = format!("{PATH}{selection}");
        for (column, expected) in [
            ("value", json!(["-INF", 0.0, 5.0, 1e300, "INF", "NaN"])),
            ("code", json!([-1, 2, 9, 10, 1000])),
            ("final", json!([false, true])),
            ("region", json!(["B", "a b", "b", "w", "x", "y", "z", "ā"])),
        ] {
            let found = pages(&app, &key, &path, column).await;
            assert_eq!(Value::Array(listed(&found)), expected, "{column}");
        }
        let all = values(&app, &key, &format!("{path}columns=code,value")).await;
        assert_eq!((&all["rows"], &all["selection"]), (&json!(8), &json!(start)));
        assert_eq!(all["columns"][0]["nulls"], 1);
        let nine = &all["columns"][0]["values"][2];
        let expected = json!({
            "value": 9, "label": null, "rows": 2, "first": "2020-01-02", "last": "2020-01-05",
        });
        assert_eq!(nine, &expected);
        assert_eq!(all["columns"][1]["values"][1]["rows"], 2, "-0 and 0 are one value");
    }
}

#[tokio::test]
async fn counts_are_over_the_whole_selection_contract_15() {
    let (app, key) = service().await;
    let of = async |query: &str| values(&app, &key, &format!("{PATH}?{query}")).await;
    let all = of("").await;
    assert_eq!((&all["rows"], all["columns"].as_array().unwrap().len()), (&json!(120), 1));
    assert_eq!(all["columns"][0]["values"][1]["value"], "Māori land");
    let north = of("dimensions=NORTH&columns=region,final").await;
    assert_eq!((&north["rows"], &north["selection"]), (&json!(40), &json!("dimensions=NORTH")));
    assert_eq!(north["columns"][0]["distinct"], 1);
    let halves: Vec<&Value> = north["columns"][1]["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| &value["rows"])
        .collect();
    assert_eq!(halves, [20, 20]);
    // The column's own condition holds too.
    let own = of("where.region=Auckland&where.final=yes&start=2021-01-01").await;
    assert_eq!(own["selection"], "start=2021-01-01&where.final=true&where.region=Auckland");
    let auckland = &own["columns"][0]["values"][0];
    assert_eq!((&own["rows"], &own["columns"][0]["distinct"]), (&json!(14), &json!(1)));
    assert_eq!((&auckland["rows"], &auckland["first"]), (&json!(14), &json!("2021-01-01")));
    let nothing = of("start=2050-01-01&columns=date,value").await;
    assert_eq!(nothing["rows"], 0);
    for column in nothing["columns"].as_array().unwrap() {
        assert_eq!((&column["distinct"], &column["values"]), (&json!(0), &json!([])));
    }
    // Without a date axis there are no dates, and none of its conditions.
    app.publish(&parks()).await;
    let parks = values(&app, &key, "/v1/datasets/parks/values?start=2020-01-01").await;
    assert_eq!((&parks["selection"], &parks["rows"]), (&json!(""), &json!(3)));
    let first = json!({"value": "Albert", "label": null, "rows": 1, "first": null, "last": null});
    assert_eq!(parks["columns"][0]["values"][0], first);
    // Without a column, rows are counted still.
    let bare = harvest().named("bare").with("/yearbook/dimensions", json!([]));
    app.publish(&bare).await;
    let bare = values(&app, &key, "/v1/datasets/bare/values?end=2020-12-31").await;
    assert_eq!((&bare["columns"], &bare["rows"]), (&json!([]), &json!(36)));
}

#[tokio::test]
async fn stored_values_are_free_and_a_selection_is_charged_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    for free in ["", "?columns=date,region,final", "?columns=region&after=Auckland", "?first=1"] {
        for _ in 0..4 {
            assert_eq!(app.get(&format!("{PATH}{free}")).key(&key).send().await.status, 200);
        }
    }
    for refused in ["?limit=0", "?columns=geometry_wkt", "?where.nothing=1", "?snapshot=x"] {
        app.get(&format!("{PATH}{refused}")).key(&key).send().await;
    }
    let selection = format!("{PATH}?start=2021-01-01");
    assert_eq!(app.head(&selection).key(&key).send().await.status, 200);
    assert_eq!(used(&app, &key).await, 0);
    let reply = app.get(&selection).key(&key).send().await;
    let known = app.get(&selection).key(&key).header("if-none-match", &reply.header("etag"));
    assert_eq!((reply.status.as_u16(), known.send().await.status.as_u16()), (200, 304));
    assert_eq!(
        (used(&app, &key).await, reply.header("x-ratelimit-remaining")),
        (1, "9".to_owned())
    );
    // A value column is counted, and so is charged.
    for _ in 0..9 {
        let path = format!("{PATH}?columns=value");
        assert_eq!(app.get(&path).key(&key).send().await.status, 200);
    }
    let late = app.get(&selection).key(&key).send().await;
    assert_eq!(late.outcome(), (429, "quota_used_up".to_owned()));
    assert_eq!(app.get(PATH).key(&key).send().await.status, 200, "stored values go on");
    assert_eq!(app.get(PATH).send().await.outcome().0, 401);
}

#[tokio::test]
async fn values_have_a_tag_of_what_was_asked_and_the_headers_of_rows_contract_15() {
    let (app, key) = service().await;
    let ask = async |query: &str| app.get(&format!("{PATH}?{query}")).key(&key).send().await;
    let mut tags = Vec::new();
    for query in [
        "",
        "limit=2",
        "columns=region&after=a",
        "columns=region&after=b",
        "columns=date",
        "columns=date,region",
        "columns=region,date",
        "start=2021-01-01",
        "where.final=true",
        "where.final=false",
    ] {
        let (scans, head) = (app.reads().scans, app.head(&format!("{PATH}?{query}")));
        let head = head.key(&key).send().await;
        assert_eq!(app.reads().scans, scans, "HEAD reads nothing");
        let reply = ask(query).await;
        assert_eq!((head.status, reply.status), (reply.status, http::StatusCode::OK), "{query}");
        assert!(head.body.is_empty());
        for name in [
            "etag",
            "cache-control",
            "content-type",
            "vary",
            "last-modified",
            "x-service-attribution",
        ] {
            assert_eq!(head.header(name), reply.header(name), "{query} {name}");
            assert_ne!(reply.header(name), "", "{query} {name}");
        }
        assert_eq!(reply.header("cache-control"), "private, no-cache");
        assert_eq!(reply.header("vary"), "Accept-Encoding, X-API-Key, Authorization");
        tags.push(reply.header("etag"));
    }
    let all = tags.len();
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), all, "each has a tag of its own");
    for (one, other) in [
        ("", "limit=1000&columns=region&tap=1&last=1&sort=value"),
        ("where.final=true", "where.final=yes&format=csv"),
        ("where.region=b&where.region=a", "where.region=a&where.region=b&where.region=a"),
    ] {
        let (one, other) = (ask(one).await, ask(other).await);
        assert_eq!((one.header("etag"), one.body), (other.header("etag"), other.body));
    }
    let plain = ask("columns=date").await;
    let packed =
        app.get(&format!("{PATH}?columns=date")).key(&key).header("accept-encoding", "gzip");
    let packed = packed.send().await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    let tag = plain.header("etag");
    assert_eq!(packed.header("etag"), format!("\"{}-gzip\"", tag.trim_matches('"')));
    let other = app.get(PATH).key(&key).header("if-match", "\"x\"").send().await;
    assert_eq!(other.status, 412);
    assert_eq!(
        ask("sort=date&first=1&start=2020-01-01").await.header("x-service-ignored"),
        "sort,first"
    );
}

#[tokio::test]
async fn refusals_of_values_are_those_of_rows_contract_15() {
    let (app, key) = service().await;
    let of = async |path: &str| app.get(path).key(&key).send().await;
    for (query, named) in [
        ("columns=region,nothing", &["columns"][..]),
        ("limit=10001&start=x&after=y", &["limit", "start", "after"]),
        ("columns=value&after=x", &["after"]),
        ("columns=region&where.nothing=1&bbox=0,0,1,1", &["where.nothing", "bbox"]),
    ] {
        let reply = of(&format!("{PATH}?{query}")).await;
        let names: Vec<String> = reply.problems().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, named, "{query}");
    }
    app.publish(&parks()).await;
    let geometry = of("/v1/datasets/parks/values?columns=geometry_wkt").await;
    assert_eq!(geometry.problems()[0].0, "columns");
    for (path, outcome) in [
        ("/v1/datasets/nothing/values", (404, "no_such_dataset")),
        (&format!("{PATH}?snapshot={}", "0".repeat(32)), (404, "no_such_snapshot")),
    ] {
        assert_eq!(of(path).await.outcome(), (outcome.0, outcome.1.to_owned()), "{path}");
    }
    // A retained version has values of its own.
    let old = app.catalog_cache.dataset("harvest").unwrap().current.id;
    app.publish(&harvest().with_appended("2030-01-01,Otago,1.5,true\n")).await;
    let [now, then] = [PATH.to_owned(), format!("{PATH}?snapshot={old}")];
    let (now, then) = (values(&app, &key, &now).await, values(&app, &key, &then).await);
    assert_eq!(
        (&now["columns"][0]["distinct"], &then["columns"][0]["distinct"]),
        (&json!(4), &json!(3))
    );
    assert_eq!((&then["snapshot_id"], &then["rows"]), (&json!(old.as_str()), &json!(120)));
}

#[tokio::test]
async fn pages_of_long_texts_end_with_a_value_that_can_be_sent_contract_15() {
    let (app, key) = service().await;
    let long = |letter: &str| letter.repeat(2_000);
    let rows: String = [long("a"), "b".to_owned(), long("c"), long("d"), "e".to_owned()]
        .iter()
        .enumerate()
        .map(|(day, region)| format!("2020-01-0{},{region},1,true\n", day + 1))
        .collect();
    app.publish(&harvest().with_rows(&format!("date,region,value,final\n{rows}"))).await;
    for selection in ["", "&start=2020-01-01"] {
        let page = async |query: &str| {
            let path = format!("{PATH}?columns=region{selection}{query}");
            let found = values(&app, &key, &path).await;
            let column = &found["columns"][0];
            let texts = column["values"].as_array().unwrap().iter();
            let texts: Vec<usize> = texts.map(|of| of["value"].as_str().unwrap().len()).collect();
            (texts, column["next"].clone())
        };
        assert_eq!(page("&limit=3").await, (vec![2_000, 1], json!("b")));
        assert_eq!(page("&limit=3&after=b").await, (vec![2_000, 2_000, 1], Value::Null));
        assert_eq!(page("").await, (vec![2_000, 1, 2_000, 2_000, 1], Value::Null));
        assert_eq!(page("&limit=2&after=d~").await, (vec![1], Value::Null));
        let path = format!("{PATH}?columns=region{selection}&limit=2&after=b");
        let before = used(&app, &key).await;
        let refused = app.get(&path).key(&key).send().await;
        let sentence = "column 'region' has texts of more than 1024 bytes for more than one page";
        assert_eq!((refused.status.as_u16(), refused.problems()[0].0.as_str()), (422, "columns"));
        assert!(refused.text().contains(sentence), "{}", refused.text());
        assert_eq!(used(&app, &key).await, before);
    }
}

#[tokio::test]
async fn damaged_stored_values_are_counted_contract_15() {
    let fixture = HostFixture::default();
    let app = TestApp::on_fixture(&fixture).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let expected = values(&app, &key, PATH).await;
    let [path] = sidecars(&app).try_into().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let other = TestApp::on_fixture(&fixture).await;
    let scans = other.reads().scans;
    assert_eq!(values(&other, &key, PATH).await, expected);
    assert_eq!(other.reads().scans, scans + 1);
    other.publish(&harvest()).await;
    let repaired = TestApp::on_fixture(&fixture).await;
    let scans = repaired.reads().scans;
    assert_eq!(values(&repaired, &key, PATH).await, expected, "the snapshot is the same one");
    assert_eq!(repaired.reads().scans, scans);
}
