//! Citations: the link of data answers, `/cite/{name}/{snapshot}`, digests, and what stays after
//! retention.

use std::sync::Arc;

use arrow::ipc::reader::StreamReader;
use serde_json::Value;
use yearbook_catalog::Retention;
use yearbook_domain::{CitationFormat, DatasetName, Millis, Plan, SnapshotId};
use yearbook_scan::ResultHasher;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{Reply, TestApp, harvest, parks, unbounded};

const DAY: i64 = 86_400_000;

/// The path of the citation that a data answer names.
fn cited(reply: &Reply) -> Option<String> {
    let links = reply.headers.get_all("link").iter().map(|value| value.to_str().unwrap());
    let mut found = links.filter_map(|link| {
        let target = link.strip_suffix(">; rel=\"cite-as\"")?;
        target.strip_prefix("<http://test.example").map(str::to_owned)
    });
    let first = found.next();
    assert_eq!(found.next(), None, "one at most");
    first
}

async fn harvested() -> (TestApp, String, String) {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    (app, id.to_string(), key)
}

#[tokio::test]
async fn every_data_answer_names_its_citation_contract_13() {
    let (app, id, key) = harvested().await;
    for (query, expected) in [
        ("", ""),
        ("?format=csv", ""),
        ("?limit=0&geometry=false", ""),
        ("?limit=5", "?limit=5"),
        ("?limit=120", ""),
        ("?limit=5000", ""),
        ("?end=2021-01-01&start=2020-03-01", "?end=2021-01-01&start=2020-03-01"),
        ("?start=2020-03-01&end=2021-01-01&format=arrow", "?end=2021-01-01&start=2020-03-01"),
        ("?dimensions=M%c4%81ori+LAND", "?dimensions=M%C4%81ori%20LAND"),
        ("?dimensions=north&limit=3", "?dimensions=north&limit=3"),
        ("?columns=value,date", "?columns=value%2Cdate"),
        ("?columns=date,region,value,final", ""),
    ] {
        for route in ["datasets", "series"] {
            let path = format!("/v1/{route}/harvest/data{query}");
            let reply = app.get(&path).key(&key).send().await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(cited(&reply), Some(format!("/cite/harvest/{id}{expected}")), "{path}");
            let head = app.head(&path).key(&key).send().await;
            // Only reading rows tells whether a search is cut.
            let expected = (query != "?dimensions=north&limit=3").then(|| cited(&reply)).flatten();
            assert_eq!(cited(&head), expected, "HEAD {path}");
        }
    }
    // A page of several cites everything that its filters select.
    let first = app.get("/v1/datasets/harvest/data?limit=5").key(&key).send().await;
    let cursor = first.header("x-next-page");
    let path = format!("/v1/datasets/harvest/data?limit=5&cursor={cursor}");
    let next = app.get(&path).key(&key).send().await;
    assert_eq!(cited(&next), Some(format!("/cite/harvest/{id}")));
    for method in ["GET", "HEAD"] {
        let bulk = app.ask(method, "/v1/bulk/farms/harvest").key(&key).send().await;
        let expected = Some(format!("/cite/harvest/{id}"));
        assert_eq!((bulk.status.as_u16(), cited(&bulk)), (200, expected), "{method}");
    }
    assert_eq!(cited(&app.get("/v1/datasets/harvest").key(&key).send().await), None);
}

#[tokio::test]
async fn a_citation_is_a_page_or_one_of_six_formats_contract_13() {
    let (app, id, _) = harvested().await;
    let path = format!("/cite/harvest/{id}");
    let page = app.get(&path).send().await;
    assert_eq!(
        (page.status.as_u16(), page.header("content-type").as_str()),
        (200, "text/html; charset=utf-8")
    );
    let text = page.text();
    for stated in ["Title of harvest", id.as_str(), "yb1:", "Attribution 4.0", "is no signature"] {
        assert!(text.contains(stated), "{stated} is not on the page: {text}");
    }
    assert!(page.header("vary").contains("Accept"));
    for format in CitationFormat::ALL {
        let named = app.get(&format!("{path}?format={}", format.name())).send().await;
        let accepted = app.get(&path).header("accept", format.media_type()).send().await;
        for reply in [&named, &accepted] {
            assert_eq!(reply.status, 200, "{}", format.name());
            assert_eq!(reply.header("content-type").split(';').next(), Some(format.media_type()));
        }
        assert_eq!(named.body, accepted.body);
        let text = named.text();
        assert!(
            text.contains(&id) && text.contains("yb1:") && text.contains("CC-BY-4.0"),
            "{text}"
        );
        let again = app
            .get(&format!("{path}?format={}", format.name()))
            .header("if-none-match", &named.header("etag"))
            .send()
            .await;
        assert_eq!(again.status, 304);
        assert_eq!(app.head(&format!("{path}?format={}", format.name())).send().await.status, 200);
    }
    for (path, outcome) in [
        (format!("{path}?format=word"), (422, String::new())),
        (format!("{path}?columns=nothing"), (422, String::new())),
        (format!("{path}?start=soon"), (422, String::new())),
        (format!("{path}?verify=perhaps"), (422, String::new())),
        (format!("{path}?verify="), (422, String::new())),
        (format!("{path}?format="), (422, String::new())),
        (format!("/cite/nothing/{id}"), (404, "no_such_dataset".to_owned())),
        (format!("/cite/harvest/{}", "0".repeat(32)), (404, "no_such_snapshot".to_owned())),
        ("/cite/harvest/latest".to_owned(), (404, "no_such_snapshot".to_owned())),
        (format!("{path}?verify=true"), (401, String::new())),
    ] {
        let reply =
            app.get(&path).header("accept", "application/json, text/html;q=0.1").send().await;
        assert_eq!(reply.status.as_u16(), outcome.0, "{path}: {}", reply.text());
        if !outcome.1.is_empty() {
            assert_eq!(reply.outcome(), outcome, "{path}");
        }
    }
}

#[tokio::test]
async fn the_same_query_in_any_spelling_has_the_same_citation_contract_13() {
    let (app, id, _) = harvested().await;
    let bytes = async |query: &str| {
        let reply = app.get(&format!("/cite/harvest/{id}?{query}")).send().await;
        assert_eq!(reply.status, 200, "{query}");
        reply.body
    };
    let one = bytes("start=2020-03-01&end=2021-01-01&columns=value,date").await;
    for other in [
        "columns=value%2cdate&end=2021-01-01&start=2020-03-01",
        "columns=value,date&geometry=true&end=2021-01-01&start=2020-03-01&tap=1",
        "start=1999-01-01&columns=value,+date&end=2021-01-01&start=2020-03-01&limit=0",
    ] {
        assert_eq!(bytes(other).await, one, "{other}");
    }
    assert_ne!(bytes("start=2020-03-01&end=2021-01-01&columns=date,value").await, one);
}

/// The digest of an Arrow stream, as a client computes it.
async fn arrow_digest(app: &TestApp, key: &str, id: &str, query: &str) -> (u64, String) {
    let path = format!("/v1/datasets/harvest/data?snapshot={id}&format=arrow&{query}");
    let reply = app.get(&path).key(key).send().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let reader = StreamReader::try_new(&*reply.body, None).unwrap();
    let schema = reader.schema();
    let dataset = app.catalog_cache.dataset("harvest").unwrap();
    let columns: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| &dataset.current.columns[dataset.current.column_index(field.name()).unwrap()])
        .collect();
    let mut hasher = ResultHasher::new(columns.into_iter());
    reader.for_each(|batch| hasher.update(&batch.unwrap()).unwrap());
    (hasher.rows(), hasher.finish().to_string())
}

#[tokio::test]
async fn verify_computes_the_digest_that_a_client_finds_contract_13() {
    let (app, id, key) = harvested().await;
    for query in [
        "",
        "start=2020-03-01&end=2021-01-01",
        "dimensions=north",
        "columns=value,date",
        "limit=7",
        "sort=-date&limit=7",
        "sort=-value,region&columns=region&limit=7",
        "last=2",
        "first=1&where.region.not=Auckland",
        "last=3&sort=value&limit=5",
    ] {
        let all = if query.contains("limit") { "" } else { "&limit=0" };
        let (rows, digest) = arrow_digest(&app, &key, &id, &format!("{query}{all}")).await;
        let path = format!("/cite/harvest/{id}?{query}&verify=true");
        let page = app.get(&path).key(&key).send().await;
        assert_eq!(page.status, 200, "{}", page.text());
        assert!(page.text().contains(&digest), "{query}: {digest}");
        assert!(page.header("cache-control").contains("private"));
        let item = app.get(&format!("{path}&format=csl-json")).key(&key).send().await.json();
        let note = item[0]["note"].as_str().unwrap().to_owned();
        assert!(note.contains(&format!("Rows: {rows}. Digest: {digest}.")), "{note}");
        // Without a key, only the whole snapshot has a digest: it was stored when it was published.
        let free = app.get(&format!("/cite/harvest/{id}?{query}&format=text")).send().await.text();
        assert_eq!(free.contains(&digest), query.is_empty(), "{query}: {free}");
    }
}

#[tokio::test]
async fn verify_is_charged_as_a_read_and_a_citation_is_free_contract_13() {
    let (app, id, _) = harvested().await;
    let key = app.key(Plan::Free).await;
    let used = async || -> Value {
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].clone()
    };
    let path = format!("/cite/harvest/{id}?start=2020-03-01");
    app.get(&path).key(&key).send().await;
    app.head(&format!("{path}&verify=true")).key(&key).send().await;
    assert_eq!(used().await, 0);
    for count in 1..=10 {
        assert_eq!(app.get(&format!("{path}&verify=true")).key(&key).send().await.status, 200);
        assert_eq!(used().await, count);
    }
    let refused = app.get(&format!("{path}&verify=true")).key(&key).send().await;
    assert_eq!(refused.outcome(), (429, "quota_used_up".to_owned()));
    assert_eq!(app.get(&path).send().await.status, 200);
}

#[tokio::test]
async fn a_condition_on_a_verified_citation_is_evaluated_before_the_read_contract_13() {
    let (app, id, _) = harvested().await;
    let key = app.key(Plan::Free).await;
    let path = format!("/cite/harvest/{id}?start=2020-03-01&verify=true");
    let before = app.reads();
    for (format, name, value, status) in [
        ("", "if-none-match", "*", 304),
        ("&format=text", "if-none-match", "*", 304),
        ("", "if-match", "\"nope\"", 412),
    ] {
        let asked = app.get(&format!("{path}{format}")).key(&key).header(name, value);
        assert_eq!(asked.send().await.status, status, "{format} {name}");
    }
    let head = app.head(&path).key(&key).send().await;
    assert_eq!((head.status.as_u16(), head.header("content-length")), (200, String::new()));
    assert_eq!(app.reads(), before);
    let verified = app.get(&path).key(&key).send().await;
    let stated = app.get(&format!("/cite/harvest/{id}?start=2020-03-01")).send().await;
    let tag = verified.header("etag");
    assert_eq!((verified.status.as_u16(), head.header("etag")), (200, tag.clone()));
    assert_ne!(stated.header("etag"), tag);
    let again = app.get(&path).key(&key).header("if-none-match", &tag).send().await;
    assert_eq!((again.status.as_u16(), again.header("etag")), (304, tag));
    let me = app.get("/v1/me").key(&key).send().await.json();
    assert_eq!(me["requests"]["used"], 1, "one read, one charge");
}

#[tokio::test]
async fn no_page_of_a_citation_reads_a_stored_file_contract_9() {
    let (app, id, _) = harvested().await;
    let before = app.reads();
    for query in ["", "?start=2020-03-01", "?format=text", "?dimensions=north&limit=3"] {
        assert_eq!(app.get(&format!("/cite/harvest/{id}{query}")).send().await.status, 200);
    }
    assert_eq!(app.reads(), before);
}

#[tokio::test]
async fn after_retention_a_citation_stays_and_names_the_nearest_snapshot_contract_13() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Pro).await;
    let now = yearbook_catalog::clock::now().0;
    let mut ids = Vec::new();
    for (days, value) in [(90, "1"), (60, "2"), (40, "3"), (0, "4")] {
        let rows = format!("date,region,value,final\n2024-01-01,Nelson,{value},true\n");
        ids.push(app.publish_at(&harvest().with_rows(&rows), Millis(now - days * DAY)).await);
    }
    let text = async |id: &dyn std::fmt::Display| {
        let reply = app.get(&format!("/cite/harvest/{id}?format=text")).send().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.text()
    };
    let before = text(&ids[0]).await;
    app.store
        .apply_retention(Retention { snapshots: 1, hours: 0, history: true }, false)
        .await
        .unwrap();
    app.catalog_cache.refresh().await.unwrap();
    let after = text(&ids[0]).await;
    assert!(after.starts_with(before.trim_end()), "it states what it stated: {before} {after}");
    let nearest = format!("The nearest snapshot that is kept is {}.", ids[2]);
    assert!(after.contains("is gone since") && after.contains(&nearest), "{after}");
    let page = app.get(&format!("/cite/harvest/{}", ids[0])).send().await;
    assert!(page.text().contains(&format!("/cite/harvest/{}", ids[2])), "{}", page.text());
    let verified = app.get(&format!("/cite/harvest/{}?verify=true", ids[0])).key(&key).send().await;
    assert_eq!(verified.outcome(), (410, "snapshot_gone".to_owned()));

    // A retired dataset is cited too.
    app.store.retire_dataset(&DatasetName::parse("harvest").unwrap()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    let retired = text(&ids[3]).await;
    assert!(retired.contains("the dataset was retired on"), "{retired}");
    assert!(text(&ids[0]).await.contains("is gone since"));
}

#[tokio::test]
async fn without_pages_there_are_no_citations_contract_9() {
    let mut settings: ServiceSettings = unbounded();
    settings.pages.enabled = false;
    let app = TestApp::with(settings).await;
    let id = app.publish(&parks()).await;
    let key = app.key(Plan::Pro).await;
    let reply = app.get("/v1/datasets/parks/data").key(&key).send().await;
    assert_eq!((reply.status.as_u16(), cited(&reply)), (200, None));
    assert_eq!(app.get(&format!("/cite/parks/{id}")).send().await.status, 404);
}

#[tokio::test]
async fn the_preview_and_the_facts_show_the_same_rows_contract_9() {
    let (app, id, _) = harvested().await;
    let preview = app.get("/v1/datasets/harvest/preview").send().await.json();
    let dataset = app.catalog_cache.dataset("harvest").unwrap();
    let id = SnapshotId::parse(&id).unwrap();
    let facts = app.catalog_cache.preview_facts(&dataset, &id).await.unwrap().unwrap();
    assert!(Arc::strong_count(&facts) > 1, "kept in memory");
    assert_eq!(preview["row_count"], facts.rows);
    let names: Vec<&str> = preview["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, facts.latest.columns);
    for (row, cells) in preview["rows"].as_array().unwrap().iter().zip(&facts.latest.rows) {
        for (name, cell) in names.iter().zip(cells) {
            let shown = row.get(*name).cloned().unwrap_or(Value::Null);
            let stated = serde_json::to_value(cell).unwrap();
            let same = match &shown {
                Value::Null => stated == "null",
                Value::Bool(value) => stated["boolean"] == *value,
                Value::Number(value) => stated["number"] == value.to_string(),
                Value::String(value) => stated["text"] == *value,
                _ => false,
            };
            assert!(same, "{name}: {shown} {stated}");
        }
    }
}
