//! Facts that adapters are told (contract-17-facts): those of `/v1`, free where they are of the
//! catalogue.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_sandbox::catalogue::{
    Applied, BoundingBox, Condition, DatasetQuery, Operator, Pick, Question, Selection, ValueQuery,
};
use yearbook_sandbox::{Plugin, PluginSet};
use yearbook_tests::app::{TestApp, harvest, parks, wide};
use yearbook_tests::components::component;

use super::asked;
use super::rows::{selection, used};
use crate::plugins::test_hosts::patched;

async fn service() -> (TestApp, String) {
    let app = TestApp::start().await;
    app.load("scripted");
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

/// Fetches the answers to `questions`, asked at once without a key or with one.
async fn fetch_facts(app: &TestApp, key: Option<&str>, questions: Vec<Question>) -> Vec<Value> {
    let request = app.get(&asked(&[questions]));
    let request = if let Some(key) = key { request.key(key) } else { request };
    let reply = request.send().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json().as_array().unwrap().clone()
}

fn datasets() -> DatasetQuery {
    DatasetQuery {
        search: None,
        namespace: None,
        spatial: None,
        bbox: None,
        columns: false,
        language: None,
        after: None,
        limit: 1_000,
    }
}

fn values(selection: Selection, columns: &[&str]) -> ValueQuery {
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    ValueQuery { selection, columns, language: None, after: None, limit: 2 }
}

fn names(fact: &Value) -> Vec<&str> {
    let datasets = fact["Datasets"][0].as_array().unwrap();
    datasets.iter().map(|dataset| dataset["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn facts_of_the_catalogue_are_free_contract_17() {
    let (app, key) = service().await;
    let v1 = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    let facts = fetch_facts(
        &app,
        None,
        vec![
            Question::Dataset(("harvest".to_owned(), None)),
            Question::Formats,
            Question::Citation(selection("harvest")),
            Question::Dataset(("nothing".to_owned(), None)),
            Question::Dataset(("NOTHING".to_owned(), None)),
        ],
    )
    .await;
    let dataset = &facts[0]["Dataset"];
    assert_eq!(dataset["editions"][0]["id"], v1["current_snapshot_id"]);
    assert_eq!(
        (&dataset["editions"][0]["version"], &dataset["editions"][0]["rows"]),
        (&json!(1), &json!(120))
    );
    assert_eq!(dataset["editions"][0]["published_at"], v1["snapshots"][0]["created_at"]);
    assert_eq!(dataset["primary_key"], json!(["date", "region"]));
    assert_eq!(dataset["dates"], json!(["2020-01-01", "2023-04-01"]));
    assert_eq!((&dataset["axis"], &dataset["cadence"]), (&json!("Month"), &json!("weekly")));
    assert_eq!(dataset["schema_version"], 1);
    let columns: Vec<_> =
        dataset["columns"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect();
    assert_eq!(columns, ["date", "region", "value", "final"]);
    assert_eq!(dataset["columns"][1]["description"], "Where.");
    assert!(facts[1]["Formats"].as_array().unwrap().iter().any(|format| format["name"] == "csv"));
    let cited = &facts[2]["Citation"];
    let path = cited["address"].as_str().unwrap().strip_prefix("http://test.example").unwrap();
    let text = app.get(&format!("{path}?format=text")).send().await.text();
    assert_eq!(cited["text"].as_str().unwrap().trim_end(), text.trim_end());
    for (fact, name) in [(&facts[3], "nothing"), (&facts[4], "NOTHING")] {
        let v1 = app.get(&format!("/v1/datasets/{name}")).key(&key).send().await;
        assert_eq!(fact["Refused"]["status"], v1.status.as_u16());
        assert_eq!(fact["Refused"]["code"], v1.header("x-service-error-code"));
    }
}

#[tokio::test]
async fn datasets_are_paged_searched_and_chosen_contract_17() {
    let (app, key) = service().await;
    let ask = async |query: DatasetQuery| {
        fetch_facts(&app, None, vec![Question::Datasets(query)]).await.remove(0)
    };
    let all = ask(datasets()).await;
    assert_eq!(names(&all), ["harvest", "parks"]);
    assert_eq!((&all["Datasets"][1], &all["Datasets"][2]), (&json!(2), &Value::Null));
    assert_eq!(all["Datasets"][0][0]["columns"], json!([]));
    let first = ask(DatasetQuery { limit: 1, columns: true, ..datasets() }).await;
    assert_eq!(names(&first), ["harvest"]);
    let counts = |dataset: &Value| {
        let columns = dataset["columns"].as_array().unwrap();
        columns.iter().map(|column| column["distinct"].as_u64()).collect::<Vec<_>>()
    };
    let stored = [Some(40), Some(3), None, Some(2)];
    assert_eq!(counts(&first["Datasets"][0][0]), stored, "values are stored but for numbers");
    let one = Question::Dataset(("harvest".to_owned(), None));
    assert_eq!(counts(&fetch_facts(&app, None, vec![one]).await[0]["Dataset"]), stored);
    let after = first["Datasets"][2].as_str().unwrap().to_owned();
    let second = ask(DatasetQuery { limit: 1, after: Some(after), ..datasets() }).await;
    assert_eq!((names(&second), &second["Datasets"][2]), (vec!["parks"], &Value::Null));
    let spatial = ask(DatasetQuery { spatial: Some(true), ..datasets() }).await;
    assert_eq!(names(&spatial), ["parks"]);
    let farms = ask(DatasetQuery { namespace: Some("farms".to_owned()), ..datasets() }).await;
    assert!(names(&farms).contains(&"harvest"));
    let near = BoundingBox { west: 174.0, south: -37.0, east: 174.15, north: -36.0 };
    assert_eq!(names(&ask(DatasetQuery { bbox: Some(near), ..datasets() }).await), ["parks"]);
    let far = BoundingBox { west: 0.0, south: 0.0, east: 1.0, north: 1.0 };
    assert!(names(&ask(DatasetQuery { bbox: Some(far), ..datasets() }).await).is_empty());
    let found = ask(DatasetQuery { search: Some("harvest".to_owned()), ..datasets() }).await;
    assert_eq!(names(&found), ["harvest"]);
    for [west, south, east, north] in [
        [0.0, -91.0, 1.0, 1.0],
        [0.0, 1.0, 1.0, 90.5],
        [-181.0, 0.0, 1.0, 1.0],
        [0.0, 0.0, 180.5, 1.0],
        [0.0, 2.0, 1.0, 1.0],
    ] {
        let bbox = Some(BoundingBox { west, south, east, north });
        let refused = ask(DatasetQuery { bbox, ..datasets() }).await["Refused"].take();
        assert_eq!(
            (&refused["status"], &refused["problems"][0]["place"][1]),
            (&json!(422), &json!("bbox"))
        );
        // The sentence of rows.
        let path = format!("/v1/datasets/parks/data?bbox={west},{south},{east},{north}");
        let v1 = app.get(&path).key(&key).send().await.json();
        assert_eq!(refused["problems"][0]["sentence"], v1["detail"][0]["msg"]);
    }
    for wrong in [
        DatasetQuery { limit: 0, ..datasets() },
        DatasetQuery { limit: 1_001, ..datasets() },
        DatasetQuery { after: Some("x".to_owned()), ..datasets() },
    ] {
        assert_eq!(ask(wrong).await["Refused"]["status"], 422);
    }
}

#[tokio::test]
async fn values_are_free_where_they_are_stored_contract_17() {
    let (app, key) = service().await;
    let whole = Question::Values(values(selection("harvest"), &["region", "final"]));
    let v1 = "/v1/datasets/harvest/values?columns=region,final&limit=2";
    let v1 = app.get(v1).key(&key).send().await.json();
    let fact = fetch_facts(&app, None, vec![whole]).await.remove(0);
    let columns = fact["Values"].as_array().unwrap();
    for (column, expected) in columns.iter().zip(v1["columns"].as_array().unwrap()) {
        assert_eq!(
            (&column["column"], &column["distinct"]),
            (&expected["name"], &expected["distinct"])
        );
        let own = column["values"].as_array().unwrap();
        assert_eq!(own.len(), 2);
        for (value, expected) in own.iter().zip(expected["values"].as_array().unwrap()) {
            let text =
                expected["value"].as_str().map_or(expected["value"].to_string(), str::to_owned);
            assert_eq!(value["code"]["value"], text);
            assert_eq!(
                (&value["rows"], &value["first"], &value["last"]),
                (&expected["rows"], &expected["first"], &expected["last"])
            );
        }
    }
    assert_eq!(columns[0]["next"], "Māori land");

    let some = Selection { start: Some("2023".to_owned()), ..selection("harvest") };
    let question = Question::Values(values(some.clone(), &["region"]));
    let refused = app.get(&asked(&[vec![question.clone()]])).send().await;
    assert_eq!(refused.status, 401);
    let fact = fetch_facts(&app, Some(&key), vec![question]).await.remove(0);
    assert_eq!(fact["Values"][0]["values"][0]["rows"], 4);
    let picked = Selection { pick: Pick::Last(1), ..some };
    let fact = fetch_facts(&app, Some(&key), vec![Question::Values(values(picked, &["region"]))])
        .await
        .remove(0);
    assert_eq!(fact["Refused"]["problems"][0]["place"][1], "last");
}

#[tokio::test]
async fn rows_and_counts_are_those_of_v1_and_charged_once_contract_17() {
    let (app, key) = service().await;
    let used = async || used(&app, &key).await;
    let one = Condition {
        column: "region".to_owned(),
        operator: Operator::Equal,
        values: vec!["Auckland".to_owned()],
    };
    let some = Selection { conditions: vec![one], limit: Some(3), ..selection("harvest") };
    let v1 = "/v1/datasets/harvest/data?where.region=Auckland&limit=3";
    let v1 = app.get(v1).key(&key).send().await;
    let before = used().await;
    let facts = fetch_facts(
        &app,
        Some(&key),
        vec![
            Question::Rows(some.clone()),
            Question::Count(some.clone()),
            Question::Count(selection("harvest")),
            Question::Count(selection("parks")),
        ],
    )
    .await;
    assert_eq!(used().await, before + 1, "one request, whatever its reads");
    let table = &facts[0]["Rows"];
    assert_eq!(
        (&table["known"]["rows"], table["known"]["next"].as_str()),
        (&json!(3), Some(v1.header("x-next-page").as_str()))
    );
    let rows = v1.json();
    for (own, expected) in table["rows"].as_array().unwrap().iter().zip(rows.as_array().unwrap()) {
        assert_eq!(own[0]["Text"], expected["date"]);
        assert_eq!(own[1]["Text"], expected["region"]);
        assert_eq!(own[2].get("Number").cloned().unwrap_or_default(), expected["value"]);
        assert_eq!(own[3]["Boolean"], expected["final"]);
    }
    assert_eq!(facts[1]["Count"], json!([40, 1]));
    assert_eq!(facts[2]["Count"], json!([120, 3]));
    assert_eq!(facts[3]["Count"], json!([3, null]));

    let before = used().await;
    let many = Selection { limit: Some(0), start: Some("2020".to_owned()), ..selection("harvest") };
    let wrong = Selection { start: Some("x".to_owned()), ..selection("harvest") };
    let facts =
        fetch_facts(&app, Some(&key), vec![Question::Rows(many), Question::Rows(wrong)]).await;
    assert_eq!(facts[0]["Rows"]["rows"].as_array().unwrap().len(), 120);
    let v1 = app.get("/v1/datasets/harvest/data?start=x").key(&key).send().await.json();
    assert_eq!(facts[1]["Refused"]["problems"][0]["sentence"], v1["detail"][0]["msg"]);
    assert_eq!(used().await, before + 1);
    for question in [Question::Rows(some.clone()), Question::Count(some)] {
        assert_eq!(app.get(&asked(&[vec![question]])).send().await.status, 401);
    }
}

#[tokio::test]
async fn what_failed_at_a_page_of_rows_is_not_the_answer_to_a_question_contract_17() {
    let (app, key) = service().await;
    let growth = app.registry.current().transform("growth").unwrap().clone();
    let trapping = app.sandbox.load(&patched("evil", "temper:calm", "temper:trap")).unwrap();
    let scripted = app.sandbox.load(&component("scripted")).unwrap();
    // The first encoder is the one of values, too, which it does not write.
    let plugins = [trapping, scripted, Plugin::Transform(growth)];
    app.registry.replace(PluginSet::new(&plugins, []));
    let applied = Applied { transform: "growth".to_owned(), options: Vec::new() };
    let grown = Selection { apply: vec![applied], ..selection("harvest") };
    for (query, selection) in [("", selection("harvest")), ("&apply=growth", grown)] {
        let path = format!("/v1/datasets/harvest/data?limit=100&format=evil{query}");
        let page = app.get(&path).key(&key).send().await;
        assert_eq!(page.outcome(), (500, "internal".to_owned()), "{query}");
        let questions = vec![Question::Rows(selection.clone()), Question::Count(selection)];
        let facts = fetch_facts(&app, Some(&key), questions).await;
        assert_eq!(facts[0]["Rows"]["rows"].as_array().map(Vec::len), Some(100), "{query}");
        assert_eq!(facts[1]["Count"][0], 120, "{query}");
    }
}

#[tokio::test]
async fn a_request_has_four_reads_contract_17() {
    let (app, key) = service().await;
    let before = used(&app, &key).await;
    let count = || Question::Count(selection("harvest"));
    let questions = vec![count(), count(), Question::Formats, count(), count(), count()];
    let facts = fetch_facts(&app, Some(&key), questions).await;
    let read: Vec<bool> = facts.iter().map(|fact| fact.get("Count").is_some()).collect();
    assert_eq!(read, [true, true, false, true, true, false]);
    let refused = &facts[5]["Refused"];
    assert_eq!((&refused["status"], &refused["code"]), (&json!(413), &json!("too_many_facts")));
    let sentence = refused["problems"][0]["sentence"].as_str().unwrap();
    assert!(sentence.contains("4 reads"), "{sentence}");
    assert_eq!(used(&app, &key).await, before + 1);
}

#[tokio::test]
async fn a_request_has_8_mib_of_facts_contract_17() {
    let (app, _) = service().await;
    // A column is told in some hundred bytes.
    app.publish(&wide(1, 1_500, 1)).await;
    let large = || Question::Dataset(("wide".to_owned(), None));
    let one = fetch_facts(&app, None, vec![large()]).await;
    let bytes = serde_json::to_vec(&one[0]).unwrap().len();
    let fits = (8 << 20) / bytes;
    assert!(fits < 63, "{bytes} bytes");
    let mut questions = vec![large(); fits + 1];
    questions.push(Question::Formats);
    let facts = fetch_facts(&app, None, questions).await;
    assert!(facts[..fits].iter().all(|fact| *fact == one[0]));
    let refused = &facts[fits]["Refused"];
    assert_eq!((&refused["status"], &refused["code"]), (&json!(413), &json!("too_many_facts")));
    let sentence = refused["problems"][0]["sentence"].as_str().unwrap();
    assert!(sentence.contains("8388608 bytes"), "{sentence}");
    assert!(facts[fits + 1].get("Formats").is_some(), "what is small still fits");
}

#[tokio::test]
async fn a_document_of_rows_that_a_client_has_costs_what_it_cost_contract_17() {
    let (app, key) = service().await;
    let path = asked(&[vec![Question::Count(selection("harvest"))]]);
    let first = app.get(&path).key(&key).send().await;
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let before = used(&app, &key).await;
    let again = app.get(&path).key(&key).header("if-none-match", &first.header("etag"));
    let again = again.send().await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    assert_eq!(used(&app, &key).await, before + 1, "everything was read for it");
    // A document of the catalogue costs nothing either way.
    let path = asked(&[vec![Question::Formats]]);
    let first = app.get(&path).key(&key).send().await;
    let again = app.get(&path).key(&key).header("if-none-match", &first.header("etag"));
    assert_eq!(again.send().await.status, 304);
    assert_eq!(used(&app, &key).await, before + 1);
}
