//! Encoders that are told distinct values of columns before the first row
//! (`docs/spec/formats.md`), by the format `json-stat`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{Reply, TestApp, harvest};
use yearbook_tests::components::root;

const UNEMPLOYMENT: &str = "us_unemployment_by_industry";

async fn service() -> (TestApp, String) {
    let app = TestApp::start().await;
    app.load("json-stat");
    let package = root().join("datasets").join(UNEMPLOYMENT);
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

async fn get(app: &TestApp, key: &str, query: &str) -> Reply {
    app.get(&format!("/v1/datasets/{UNEMPLOYMENT}/data?{query}")).key(key).send().await
}

/// Values by the text of their categories, as JSON-stat numbers cells: the last dimension first.
fn cells(cube: &Value) -> BTreeMap<Vec<String>, Value> {
    let ids: Vec<&str> =
        cube["id"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let index = |id: &str| cube["dimension"][id]["category"]["index"].as_array().unwrap();
    let value = |(cell, value): (&String, &Value)| {
        let mut cell: usize = cell.parse().unwrap();
        let mut place: Vec<String> = ids
            .iter()
            .rev()
            .map(|id| {
                let codes = index(id);
                let code = &codes[cell % codes.len()];
                cell /= codes.len();
                code.as_str().unwrap().to_owned()
            })
            .collect();
        place.reverse();
        (place, value.clone())
    };
    cube["value"].as_object().unwrap().iter().map(value).collect()
}

/// The rows of an answer in JSON, as the same cells.
fn cells_of_rows(rows: &Value, key: &[&str], values: &[&str]) -> BTreeMap<Vec<String>, Value> {
    let mut cells = BTreeMap::new();
    for row in rows.as_array().unwrap() {
        let of_key = key.iter().map(|name| row[name].as_str().unwrap().to_owned());
        let place: Vec<String> = of_key.collect();
        for name in values {
            let place = place.iter().cloned().chain([(*name).to_owned()]).collect();
            cells.insert(place, row[name].clone());
        }
    }
    cells
}

const KEY: [&str; 3] = ["date", "industry", "measure"];

#[tokio::test]
async fn every_cell_is_that_of_the_rows_contract_19() {
    let (app, key) = service().await;
    for query in [
        "limit=0",
        "limit=7",
        "limit=0&start=2005-03-01&end=2006-01-01",
        "limit=0&where.industry=Construction&where.industry=Government",
        "limit=0&where.industry.contains=con&where.measure=rate&last=2",
        "limit=20&sort=-value",
        "limit=0&apply=growth&start=2009-01-01",
    ] {
        let reply = get(&app, &key, &format!("{query}&format=json-stat")).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        assert_eq!(reply.header("content-type"), "application/vnd.json-stat+json");
        let rows = get(&app, &key, query).await.json();
        let made = cells(&reply.json());
        assert!(!made.is_empty(), "{query}");
        assert_eq!(made, cells_of_rows(&rows, &KEY, &["value"]), "{query}");
    }
}

#[tokio::test]
async fn categories_are_less_what_conditions_and_dates_exclude_contract_19() {
    let (app, key) = service().await;
    let cube = get(
        &app,
        &key,
        "where.industry=Construction&where.industry=Nothing&start=2010-01-01&limit=1&format=json-stat",
    )
    .await;
    let cube = cube.json();
    assert_eq!(cube["size"][1], json!(1), "{cube}");
    let category = |id: &str| cube["dimension"][id]["category"]["index"].clone();
    assert_eq!(category("date"), json!(["2010-01-01", "2010-02-01"]));
    assert_eq!(category("industry"), json!(["Construction"]));
    assert_eq!(category("metric"), json!(["value"]));
    // One row is less than the selection could have.
    assert_eq!(cube["value"].as_object().unwrap().len(), 1);
    for dates in ["start=2010-01-01", "end=2001-03-01", "start=2005-03-01&end=2005-04-01", ""] {
        let query = format!("where.industry=Construction&{dates}&limit=1&format=json-stat");
        let stored = get(&app, &key, &query).await.json();
        let growth = get(&app, &key, &format!("{query}&apply=growth")).await;
        assert_eq!(growth.status, 200, "{dates}: {}", growth.text());
        let growth = growth.json();
        assert_eq!(growth["id"][0], json!("date"), "{dates}: {growth}");
        assert_eq!(growth["size"], stored["size"], "{dates}");
        let dates_of = |cube: &Value| cube["dimension"]["date"]["category"]["index"].clone();
        assert_eq!(dates_of(&growth), dates_of(&stored), "{dates}");
    }
}

#[tokio::test]
async fn categories_have_the_labels_of_the_first_language_contract_21() {
    let (app, key) = service().await;
    let package = root().join("tests/external/common/rents");
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let read = async |query: &str| {
        let path = format!("/v1/datasets/labelled_rents/data?{query}&format=json-stat");
        let reply = app.get(&path).key(&key).header("accept-language", "mi").send().await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        reply.json()
    };
    let cube = read("limit=0").await;
    let category = |name: &str| cube["dimension"][name]["category"].clone();
    let (region, dwelling) = (category("region"), category("dwelling"));
    assert_eq!(region["index"], json!(["02", "09", "99"]));
    assert_eq!(region["label"], json!({"02": "Auckland", "09": "Wellington"}));
    assert_eq!(dwelling["label"], json!({"1": "Flat", "2": "House", "3": "House"}));
    assert_eq!(category("date").get("label"), None);
    let cube = read("limit=0&where.region=09").await;
    let region = &cube["dimension"]["region"]["category"];
    assert_eq!(region["label"], json!({"09": "Wellington"}), "of the values that it has");
}

#[tokio::test]
async fn categories_behind_transforms_have_the_labels_of_their_columns_contract_21() {
    let (app, key) = service().await;
    let package = root().join("tests/external/common/rents");
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let path =
        "/v1/datasets/labelled_rents/data?limit=0&apply=growth&growth.unit=month&format=json-stat";
    let reply = app.get(path).key(&key).send().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let region = reply.json()["dimension"]["region"]["category"].clone();
    assert_eq!(region["label"], json!({"02": "Auckland", "09": "Wellington"}));
}

#[tokio::test]
async fn what_is_no_cube_is_422_for_get_and_head_contract_3_head_declined() {
    let (app, key) = service().await;
    for (path, sentence) in [
        (format!("{UNEMPLOYMENT}/data?columns=date,value"), "all columns of the primary key"),
        (format!("{UNEMPLOYMENT}/data?columns=date,industry,measure"), "no column of values"),
        (format!("{UNEMPLOYMENT}/data?apply=idle"), ""),
        (format!("{UNEMPLOYMENT}/changes?"), "no primary key"),
    ] {
        let path = format!("/v1/datasets/{path}&format=json-stat");
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(reply.status, 422, "{path}: {}", reply.text());
        assert!(reply.text().contains(sentence), "{path}: {}", reply.text());
        assert_eq!(app.head(&path).key(&key).send().await.status, 422, "{path}");
    }
    let path = format!("/v1/datasets/{UNEMPLOYMENT}/data?format=json-stat");
    assert_eq!(app.head(&path).key(&key).send().await.status, 200);
}

#[tokio::test]
async fn the_time_of_publication_is_told_contract_19_prepared() {
    let (app, key) = service().await;
    app.load("sdmx-ml");
    let about = app.get(&format!("/v1/datasets/{UNEMPLOYMENT}")).key(&key).send().await.json();
    let published = about["snapshots"][0]["created_at"].as_str().unwrap();
    for query in ["limit=1", "limit=1&apply=growth&start=2009-01-01"] {
        let message = get(&app, &key, &format!("{query}&format=sdmx-ml")).await.text();
        let prepared = format!("<mes:Prepared>{published}</mes:Prepared>");
        assert!(message.contains(&prepared), "{prepared} in {message}");
    }
}

#[tokio::test]
async fn a_page_lists_it_for_tables_that_are_cubes_contract_9_formats() {
    let (app, _) = service().await;
    let page = app.get(&format!("/datasets/{UNEMPLOYMENT}")).send().await.text();
    assert!(page.contains("format=json-stat"), "{page}");
}
