//! Documents for machines (contract-9-machine): addresses, types, and texts that try to break out.
//! `tests/external/discovery` has other people's validators read them.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use yearbook_domain::hex::encode_hex;
use yearbook_domain::{Millis, Plan};
use yearbook_tests::app::{Reply, TestApp, harvest, parks};

/// A title that ends every element around it, and one that turns its direction.
const HOSTILE: &str = "</script><b>]]>\u{202e}\"&'💩 Harvest";

/// Every document with its type.
const DOCUMENTS: [(&str, &str); 11] = [
    ("/catalog.jsonld", "application/ld+json"),
    ("/datasets/harvest.jsonld", "application/ld+json"),
    ("/datasets/harvest/croissant.json", "application/ld+json"),
    ("/feed.xml", "application/atom+xml; charset=utf-8"),
    ("/datasets/harvest/feed.xml", "application/atom+xml; charset=utf-8"),
    ("/calendar.ics", "text/calendar; charset=utf-8"),
    ("/calendar.json", "application/json"),
    ("/calendar/feed.xml", "application/atom+xml; charset=utf-8"),
    ("/sitemap.xml", "application/xml; charset=utf-8"),
    ("/opensearch.xml", "application/opensearchdescription+xml; charset=utf-8"),
    ("/robots.txt", "text/plain; charset=utf-8"),
];

async fn started() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest().with("/title", json!(HOSTILE)).with_keywords(&["food", "<b>"])).await;
    app.publish(&parks()).await;
    app
}

async fn get(app: &TestApp, path: &str) -> Reply {
    let reply = app.get(path).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply
}

#[tokio::test]
async fn documents_for_machines_have_addresses_of_their_own_contract_9() {
    let app = started().await;
    for (path, content_type) in DOCUMENTS {
        let reply = get(&app, path).await;
        assert_eq!(reply.header("content-type"), content_type, "{path}");
        assert_eq!(reply.header("cache-control"), "no-cache", "{path}");
        let tag = reply.header("etag");
        let head = app.head(path).send().await;
        assert_eq!(
            (head.status.as_u16(), head.header("etag"), head.body.len()),
            (200, tag.clone(), 0)
        );
        let unchanged = app.get(path).header("if-none-match", &tag).send().await;
        assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0), "{path}");
        assert!(!reply.text().contains("</script>"), "{path}");
        assert!(!reply.text().contains("<b>"), "{path}");
    }
    for path in
        ["/datasets/none.jsonld", "/datasets/none/croissant.json", "/datasets/none/feed.xml"]
    {
        assert_eq!(app.get(path).send().await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_page_of_a_dataset_contains_its_schema_org_dataset_contract_9() {
    let app = started().await;
    let page = get(&app, "/datasets/harvest").await.text();
    let start = "<script type=\"application/ld+json\">";
    let script = page.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    assert!(!script.contains('<'), "{script}");
    let embedded: Value = serde_json::from_str(script).unwrap();
    assert_eq!(embedded, get(&app, "/datasets/harvest.jsonld").await.json());
    assert_eq!(embedded["name"], HOSTILE);
    assert_eq!(embedded["keywords"], json!(["food", "<b>"]));
    assert_eq!(embedded["temporalCoverage"], "2020-01-01/2023-04-01");
    assert_eq!(embedded["license"], "https://licence.example/by");
    let description = embedded["description"].as_str().unwrap();
    assert!(description.chars().count() >= 50, "{description}");
    // The range is that of the preview facts, which is that of the table.
    let value = &embedded["variableMeasured"][0];
    assert_eq!((&value["name"], &value["unitText"]), (&json!("value"), &json!("tonnes")));
    assert_eq!((&value["minValue"], &value["maxValue"]), (&json!(1.5), &json!(392.5)));
}

#[tokio::test]
async fn croissant_names_the_bulk_file_by_its_digest_contract_9() {
    let app = started().await;
    let document = get(&app, "/datasets/harvest/croissant.json").await.json();
    assert_eq!(document["conformsTo"], "http://mlcommons.org/croissant/1.1");
    let file = &document["distribution"][0];
    let key = app.key(Plan::Enterprise).await;
    let path = file["contentUrl"].as_str().unwrap().trim_start_matches("http://test.example");
    let bulk = app.get(path).key(&key).send().await;
    assert_eq!(bulk.status, 200, "{path}");
    let hex = encode_hex(&Sha256::digest(&bulk.body));
    assert_eq!(file["sha256"], hex);
    let fields = document["recordSet"][0]["field"].as_array().unwrap();
    let names: Vec<&str> = fields.iter().filter_map(|field| field["name"].as_str()).collect();
    assert_eq!(names, ["date", "region", "value", "final"]);
}

#[tokio::test]
async fn pages_of_datasets_are_signposted_contract_9() {
    let app = started().await;
    let id = get(&app, "/datasets/harvest.jsonld").await.json()["version"].clone();
    for method in ["GET", "HEAD"] {
        let reply = app.ask(method, "/datasets/harvest").send().await;
        let links: Vec<&str> =
            reply.headers.get_all("link").iter().filter_map(|link| link.to_str().ok()).collect();
        let cite =
            format!("<http://test.example/cite/harvest/{}>; rel=\"cite-as\"", id.as_str().unwrap());
        assert!(links.contains(&cite.as_str()), "{links:?}");
        for rel in ["describedby", "item", "type", "license"] {
            let rel = format!("rel=\"{rel}\"");
            assert!(links.iter().any(|link| link.contains(&rel)), "{rel}: {links:?}");
        }
    }
}

/// Formats of the test service and those that the next test loads, pictures apart.
const FORMATS: [&str; 9] =
    ["json", "csv", "arrow", "parquet", "geojson", "geoparquet", "ndjson", "sdmx-csv", "xlsx"];

/// Values of `format=` in addresses of rows, in their order.
fn formats_in<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let format = |address: &str| Some(address.split_once("/data?format=")?.1.to_owned());
    addresses.into_iter().filter_map(format).collect()
}

fn calls(app: &TestApp) -> u64 {
    app.sandbox.metrics_snapshots().iter().map(|counts| counts.calls).sum()
}

#[tokio::test]
async fn documents_list_the_formats_that_a_dataset_can_send_contract_9() {
    let app = started().await;
    app.publish(&harvest().named("undated").with("/yearbook/date_filter_column", Value::Null))
        .await;
    FORMATS[4..].iter().for_each(|format| app.load(format));
    let key = app.key(Plan::Enterprise).await;
    let catalog = get(&app, "/catalog.jsonld").await.json();
    for name in ["harvest", "parks", "undated"] {
        let mut sent = Vec::new();
        for format in FORMATS {
            let path = format!("/v1/series/{name}/data?format={format}");
            match app.get(&path).key(&key).send().await.status.as_u16() {
                200 => sent.push(format),
                status => assert_eq!(status, 422, "{path}"),
            }
        }
        assert!(sent.len() < FORMATS.len() && sent.len() > 4, "{name}: {sent:?}");
        let page = get(&app, &format!("/datasets/{name}")).await;
        let links = page.headers.get_all("link").iter().filter_map(|link| link.to_str().ok());
        let items = links.filter_map(|link| Some(link.split_once(">; rel=\"item\"")?.0));
        assert_eq!(formats_in(items), sent, "links of {name}");
        let text = page.text();
        let shown = text.split("/formats#format-").skip(1);
        let shown: Vec<&str> = shown.filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(shown, sent, "page of {name}");
        let document = get(&app, &format!("/datasets/{name}.jsonld")).await.json();
        let distributions = document["distribution"].as_array().unwrap();
        let urls = distributions.iter().filter_map(|one| one["contentUrl"].as_str());
        assert_eq!(formats_in(urls), sent, "schema.org of {name}");
        let nodes = catalog["@graph"].as_array().unwrap();
        let node = nodes.iter().find(|node| node["dct:identifier"] == name).unwrap();
        let distributions = node["dcat:distribution"].as_array().unwrap();
        let urls = distributions.iter().filter_map(|one| one["dcat:accessURL"]["@id"].as_str());
        assert_eq!(formats_in(urls), sent, "DCAT of {name}");
    }
    let page = get(&app, "/formats").await.text();
    assert!(page.contains("/v1/series/harvest/data?format=csv"), "{page}");
    assert!(page.contains("/v1/series/parks/data?format=geojson"), "{page}");
    let before = calls(&app);
    for path in ["/catalog.jsonld", "/datasets/parks", "/datasets/parks?series=x"] {
        get(&app, path).await;
    }
    assert_eq!(calls(&app), before, "what encoders said is kept");
}

/// Every page and document of the dataset called `name`, and those of the catalog.
async fn texts(app: &TestApp, name: &str) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for path in
        ["/", "/datasets", "/catalog.jsonld", "/feed.xml", "/sitemap.xml", "/opensearch.xml"]
            .map(str::to_owned)
            .into_iter()
            .chain(
                ["", "/versions", ".jsonld", "/croissant.json", "/feed.xml"]
                    .map(|rest| format!("/datasets/{name}{rest}")),
            )
    {
        let text = get(app, &path).await.text();
        texts.push((path, text));
    }
    texts
}

#[tokio::test]
async fn one_thing_is_not_counted_in_the_plural_contract_9() {
    let app = TestApp::start().await;
    app.publish(
        &harvest().named("one").with_rows("date,region,value,final\n2024-01-01,Otago,1.5,true\n"),
    )
    .await;
    let nouns = "rows columns datasets agencies versions points series features more".split(' ');
    let plurals: Vec<String> = nouns.map(|noun| format!("1 {noun}")).collect();
    for (path, text) in texts(&app, "one").await {
        for plural in &plurals {
            for (at, _) in text.match_indices(plural.as_str()) {
                let before = text[..at].chars().next_back();
                assert!(
                    before.is_some_and(|letter| letter.is_ascii_digit() || letter == ','),
                    "{path} has {plural:?}: {}",
                    &text[at..text.floor_char_boundary(at + 60)]
                );
            }
        }
    }
}

#[tokio::test]
async fn control_characters_of_publishers_are_seen_contract_9() {
    let app = TestApp::start().await;
    let text = "a\u{0}b\u{1b}[2Jc\u{85}";
    let rows = format!("date,region,value,final\n2024-01-01,\"{text}\",1.5,true\n");
    app.publish(&harvest().named("controls").with_rows(&rows)).await;
    for (path, text) in texts(&app, "controls").await {
        let raw = text.chars().find(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(raw, None, "{path}");
    }
    let page = get(&app, "/datasets/controls").await.text();
    assert!(page.contains("a␀b␛[2Jc\u{fffd}</td>"), "{page}");
    for path in ["/datasets?q=%00%1b", "/datasets/%00%1b", "/datasets/controls?series=%00%1b"] {
        let reply = app.get(path).header("accept", "text/html").send().await;
        assert!(!reply.text().contains(['\0', '\u{1b}']), "{path}: {}", reply.text());
    }
}

#[tokio::test]
async fn search_follows_the_catalog_contract_9() {
    let app = TestApp::start().await;
    app.publish(&harvest().with("/title", json!("Māori land harvest")).with_keywords(&["food"]))
        .await;
    let finds = async |query: &str, expected: &str| {
        for _ in 0..200 {
            if get(&app, query).await.text().contains(expected) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("{query} never shows {expected}");
    };
    finds("/datasets?q=maori", "/datasets/harvest\"").await;
    finds("/datasets?q=hravest", "/datasets/harvest\"").await;
    finds("/datasets?topic=food", "/datasets/harvest\"").await;
    assert!(!get(&app, "/datasets?topic=none").await.text().contains("/datasets/harvest\""));
    app.publish(&parks().with("/title", json!("Playgrounds"))).await;
    finds("/datasets?q=playgrounds", "/datasets/parks\"").await;
    finds("/datasets?shape=spatial", "/datasets/parks\"").await;
    app.publish(&parks().with("/title", json!("Meadows"))).await;
    finds("/datasets?q=meadows", "/datasets/parks\"").await;
}

#[tokio::test]
async fn feeds_and_pages_name_the_largest_revision_contract_21_revised() {
    let app = TestApp::start().await;
    let table = |value: &str| {
        let rows = format!(
            "date,region,value,final\n2024-01-01,A & B,{value},true\n2024-02-01,A & B,20,true\n"
        );
        harvest().with_rows(&rows)
    };
    app.publish(&table("10.5")).await;
    let first = get(&app, "/datasets/harvest/versions").await.text();
    assert!(!first.contains("Largest revision"), "{first}");
    let now = async || app.store.database_time().await.unwrap();
    // Later than the first version.
    let at = Millis(now().await.0 + 1_000).whole_second();
    while now().await < at {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let plan = json!([{"at": at.to_rfc3339(), "title": "Harvest"}]);
    app.publish(&table("11.5").with("/yearbook/releases", plan)).await;
    for path in ["/datasets/harvest/feed.xml", "/feed.xml", "/calendar/feed.xml"] {
        let text = get(&app, path).await.text();
        let revision = "0 inserted, 0 deleted, 1 updated; largest revision: \
            value of 2024-01-01, A &amp; B from 10.5 to 11.5";
        assert!(text.contains(revision), "{path}: {text}");
    }
    for path in ["/datasets/harvest", "/datasets/harvest/versions"] {
        let text = get(&app, path).await.text();
        assert!(
            text.contains("value of 2024-01-01, A &#38; B from 10.5 to 11.5"),
            "{path}: {text}"
        );
    }
}
