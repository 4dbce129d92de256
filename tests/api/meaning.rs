//! Meaning of values (`docs/spec/meaning.md`): statuses, labels, notes and languages, from the
//! package to the metadata, `/values`, and the schemas of rows.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{Reply, TestApp};

const ROWS: &str = "\
date,region,name,people,status
2025-01-01,01,Northland,10,A
2025-01-01,09,Wellington,,Q
2025-04-01,01,Northland,12,P
2025-04-01,09,Wellington,20,
";

fn descriptor() -> Value {
    json!({
        "name": "people", "languages": ["en", "mi"],
        "title": {"en": "People by region", "mi": "He tāngata"},
        "description": "Counted people.",
        "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Stats"}],
        "resources": [{"path": "people.csv", "schema": {
            "fields": [
                {"name": "date", "type": "date"},
                {"name": "region", "type": "string", "title": {"en": "Region", "mi": "Rohe"}},
                {"name": "name", "type": "string"},
                {"name": "people", "type": "integer", "unit": "people"},
                {"name": "status", "type": "string", "description": {"en": "Status", "mi": "Tūnga"}}
            ],
            "primaryKey": ["date", "region"]
        }}],
        "yearbook": {
            "namespace": "stats", "dimensions": ["region"],
            "status": {"status": {"of": ["people"], "codes": "sdmx-obs"}},
            "labels": {"region": {"01": "Northland", "09": {"en": "Wellington", "mi": "Te Whanganui-a-Tara"}}},
            "notes": [
                {"text": {"en": "Provisional.", "mi": "Mō te wā."}, "column": "people", "where": {"date.ge": "2025-04-01"}},
                {"text": "Counted at night."}
            ]
        }
    })
}

/// A package with these words and rows.
fn package(descriptor: &Value, rows: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("people.csv"), rows).unwrap();
    std::fs::write(folder.path().join("datapackage.json"), descriptor.to_string()).unwrap();
    folder
}

async fn service(descriptor: &Value) -> (TestApp, String) {
    let app = TestApp::start().await;
    let folder = package(descriptor, ROWS);
    app.publish_package(folder.path(), yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

async fn get(app: &TestApp, key: &str, path: &str) -> Reply {
    let reply = app.get(path).key(key).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply
}

#[tokio::test]
async fn the_metadata_tells_what_the_package_says_contract_21() {
    let (app, key) = service(&descriptor()).await;
    let told = get(&app, &key, "/v1/datasets/people").await.json();
    assert_eq!(told["languages"], json!(["en", "mi"]));
    assert_eq!(told["title"], "People by region");
    assert_eq!(
        told["notes"],
        json!([
            {"text": "Provisional.", "column": "people", "where": {"date.ge": ["2025-04-01"]}},
            {"text": "Counted at night."},
        ])
    );
    let columns = told["columns"].as_array().unwrap();
    let [region, status] = [&columns[1], &columns[4]];
    assert_eq!((&region["title"], &region["labelled"]), (&json!("Region"), &json!(true)));
    assert_eq!(status["role"], "status");
    assert_eq!((&status["of"], &status["codes"]), (&json!(["people"]), &json!("sdmx-obs")));
    assert_eq!(columns[0].as_object().unwrap().len(), 6, "nothing is said of dates");
}

#[tokio::test]
async fn documents_are_in_the_language_that_is_wanted_contract_21() {
    let (app, key) = service(&descriptor()).await;
    let ask = async |path: &str, accept: &str| {
        app.get(path).key(&key).header("accept-language", accept).send().await
    };
    let own = ask("/v1/datasets/people", "").await;
    let other = ask("/v1/datasets/people", "fr, mi-NZ;q=0.8, en;q=0.5").await;
    for (reply, language, title) in [(&own, "en", "People by region"), (&other, "mi", "He tāngata")]
    {
        assert_eq!(reply.header("content-language"), language);
        assert!(reply.headers.get_all("vary").iter().any(|vary| vary == "Accept-Language"));
        assert_eq!(reply.json()["title"], title);
    }
    let told = other.json();
    assert_eq!(told["notes"][0]["text"], "Mō te wā.");
    assert_eq!(told["notes"][1]["text"], "Counted at night.", "nobody translated it");
    assert_eq!(told["columns"][1]["title"], "Rohe");
    assert_eq!(told["columns"][4]["description"], "Tūnga");
    assert_ne!(own.header("etag"), other.header("etag"));

    let chosen = ask("/v1/datasets/people?lang=en", "mi").await;
    assert_eq!(chosen.json(), own.json());
    assert!(chosen.headers.get("x-service-ignored").is_none());
    let list = ask("/v1/datasets?lang=mi", "").await.json();
    assert_eq!(list[0]["title"], "He tāngata");
    let absent = ask("/v1/datasets/people?lang=de", "").await;
    assert_eq!(absent.header("content-language"), "en");
    let wrong = ask("/v1/datasets/people?lang=e_n", "").await;
    assert_eq!(
        (wrong.status.as_u16(), &wrong.json()["detail"][0]["loc"][1]),
        (422, &json!("lang"))
    );
}

#[tokio::test]
async fn without_languages_nothing_says_that_there_are_any_contract_21() {
    let mut plain = descriptor();
    plain.as_object_mut().unwrap().remove("languages");
    plain["title"] = json!("People by region");
    for field in [1, 4] {
        let field = &mut plain["resources"][0]["schema"]["fields"][field];
        field.as_object_mut().unwrap().remove("title");
        field.as_object_mut().unwrap().remove("description");
    }
    plain["yearbook"]["labels"] = json!({"region": {"from": "name"}});
    plain["yearbook"]["notes"] = json!([{"text": "Provisional."}]);
    let (app, key) = service(&plain).await;
    let reply =
        app.get("/v1/datasets/people").key(&key).header("accept-language", "mi").send().await;
    assert!(reply.headers.get("content-language").is_none());
    let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
    assert!(vary.iter().all(|vary| *vary != "Accept-Language"), "{vary:?}");
    assert!(reply.json().get("languages").is_none());
    let values = get(&app, &key, "/v1/datasets/people/values?columns=region").await.json();
    let labels: Vec<&Value> =
        values["columns"][0]["values"].as_array().unwrap().iter().map(|of| &of["label"]).collect();
    assert_eq!(labels, ["Northland", "Wellington"], "labels of another column");
}

#[tokio::test]
async fn values_have_their_labels_contract_21() {
    let (app, key) = service(&descriptor()).await;
    let labels = async |query: &str| {
        let reply = get(&app, &key, &format!("/v1/datasets/people/values?{query}")).await;
        let values = reply.json();
        let values = values["columns"][0]["values"].as_array().unwrap().clone();
        let pair = |of: &Value| (of["value"].clone(), of["label"].clone());
        (values.iter().map(pair).collect::<Vec<_>>(), reply)
    };
    let own = [(json!("01"), json!("Northland")), (json!("09"), json!("Wellington"))];
    assert_eq!(labels("columns=region").await.0, own);
    // Counted, not stored: the labels are the same.
    assert_eq!(labels("columns=region&start=2025-01-01").await.0, own);
    let (other, reply) = labels("columns=region&lang=mi").await;
    assert_eq!(other[1], (json!("09"), json!("Te Whanganui-a-Tara")));
    assert_eq!(other[0], own[0], "nobody translated it");
    assert_eq!(reply.header("content-language"), "mi");
    // A list of SDMX brings its labels.
    let (statuses, _) = labels("columns=status").await;
    assert_eq!(statuses[1], (json!("P"), json!("Provisional value")));
    // A column without labels has none.
    let (names, _) = labels("columns=name").await;
    assert_eq!(names[0], (json!("Northland"), Value::Null));
}

#[tokio::test]
async fn rows_do_not_know_of_languages_contract_21() {
    let (app, key) = service(&descriptor()).await;
    let plain = get(&app, &key, "/v1/datasets/people/data").await;
    let asked =
        app.get("/v1/datasets/people/data?lang=mi").key(&key).header("accept-language", "mi");
    let asked = asked.send().await;
    assert_eq!(plain.body, asked.body);
    assert_eq!(asked.header("x-service-ignored"), "lang");
    for name in ["etag", "x-service-attribution"] {
        assert_eq!(plain.header(name), asked.header(name), "{name}");
    }
}

#[tokio::test]
async fn a_status_column_says_in_arrow_what_it_speaks_of_contract_21() {
    let (app, key) = service(&descriptor()).await;
    let reply = get(&app, &key, "/v1/datasets/people/data?format=arrow").await;
    let reader =
        arrow::ipc::reader::StreamReader::try_new(std::io::Cursor::new(reply.body), None).unwrap();
    let schema = reader.schema();
    let metadata = schema.field_with_name("status").unwrap().metadata();
    assert_eq!(metadata["yearbook.role"], "status");
    assert_eq!(metadata["yearbook.of"], r#"["people"]"#);
    assert_eq!(metadata["yearbook.status"], "sdmx-obs");
}

#[tokio::test]
async fn a_publisher_may_forbid_changed_rows_contract_16() {
    let mut forbidding = descriptor();
    forbidding["yearbook"]["no_derivatives"] = json!(true);
    let (app, key) = service(&forbidding).await;
    let reply = app.get("/v1/datasets/people/data?apply=growth").key(&key).send().await;
    assert_eq!(reply.status, 403);
    assert_eq!(reply.header("x-service-error-code"), "no_derivatives");
    assert_eq!(get(&app, &key, "/v1/datasets/people").await.json()["no_derivatives"], true);
}

#[tokio::test]
async fn the_page_is_in_the_language_of_the_browser_contract_21() {
    let (app, _) = service(&descriptor()).await;
    let page = async |accept: &str| {
        app.get("/datasets/people").header("accept-language", accept).send().await
    };
    let (own, other) = (page("de").await, page("mi").await);
    assert_eq!(
        (own.header("content-language"), other.header("content-language")),
        ("en".into(), "mi".into())
    );
    let (own, other) = (own.text(), other.text());
    for (text, words) in [
        (&own, ["People by region", "Provisional.", "date.ge=2025-04-01", "<b>Region</b>"]),
        (&other, ["He tāngata", "Mō te wā.", "lang=\"mi\"", "<b>Rohe</b>"]),
    ] {
        for word in words {
            assert!(text.contains(word), "{word}");
        }
    }
    // A citation is the same in every language.
    assert!(other.contains("People by region") && !own.contains("He tāngata"));
    let ld = app.get("/datasets/people.jsonld?lang=mi").send().await;
    assert_eq!(ld.json()["name"], "He tāngata");
}

#[tokio::test]
async fn documents_for_machines_name_the_language_of_texts_contract_21() {
    let mut translated = descriptor();
    translated["languages"] = json!(["mi", "en"]);
    translated["yearbook"]["bulk_redistribution"] = json!(true);
    let (app, _) = service(&translated).await;
    let ask = async |path: &str| {
        let reply = app.get(path).send().await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply
    };
    let catalog = ask("/catalog.jsonld").await.json();
    let nodes = catalog["@graph"].as_array().unwrap();
    let dataset = nodes.iter().find(|node| node["dct:identifier"] == "people").unwrap();
    assert_eq!(dataset["dct:title"], json!({"@value": "He tāngata", "@language": "mi"}));
    assert_eq!(nodes[0]["dct:title"]["@language"], "en", "words of the service");
    let feed = ask("/feed.xml").await.text();
    for part in ["xml:lang=\"en\">\n<id>", "<entry xml:lang=\"mi\">", "<summary xml:lang=\"en\">"] {
        assert!(feed.contains(part), "{part} is not in {feed}");
    }
    let feed = ask("/datasets/people/feed.xml").await.text();
    assert!(feed.contains("<title xml:lang=\"mi\">He tāngata</title>"), "{feed}");
    let croissant = ask("/datasets/people/croissant.json").await.json();
    assert_eq!(croissant["@context"]["@language"], "mi");
    let file = &croissant["distribution"][0]["description"];
    assert_eq!(file, &json!({"en": "The whole table; an API key is needed."}));
    // In another language than the first.
    let feed = ask("/datasets/people/feed.xml?lang=en").await.text();
    assert!(feed.contains("<title>People by region</title>") && !feed.contains("mi\""), "{feed}");
    let croissant = ask("/datasets/people/croissant.json?lang=en").await.json();
    assert_eq!(croissant["@context"]["@language"], "en");
    assert_eq!(croissant["alternateName"], "People by region");
}

#[tokio::test]
async fn what_there_is_to_choose_has_its_labels_contract_21() {
    let (app, key) = service(&descriptor()).await;
    let page = get(&app, &key, "/datasets/people/request?lang=mi&where.region=09").await;
    assert_eq!(page.header("content-language"), "mi");
    for part in [
        "<label for=\"where.region\" lang=\"mi\">Rohe (region)</label>",
        "<option value=\"01\">Northland (01)</option>",
        "<option value=\"09\" selected lang=\"mi\">Te Whanganui-a-Tara (09)</option>",
        "<option value=\"P\">Provisional value (P)</option>",
        "<input type=\"hidden\" name=\"lang\" value=\"mi\">",
    ] {
        assert!(page.text().contains(part), "{part} is not in {}", page.text());
    }
    let page = get(&app, &key, "/datasets/people/request").await;
    assert_eq!(page.header("content-language"), "en");
    assert!(page.text().contains(">Wellington (09)</option>"), "{}", page.text());
}

#[tokio::test]
async fn search_finds_every_language_contract_21() {
    let (app, _) = service(&descriptor()).await;
    // The index is built behind the catalogue.
    let finds = async |words: &str| {
        let reply = app.get(&format!("/datasets?q={}", words.replace(' ', "+"))).send().await;
        reply.text().contains("/datasets/people\"")
    };
    for _ in 0..600 {
        if finds("people").await {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    for words in [
        "tangata",
        "rohe",
        "region",
        "mo te wa",
        "counted at night",
        "wellington",
        "te whanganui a tara",
    ] {
        assert!(finds(words).await, "{words}");
    }
    assert!(!finds("zebra").await);
}

#[tokio::test]
async fn charts_mark_provisional_values_and_breaks_contract_21() {
    let app = TestApp::start().await;
    let rows = "\
date,region,name,people,status
2024-07-01,01,Northland,9,A
2024-10-01,01,Northland,9,
2025-01-01,01,Northland,10,B
2025-04-01,01,Northland,12,P
2025-07-01,01,Northland,14,F
";
    let folder = package(&descriptor(), rows);
    app.publish_package(folder.path(), yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Enterprise).await;
    let picture = get(&app, &key, "/v1/datasets/people/data?format=svg").await.text();
    for said in [
        "latest 14 on 2025-07-01 (forecast),",
        "; 2 values not final (provisional or forecast) from 2025-04-01 to 2025-07-01;",
        " 1 break in the series on 2025-01-01. Dashed with rings: provisional or forecast.",
        ">dashed with rings: provisional or forecast</text>",
        ">vertical line: break in a series</text>",
    ] {
        assert!(picture.contains(said), "{said}: {picture}");
    }
    // The chart of the page is drawn from what was stored when the rows were published.
    let chart = app.get("/datasets/people/chart.svg").send().await.text();
    for said in [
        "latest 14 on 2025-07-01 (forecast),",
        "; 2 values not final (provisional or forecast) from 2025-04-01 to 2025-07-01;",
        " 1 break in the series on 2025-01-01. Dashed with rings: provisional or forecast.",
    ] {
        assert!(chart.contains(said), "{said}: {chart}");
    }
    // Its numbers, for those who do not see it.
    let page = app.get("/datasets/people").send().await.text();
    for said in [
        "Some values have a status, which stands beside its numbers.",
        "<td>2025-01-01</td><td class=\"number\">10</td><td>Time series break</td>",
        "<td>2025-04-01</td><td class=\"number\">12</td><td>Provisional value</td>",
        "<td>2024-10-01</td><td class=\"number\">9</td><td></td>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let columns = "/v1/datasets/people/data?format=svg&columns=date,region,people";
    let plain = get(&app, &key, columns).await.text();
    assert!(!plain.contains("not final") && !plain.contains("dashed with rings"), "{plain}");
}
