//! `/v1/integrations/{tool}` (spec-4.4-datasets, contract-4-integration-files).

use std::io::Read;

use serde_json::Value;
use yearbook_domain::Plan;
use yearbook_server::{PublicUrl, ServiceSettings};
use yearbook_tests::app::{TestApp, harvest, parks};

const TOOLS: [&str; 3] = ["meltano", "fivetran", "azure-data-factory"];

async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    app
}

fn paths(answer: &Value) -> Vec<&str> {
    answer["files"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn each_tool_gets_its_files_credits_and_warnings_contract_4() {
    let app = app().await;
    let key = app.key(Plan::Free).await;
    let expected: [&[&str]; 3] = [
        &["meltano.yml", "README.md"],
        &["connector.yaml", "connector.py", "configuration.json", "requirements.txt"],
        &[
            "linkedService/YearbookService.json",
            "dataset/YearbookRows.json",
            "pipeline/CopyYearbookDatasets.json",
        ],
    ];
    for (tool, expected) in TOOLS.into_iter().zip(expected) {
        let reply = app
            .get(&format!("/v1/integrations/{tool}?datasets=parks,harvest,parks"))
            .key(&key)
            .send()
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("content-type")),
            (200, "application/json".to_owned()),
            "{}",
            reply.text()
        );
        let answer = reply.json();
        assert_eq!(answer["tool"], tool);
        assert!(expected.iter().all(|path| paths(&answer).contains(path)), "{:?}", paths(&answer));
        let types = answer["media_types"].as_object().unwrap();
        assert_eq!(types.keys().collect::<Vec<_>>(), paths(&answer), "each path has a media type");
        assert!(
            types.values().all(|media_type| media_type.as_str().unwrap().contains('/')),
            "{types:?}"
        );
        assert_eq!(
            answer["attribution"],
            serde_json::json!(["Council, CC BY 4.0", "Ahuwhenua Māori, CC BY 4.0"])
        );
        assert!(
            answer["warnings"][0].as_str().unwrap().contains("the free plan has 10 a month"),
            "{}",
            answer["warnings"]
        );
        assert!(!reply.text().contains(&key), "a key never stands in a file");
    }
    assert_eq!(app.get("/v1/me").key(&key).send().await.json()["requests"]["used"], 3);
}

#[tokio::test]
async fn a_zip_has_the_same_files_and_always_the_same_bytes_contract_4() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    for tool in TOOLS {
        let path = format!("/v1/integrations/{tool}?datasets=harvest");
        let plain = app.get(&path).key(&key).send().await.json();
        let zipped = app.get(&path).key(&key).header("accept", "application/zip").send().await;
        assert_eq!(zipped.header("content-type"), "application/zip");
        assert_eq!(
            zipped.header("content-disposition"),
            format!("attachment; filename=\"yearbook-{tool}.zip\"")
        );
        assert!(zipped.header("vary").contains("Accept,"));
        let again = app.get(&path).key(&key).header("accept", "application/zip").send().await;
        assert_eq!(zipped.body, again.body);
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(zipped.body)).unwrap();
        assert_eq!(archive.len(), plain["files"].as_object().unwrap().len());
        for (path, plain) in plain["files"].as_object().unwrap() {
            let mut content = String::new();
            archive.by_name(path).unwrap().read_to_string(&mut content).unwrap();
            assert_eq!(content, plain.as_str().unwrap());
        }
    }
    let refused = app
        .get("/v1/integrations/meltano?datasets=harvest")
        .key(&key)
        .header("accept", "text/html")
        .send()
        .await;
    assert_eq!(refused.outcome(), (406, "not_acceptable".to_owned()));
}

#[tokio::test]
async fn what_is_wrong_is_said_in_the_order_of_contract_1() {
    let app = app().await;
    let key = app.key(Plan::Free).await;
    let ask = async |path: &str| app.get(path).key(&key).send().await;
    assert_eq!(
        app.get("/v1/integrations/meltano").send().await.outcome(),
        (401, "key_missing".to_owned())
    );
    let unknown = ask("/v1/integrations/excel?datasets=nonsense").await;
    assert_eq!(unknown.outcome(), (404, "no_such_integration".to_owned()));
    assert_eq!(
        unknown.json()["detail"],
        "There is no integration for 'excel'; those that there are: azure-data-factory, fivetran, meltano."
    );
    assert_eq!(
        ask("/v1/integrations/json?datasets=harvest").await.outcome().0,
        404,
        "a format is no tool"
    );
    assert_eq!(
        ask("/v1/integrations/meltano").await.problems(),
        [("datasets".to_owned(), "missing".to_owned())]
    );
    for raw in ["", ",", "harvest,,parks", "harvest,"] {
        let reply = ask(&format!("/v1/integrations/meltano?datasets={raw}")).await;
        assert_eq!(reply.problems(), [("datasets".to_owned(), "value_error".to_owned())], "{raw}");
    }
    let names = ask("/v1/integrations/meltano?datasets=harvest,gone,Bad").await;
    let problem = &names.json()["detail"][0];
    assert_eq!(
        problem["msg"],
        "Value error, there is no dataset called 'gone', 'Bad'; look up the names at /v1/datasets, do not guess"
    );
    assert_eq!(
        (&problem["input"], &problem["ctx"]),
        (&"harvest,gone,Bad".into(), &serde_json::json!({"error": {}}))
    );
    let both = ask("/v1/integrations/meltano?meltano.geometry=perhaps").await;
    assert_eq!(
        both.problems(),
        [
            ("datasets".to_owned(), "missing".to_owned()),
            ("meltano.geometry".to_owned(), "bool_parsing".to_owned())
        ]
    );
    assert_eq!(
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"],
        0,
        "refusals cost nothing"
    );
}

#[tokio::test]
async fn options_reach_the_tool_that_declares_them() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    let file = async |path: &str, index: usize| {
        let answer = app.get(path).key(&key).send().await.json();
        answer["files"]
            .as_object()
            .unwrap()
            .values()
            .nth(index)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    let without = file(
        "/v1/integrations/meltano?datasets=parks&meltano.geometry=no&azure-data-factory.source=x",
        0,
    )
    .await;
    assert!(
        !without.contains("geometry_wkt") && without.contains("geometry: \"false\""),
        "{without}"
    );
    assert!(file("/v1/integrations/meltano?datasets=parks", 0).await.contains("geometry_wkt"));
    let rest = file(
        "/v1/integrations/azure-data-factory?datasets=parks&azure-data-factory.source=rest",
        0,
    )
    .await;
    assert!(rest.contains("\"RestService\""), "{rest}");
    let wrong = app
        .get("/v1/integrations/azure-data-factory?datasets=parks&azure-data-factory.source=ftp")
        .key(&key)
        .send()
        .await;
    assert_eq!(
        wrong.problems(),
        [("azure-data-factory.source".to_owned(), "literal_error".to_owned())]
    );
}

#[tokio::test]
async fn head_costs_nothing_and_a_used_up_month_is_429() {
    let app = app().await;
    let key = app.key(Plan::Free).await;
    let path = "/v1/integrations/fivetran?datasets=harvest";
    let mut last = 0;
    for _ in 0..11 {
        assert_eq!(app.head(path).key(&key).send().await.status, 200);
        last = app.get(path).key(&key).send().await.status.as_u16();
    }
    assert_eq!(last, 429);
    let head = app.head(path).key(&key).header("accept", "application/zip").send().await;
    assert_eq!((head.header("content-type"), head.body.len()), ("application/zip".to_owned(), 0));
}

#[tokio::test]
async fn addresses_begin_with_the_public_one_contract_6() {
    let mut settings = ServiceSettings::default();
    settings.server.public_url =
        Some(PublicUrl::try_from("https://data.example.org/statistics/".to_owned()).unwrap());
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    let meltano = app.get("/v1/integrations/meltano?datasets=harvest").key(&key).send().await;
    assert!(
        meltano.text().contains("api_url: https://data.example.org/statistics/v1\\n"),
        "{}",
        meltano.text()
    );
}
