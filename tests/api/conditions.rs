//! Conditions on columns at `/data` and `/cite` (`docs/spec/selections.md`): rows, headers, pages,
//! citations.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{Reply, TestApp, big, harvest, parks};
use yearbook_tests::components::root;

const UNEMPLOYMENT: &str = "us_unemployment_by_industry";

async fn rows(app: &TestApp, key: &str, path: &str) -> Vec<Value> {
    let reply = app.get(path).key(key).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json().as_array().unwrap().clone()
}

fn has_cite_link(reply: &Reply, target: &str) -> bool {
    let mut links = reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap());
    links.any(|link| link == format!("<http://test.example{target}>; rel=\"cite-as\""))
}

#[tokio::test]
async fn the_examples_of_conditions_contract_15() {
    let app = TestApp::start().await;
    let package = root().join("datasets").join(UNEMPLOYMENT);
    let id = app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Free).await;
    let path = format!(
        "/v1/datasets/{UNEMPLOYMENT}/data?where.industry=Construction&where.industry=Agriculture\
         &where.measure=rate&where.value.ge=0.2&start=2009-12-01&columns=period,industry,value&format=csv"
    );
    let reply = app.get(&path).key(&key).send().await;
    assert_eq!((reply.status.as_u16(), reply.header("x-service-rows")), (200, "4".to_owned()));
    assert_eq!(
        reply.text().replace('\r', ""),
        "period,industry,value\n2009-12,Construction,0.227\n2010-01,Agriculture,0.213\n\
         2010-01,Construction,0.247\n2010-02,Construction,0.271\n"
    );
    let cited = format!(
        "/cite/{UNEMPLOYMENT}/{id}?columns=period%2Cindustry%2Cvalue&start=2009-12-01\
         &where.industry=Agriculture&where.industry=Construction&where.measure=rate&where.value.ge=0.2"
    );
    assert!(has_cite_link(&reply, &cited), "{:?}", reply.headers);

    let path = format!("/v1/datasets/{UNEMPLOYMENT}/data?where.industy=Mining");
    let reply = app.get(&path).key(&key).send().await;
    let msg = "Value error, unknown column 'industy'; the nearest is 'industry'; \
               this dataset has date, period, industry, measure, value";
    let problem = json!({
        "loc": ["query", "where.industy"], "msg": msg, "type": "value_error", "input": "Mining",
        "ctx": {"error": {}},
    });
    assert_eq!((reply.status.as_u16(), reply.json()), (422, json!({"detail": [problem]})));
}

#[tokio::test]
async fn conditions_choose_rows_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Enterprise).await;
    let all = rows(&app, &key, "/v1/datasets/harvest/data?limit=0").await;
    let text = |row: &Value, column: &str| row[column].as_str().unwrap().to_owned();
    let region = |row: &Value| text(row, "region");
    // (query, whether a row is meant)
    type Case<'a> = (&'a str, &'a dyn Fn(&Value) -> bool);
    let cases: [Case<'_>; 18] = [
        ("where.region=Auckland", &|row| region(row) == "Auckland"),
        ("where.region=auckland", &|_| false),
        ("where.region=Waikato,+north&where.region=Auckland", &|row| region(row) != "Māori land"),
        ("where.region.not=Auckland", &|row| region(row) != "Auckland"),
        ("where.region.not=Auckland&where.region=Auckland", &|_| false),
        ("where.region.ge=B", &|row| region(row).as_str() >= "B"),
        ("where.region.contains=M%C4%80ORI&where.region.contains=NORTH", &|row| {
            region(row) != "Auckland"
        }),
        ("where.region.starts=m%C4%81", &|row| region(row) == "Māori land"),
        ("where.region.starts=", &|_| true),
        ("where.region.contains=%25", &|_| false),
        ("where.date=2021-01-01", &|row| text(row, "date") == "2021-01-01"),
        ("where.date.ge=2021-01-01&where.date.lt=2021-03-01", &|row| {
            ["2021-01-01", "2021-02-01"].contains(&text(row, "date").as_str())
        }),
        ("where.value.null=true", &|row| row["value"].is_null()),
        ("where.value.null=false", &|row| !row["value"].is_null()),
        ("where.value.not=11.5", &|row| row["value"].as_f64().is_some_and(|value| value != 11.5)),
        ("where.value.gt=11.5&where.value.le=22.50", &|row| {
            row["value"].as_f64().is_some_and(|value| value > 11.5 && value <= 22.5)
        }),
        ("where.final=yes", &|row| row["final"] == json!(true)),
        ("where.final.not=1&dimensions=north&start=2022-01-01", &|row| {
            row["final"] == json!(false)
                && region(row) == "Waikato, north"
                && text(row, "date").as_str() >= "2022"
        }),
    ];
    for (query, is_meant) in cases {
        let expected: Vec<Value> = all.iter().filter(|row| is_meant(row)).cloned().collect();
        for limit in [0, 1_000] {
            let path = format!("/v1/datasets/harvest/data?limit={limit}&{query}");
            assert_eq!(rows(&app, &key, &path).await, expected, "{path}");
        }
    }
    let found = rows(&app, &key, "/v1/datasets/parks/data?where.area=1e0&geometry=false").await;
    assert_eq!(found, [json!({"park": "Cornwall", "area": 1})]);
    let unsent = "/v1/datasets/harvest/data?where.region=Auckland&columns=value&limit=2";
    assert_eq!(rows(&app, &key, unsent).await, [json!({"value": null}), json!({"value": 10.5})]);
}

#[tokio::test]
async fn rows_that_conditions_leave_are_counted_by_reading_alone_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data?where.region=Auckland";
    let counts = |reply: &Reply| {
        assert_eq!(reply.status, 200, "{}", reply.text());
        [reply.header("x-service-rows"), reply.header("x-service-total-rows")]
    };
    for (query, told) in [("", "40"), ("&limit=7", "7"), ("&limit=0", ""), ("&limit=50", "40")] {
        let path = format!("{path}{query}");
        let before = app.reads();
        let head = app.head(&path).key(&key).send().await;
        assert_eq!(counts(&head), ["", ""], "HEAD {path}");
        let tag = head.header("etag");
        let again = app.get(&path).key(&key).header("if-none-match", &tag).send().await;
        assert_eq!(again.status, 304);
        assert_eq!(again.header("x-service-rows"), "");
        assert_eq!(app.reads(), before, "neither reads a row");
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(counts(&reply), [told, ""], "GET {path}");
        assert_eq!(reply.header("etag"), tag);
    }
}

#[tokio::test]
async fn pages_of_conditions_join_and_keep_them_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data?where.region=Auckland&where.value.null=false&limit=7";
    let all = rows(&app, &key, &path.replace("limit=7", "limit=0")).await;
    let (mut found, mut next) = (Vec::new(), path.to_owned());
    let mut cursor = String::new();
    while !next.is_empty() {
        let reply = app.get(&next).key(&key).send().await;
        assert_eq!(reply.status, 200, "{next}: {}", reply.text());
        found.extend(reply.json().as_array().unwrap().clone());
        let link = reply.header("link");
        let target = link.strip_prefix("<http://test.example").unwrap_or_default();
        next = target.split_once(">; rel=\"next\"").map_or("", |(target, _)| target).to_owned();
        if !next.is_empty() {
            cursor = reply.header("x-next-page");
        }
    }
    assert_eq!(found, all);
    // The same conditions in another spelling; others.
    let (same, other) = ("where.value.null=0&where.region=Auckland", "where.region=Auckland");
    for (query, status) in [(same, 200), (other, 422)] {
        let path = format!("/v1/datasets/harvest/data?{query}&cursor={cursor}");
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
    }
}

#[tokio::test]
async fn conditions_do_not_relieve_the_guard_contract_15() {
    let app = TestApp::start().await;
    app.publish(&big(100_001)).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/big/data?where.date.ge=1901-01-01&where.date.le=1901-01-02";
    let refused = app.get(&format!("{path}&limit=0")).key(&key).send().await;
    assert_eq!(refused.outcome(), (413, "unbounded_pull".to_owned()));
    assert!(refused.text().contains("limit"), "{}", refused.text());
    for query in ["", "&limit=200000", "&limit=0&start=1901-01-01"] {
        let reply = app.get(&format!("{path}{query}")).key(&key).send().await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    }
}

#[tokio::test]
async fn the_longest_address_has_a_next_page_contract_15() {
    const LONGEST: usize = 16 << 10;
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    let beginning = "/v1/datasets/harvest/data?limit=2&where.region.not=";
    // Characters that are longer where they are escaped, in values of at most a kilobyte.
    let mut query = format!("{beginning}x");
    for value in 0.. {
        let name = format!("&where.region.not={value}");
        let room = LONGEST.saturating_sub(query.len() + name.len()).min(500);
        query += &format!("{name}{}", "(".repeat(room));
        if room < 500 {
            break;
        }
    }
    assert_eq!(query.len(), LONGEST);
    let mut rows = 0;
    let mut path = Some(query.clone());
    for _ in 0..3 {
        let now = path.unwrap();
        let reply = app.get(&now).key(&key).send().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        rows += reply.json().as_array().unwrap().len();
        let links: Vec<_> = reply.headers.get_all("link").iter().collect();
        let [link] = links.as_slice() else { panic!("a citation is too long: {links:?}") };
        let target = link.to_str().unwrap().strip_prefix("<http://test.example").unwrap();
        path = target.split_once(">; rel=\"next\"").map(|(target, _)| target.to_owned());
    }
    assert_eq!(rows, 6);
    let longer = app.get(&format!("{query}(")).key(&key).send().await;
    assert_eq!(longer.outcome(), (414, "address_too_long".to_owned()));
    assert_eq!(app.get(&format!("/cite/harvest/{id}")).send().await.status, 200);
}

#[tokio::test]
async fn conditions_are_cited_and_verified_contract_15() {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    let data = "/v1/datasets/harvest/data";
    let sent =
        "where.value.le=%2B1_00.50&where.region=Waikato,%20north&where.final.null=no&limit=40";
    let canonical = "where.final.null=false&where.region=Waikato%2C%20north&where.value.le=100.5";
    let reply = app.get(&format!("{data}?{sent}")).key(&key).send().await;
    let cited = format!("/cite/harvest/{id}?{canonical}");
    assert!(has_cite_link(&reply, &cited), "{:?}", reply.headers);
    let rows = reply.json().as_array().unwrap().len();
    let verified = app.get(&format!("{cited}&verify=true&format=text")).key(&key).send().await;
    assert_eq!(verified.status, 200);
    let text = verified.text();
    assert!(text.contains(&format!("Rows: {rows}. Digest: yb1:")), "{text}");
    let whole = app.get(&format!("/cite/harvest/{id}?format=text")).send().await.text();
    let digest = |text: &str| text.split("Digest: ").nth(1).unwrap().to_owned();
    assert_ne!(digest(&text), digest(&whole));
    let unknown = app.get(&format!("/cite/harvest/{id}?where.place=x")).send().await;
    assert_eq!(unknown.status, 422);
}
