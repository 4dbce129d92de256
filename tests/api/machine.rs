//! Documents for machines (contract-9-machine): addresses, types, and texts that try to break out.
//! `tests/external/discovery` has other people's validators read them.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use yearbook_domain::Plan;
use yearbook_domain::hex::encode_hex;
use yearbook_tests::app::{Reply, TestApp, harvest, parks};

/// A title that ends every element around it, and one that turns its direction.
const HOSTILE: &str = "</script><b>]]>\u{202e}\"&'💩 Harvest";

/// Every document with its type.
const DOCUMENTS: [(&str, &str); 8] = [
    ("/catalog.jsonld", "application/ld+json"),
    ("/datasets/harvest.jsonld", "application/ld+json"),
    ("/datasets/harvest/croissant.json", "application/ld+json"),
    ("/feed.xml", "application/atom+xml; charset=utf-8"),
    ("/datasets/harvest/feed.xml", "application/atom+xml; charset=utf-8"),
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
