//! Bytes of an adapter around rows (contract-17-rows): pages, HEAD, 304, caps, and documents in
//! their place.

use std::io::Read;

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_sandbox::adapter::{Framing, Reply as Said, Rows};
use yearbook_sandbox::catalogue::{Operator, Selection};
use yearbook_tests::app::{Reply, harvest};

use super::documents::calls;
use super::rows::{bare, condition, framed, object, rows, selection, service, used};
use super::{address, document, said};

#[tokio::test]
async fn bytes_stand_around_the_rows_of_each_page_contract_17() {
    let (app, key) = service().await;
    let whole =
        app.get("/v1/datasets/harvest/data?limit=0&start=2020-01-01").key(&key).send().await;
    let whole = whole.json();
    let whole = whole.as_array().unwrap();
    let mut asked = Selection { limit: Some(50), ..selection("harvest") };
    let mut seen = Vec::new();
    loop {
        let page = app.get(&framed(&rows(asked.clone(), "json"), &object())).key(&key).send().await;
        let body = page.json();
        let rows_here = body["rows"].as_array().unwrap();
        assert_eq!(body["returned"], rows_here.len());
        assert_eq!(page.header("x-service-rows"), rows_here.len().to_string());
        let links = page.headers.get_all("link").iter().map(|link| link.to_str().unwrap());
        let links: Vec<&str> = links.collect();
        let own = "<http://test.example/api/scripted/next>; rel=\"next\"";
        assert!(links.contains(&own) && links.len() == 2, "{links:?}");
        seen.extend(rows_here.iter().cloned());
        // What the adapter is told stands before the rows.
        let told = json!([said(&Said::Rows(rows(asked.clone(), "json")))]);
        let told = app.get(&address("/known", &[("replies", told)])).key(&key).send().await;
        let mut values = serde_json::Deserializer::from_slice(&told.body).into_iter::<Value>();
        let known = values.next().unwrap().unwrap();
        assert_eq!(known["rows"], rows_here.len());
        assert_eq!(known["total"], 120);
        assert_eq!(known["truncated"], false);
        assert_eq!(known["credit"]["attribution"], "Ahuwhenua Māori, CC BY 4.0");
        assert_eq!(known["columns"][2]["unit"], "tonnes");
        assert!(
            known["citation"].as_str().unwrap().starts_with("http://test.example/cite/harvest/")
        );
        let Some(next) = known["next"].as_str() else { break };
        asked.cursor = Some(next.to_owned());
    }
    assert_eq!(&seen, whole);

    // The number of rows is filled in where only the end tells it.
    let found = Selection {
        conditions: vec![condition("region", Operator::Equal, &["Auckland"])],
        limit: Some(0),
        start: Some("2020".to_owned()),
        ..selection("harvest")
    };
    let found = app.get(&framed(&rows(found, "json"), &object())).key(&key).send().await;
    assert_eq!(found.json()["returned"], 40);
    assert_eq!(found.header("x-service-rows"), "");
}

#[tokio::test]
async fn rows_are_skipped_named_and_numbered_contract_17() {
    let (app, key) = service().await;
    let whole =
        app.get("/v1/datasets/harvest/data?limit=0&start=2020-01-01").key(&key).send().await;
    let whole = whole.json();
    let get = async |asked: Selection| {
        app.get(&framed(&rows(asked, "json"), &bare())).key(&key).send().await
    };
    let page = get(Selection { skip: 115, row_numbers: true, ..selection("harvest") }).await;
    let page = page.json();
    assert_eq!(page.as_array().unwrap().len(), 5);
    for (at, row) in page.as_array().unwrap().iter().enumerate() {
        assert_eq!(row["_row"], 115 + at);
        assert_eq!(row["region"], whole[115 + at]["region"]);
    }
    let one = get(Selection { row: Some(17), ..selection("harvest") }).await;
    assert_eq!(one.json(), json!([whole[17]]));
    assert_eq!(
        (one.header("x-service-rows"), one.header("x-service-total-rows")),
        ("1".to_owned(), "1".to_owned())
    );
    assert_eq!(get(Selection { row: Some(120), ..selection("harvest") }).await.json(), json!([]));
    let far = get(Selection { skip: 1_000_001, ..selection("harvest") }).await;
    assert_eq!(
        (far.status.as_u16(), &far.json()["problems"][0]["place"][1]),
        (422, &json!("skip"))
    );
}

#[tokio::test]
async fn head_and_304_are_those_of_the_whole_body_and_cost_nothing_contract_17() {
    let (app, key) = service().await;
    let path = framed(&rows(selection("harvest"), "json"), &object());
    let got = app.get(&path).key(&key).send().await;
    let before = used(&app, &key).await;
    let head = app.head(&path).key(&key).send().await;
    assert_eq!((head.status, head.body.len()), (got.status, 0));
    let named = |reply: &Reply| {
        let own = ["x-request-id", "content-length", "x-quota-used", "x-quota-remaining"];
        let mut lines: Vec<String> = reply
            .headers
            .iter()
            .filter(|(name, _)| !own.contains(&name.as_str()) && !name.as_str().contains("quota"))
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap_or("?")))
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(named(&head), named(&got));
    let tag = got.header("etag");
    let again = app.get(&path).key(&key).header("if-none-match", &tag).send().await;
    assert_eq!((again.status.as_u16(), again.header("etag")), (304, tag.clone()));
    assert_eq!(used(&app, &key).await, before, "neither is charged");
    let other = framed(&rows(selection("harvest"), "json"), &bare());
    assert_ne!(app.head(&other).key(&key).send().await.header("etag"), tag);
    let failed = app.get(&path).key(&key).header("if-match", "\"other\"").send().await;
    assert_eq!(failed.status, 412);

    let zipped = app.get(&path).key(&key).header("accept-encoding", "gzip").send().await;
    assert_eq!(zipped.header("content-encoding"), "gzip");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&zipped.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, got.text());
    assert_eq!(used(&app, &key).await, before + 1);
}

#[tokio::test]
async fn a_document_stands_in_for_no_rows_alone_contract_17() {
    let (app, key) = service().await;
    let instead = Framing::Instead(document(404, "not there"));
    let none = Selection { row: Some(120), ..selection("harvest") };
    let before = used(&app, &key).await;
    let reply = app.get(&framed(&rows(none.clone(), "json"), &instead)).key(&key).send().await;
    assert_eq!((reply.status.as_u16(), reply.text()), (404, "not there".to_owned()));
    assert_eq!(used(&app, &key).await, before);
    let empty = Framing::Instead(document(200, "nothing"));
    let reply = app.get(&framed(&rows(none, "json"), &empty)).key(&key).send().await;
    assert_eq!((reply.status.as_u16(), reply.text()), (200, "nothing".to_owned()));
    assert_eq!(used(&app, &key).await, before + 1, "charged as rows are");
    let one = Selection { row: Some(0), ..selection("harvest") };
    let reply = app.get(&framed(&rows(one, "json"), &instead)).key(&key).send().await;
    assert_eq!(reply.outcome(), (500, "internal".to_owned()));
}

#[tokio::test]
async fn the_plans_row_cap_holds_and_the_adapter_is_told_contract_17() {
    let (app, _) = service().await;
    let key = app.key(Plan::Free).await;
    let asked = rows(
        Selection { limit: Some(0), start: Some("2020".to_owned()), ..selection("harvest") },
        "json",
    );
    let told = json!([said(&Said::Rows(asked.clone()))]);
    let reply = app.get(&address("/known", &[("replies", told)])).key(&key).send().await;
    let mut values = serde_json::Deserializer::from_slice(&reply.body).into_iter::<Value>();
    let known = values.next().unwrap().unwrap();
    assert_eq!((&known["rows"], &known["truncated"]), (&json!(50), &json!(true)));
    assert_eq!(known["total"], 120);
    assert!(known["next"].is_string());
    assert_eq!(values.next().unwrap().unwrap().as_array().unwrap().len(), 50);
    assert_eq!(
        (reply.header("x-service-truncated"), reply.header("x-plan-row-cap")),
        ("true".to_owned(), "50".to_owned())
    );
}

#[tokio::test]
async fn rows_that_a_plan_cuts_are_sent_only_where_they_go_on_contract_17() {
    let (app, key) = service().await;
    let capped = app.key(Plan::Free).await;
    let asked =
        Selection { limit: Some(0), start: Some("2020".to_owned()), ..selection("harvest") };
    let get = async |asked: &Selection, framing: &Framing, key: &str| {
        app.get(&framed(&rows(asked.clone(), "json"), framing)).key(key).send().await
    };
    let whole = get(&asked, &bare(), &key).await;
    assert_eq!((whole.status.as_u16(), whole.json().as_array().unwrap().len()), (200, 120));
    // The second time the bytes around the rows are known.
    for _ in 0..2 {
        let cut = get(&asked, &bare(), &capped).await;
        assert_eq!(cut.outcome(), (413, "rows_cut".to_owned()));
        let sentence = cut.json()["problems"][0]["sentence"].clone();
        assert!(sentence.as_str().unwrap().contains("50 rows; select fewer"), "{sentence}");
    }
    let path = framed(&rows(asked.clone(), "json"), &bare());
    assert_eq!(app.head(&path).key(&capped).send().await.status, 413);
    assert_eq!(used(&app, &capped).await, 0, "nothing is charged for a part");
    // What the client asked for is no part of it, and neither are pages that lead on.
    let fifty = Selection { limit: Some(50), ..asked.clone() };
    assert_eq!(get(&fifty, &bare(), &capped).await.status, 200);
    assert_eq!(get(&asked, &object(), &capped).await.status, 200);
}

#[tokio::test]
async fn what_an_adapter_says_of_rows_is_kept_until_they_are_others_contract_17() {
    let (app, key) = service().await;
    let capped = app.key(Plan::Free).await;
    let asked =
        Selection { limit: Some(0), start: Some("2020".to_owned()), ..selection("harvest") };
    let told = json!([said(&Said::Rows(rows(asked, "json")))]);
    let path = address("/known", &[("replies", told)]);
    let head = app.head(&path).key(&key).send().await;
    let first = app.get(&path).key(&key).send().await;
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(head.status, 200);
    assert_eq!(head.header("etag"), first.header("etag"));
    let made = calls(&app).await;
    for _ in 0..2 {
        let again = app.get(&path).key(&key).send().await;
        assert_eq!((&again.body, again.header("etag")), (&first.body, first.header("etag")));
    }
    assert_eq!(calls(&app).await, made, "rows, bytes around them and selection are known");
    assert_eq!(used(&app, &key).await, 3, "each is charged");

    // Fewer rows are other bytes around them, and neither caller gets those of the other.
    let fewer = app.get(&path).key(&capped).send().await;
    assert_ne!(fewer.header("etag"), first.header("etag"));
    let known = |reply: &Reply| {
        let mut values = serde_json::Deserializer::from_slice(&reply.body).into_iter::<Value>();
        values.next().unwrap().unwrap()
    };
    assert_eq!((&known(&fewer)["rows"], &known(&first)["rows"]), (&json!(50), &json!(120)));
    assert_eq!(app.get(&path).key(&key).send().await.body, first.body);
    // Without a key there are no rows, whoever asked before.
    assert_eq!(app.get(&path).send().await.status, 401);

    app.publish(&harvest().with_appended("2031-01-01,Otago,1.5,true\n")).await;
    let newer = app.get(&path).key(&key).send().await;
    assert_eq!(known(&newer)["rows"], 121);
    assert_ne!(newer.header("etag"), first.header("etag"));
}

#[tokio::test]
async fn media_type_and_file_name_are_the_adapters_contract_17() {
    let (app, key) = service().await;
    let named = Rows {
        media_type: Some("application/geo+json".to_owned()),
        file_name: Some("harvest.geojson".to_owned()),
        ..rows(selection("harvest"), "json")
    };
    let reply = app.get(&framed(&named, &bare())).key(&key).send().await;
    assert_eq!(reply.header("content-type"), "application/geo+json");
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"harvest.geojson\"");
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    let without = Rows { format: None, ..rows(selection("harvest"), "json") };
    let reply = app.get(&framed(&without, &bare())).key(&key).send().await;
    assert_eq!(reply.outcome(), (500, "internal".to_owned()), "it brings no format");
}
