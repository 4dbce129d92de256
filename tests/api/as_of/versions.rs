//! Versions that retention keeps: which one a time names, on every route and in every format.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, harvest, parks};

use super::{DATA, TIMES, at, get, next, publish, service, table, used, value};

/// Times of the three publications, as headers have them.
const DATES: [&str; 3] = [
    "Fri, 01 Mar 2024 10:00:00 GMT",
    "Fri, 01 Mar 2024 18:30:00 GMT",
    "Wed, 09 Jul 2025 00:00:00 GMT",
];

#[tokio::test]
async fn the_version_that_was_current_is_read_contract_21() {
    let (app, key, ids) = service().await;
    let today = yearbook_catalog::clock::now();
    let (now, day) = (today.to_rfc3339(), today.date().to_string());
    for (time, version) in [
        ("2024-03-01T10:00:00Z", 0),
        ("2024-03-01T10:00:00.999Z", 0),
        ("2024-03-01T18:29:59.999Z", 0),
        ("2024-03-01T18:30:00Z", 1),
        ("2024-03-02T07:30:00%2B13:00", 1),
        ("2024-03-02T07:30:00+13:00", 1),
        ("2024-03-01T14:00:00-04:00", 0),
        ("2024-03-01", 1),
        ("2025-07-08", 1),
        ("2025-07-08T23:59:59Z", 1),
        ("2025-07-09T00:00:00Z", 2),
        ("2025-07-09", 2),
        (&now, 2),
        (&day, 2),
    ] {
        let of_time = format!("{DATA}?as_of={time}&limit=3");
        let found = get(&app, &key, &of_time).await;
        assert_eq!(found.header("x-service-snapshot-id"), ids[version], "{time}");
        assert!((value(&found) - version as f64).abs() < f64::EPSILON, "{time}");
        assert_eq!(found.header("last-modified"), DATES[version], "{time}");
        assert_eq!(found.header("cache-control"), "private, no-cache", "{time}");
        let head = app.head(&of_time).key(&key).send().await;
        assert_eq!((head.status.as_u16(), head.header("etag")), (200, found.header("etag")));
    }
}

#[tokio::test]
async fn before_the_first_version_is_404_and_free_contract_21() {
    let (app, key, ids) = service().await;
    let before = used(&app, &key).await;
    for time in ["2024-02-29", "2024-03-01T09:59:59.999Z", "0001-01-01T00:00:00%2B14:00"] {
        for path in [DATA, "/v1/datasets/harvest/values", "/v1/datasets/harvest/link"] {
            for method in ["GET", "HEAD"] {
                let reply = app.ask(method, &format!("{path}?as_of={time}")).key(&key).send().await;
                let expected = (404, "not_published_yet".to_owned());
                assert_eq!(reply.outcome(), expected, "{method} {path} {time}");
            }
        }
    }
    let reply = get(&app, &key, &format!("{DATA}?as_of=2024-02-29")).await;
    let sentence = "This dataset was first published at 2024-03-01T10:00:00Z; ask for that time or a later one.";
    assert_eq!(reply.json(), json!({"detail": sentence}));
    // The order of answers: the whole request, then the dataset, then its version.
    for (path, outcome) in [
        ("nothing/data?as_of=soon", (422, "invalid_parameters")),
        ("nothing/data?as_of=2100-01-01", (422, "invalid_parameters")),
        ("nothing/data?as_of=2024-02-29", (404, "no_such_dataset")),
        ("harvest/data?as_of=2024-02-29&columns=x", (422, "invalid_parameters")),
        ("harvest/values?as_of=2024-02-29&columns=x", (422, "invalid_parameters")),
        ("harvest/values?as_of=2100-01-01", (422, "invalid_parameters")),
        ("harvest/link?as_of=2100-01-01", (422, "invalid_parameters")),
    ] {
        let reply = get(&app, &key, &format!("/v1/datasets/{path}")).await;
        assert_eq!(reply.outcome(), (outcome.0, outcome.1.to_owned()), "{path}");
    }
    assert_eq!(used(&app, &key).await, before, "nothing was charged");
    let beside = get(&app, &key, &format!("{DATA}?as_of=2024-03-01&snapshot={}", ids[0])).await;
    assert_eq!(beside.problems(), [("as_of".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn a_time_is_its_snapshot_by_another_name_contract_21() {
    let (app, key, ids) = service().await;
    for query in [
        "format=json",
        "format=json&envelope=true&limit=2",
        "format=csv&csv.delimiter=;",
        "format=arrow",
        "format=parquet",
        "format=svg",
        "where.value.ge=0&sort=-value&last=1",
        "apply=aggregate&aggregate.by=region",
    ] {
        let of_time = get(&app, &key, &format!("{DATA}?{query}&as_of=2024-03-01T12:00:00Z")).await;
        let pinned = get(&app, &key, &format!("{DATA}?{query}&snapshot={}", ids[0])).await;
        assert_eq!(of_time.status, 200, "{query}: {}", of_time.text());
        assert_eq!(of_time.body, pinned.body, "{query}");
        // A citation names the snapshot that was found, never a time.
        for name in
            ["etag", "last-modified", "x-service-rows", "content-type", "x-service-modified"]
        {
            assert_eq!(of_time.header(name), pinned.header(name), "{query} {name}");
        }
        let cited = |reply: &yearbook_tests::app::Reply| {
            let links = reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap());
            let cited = links.filter(|link| link.ends_with("rel=\"cite-as\""));
            cited.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(cited(&of_time), cited(&pinned), "{query}");
        assert!(cited(&of_time)[0].contains(&format!("/cite/harvest/{}", ids[0])), "{query}");
        assert!(!cited(&of_time)[0].contains("as_of"), "{query}");
    }
}

#[tokio::test]
async fn words_columns_and_guard_are_those_of_then_contract_21() {
    let app = TestApp::start().await;
    let first = harvest().with("/yearbook/source", json!("Old Ministry"));
    app.publish_at(&first, at(TIMES[0])).await;
    let renamed = table(1).with_rows("date,place,value,final\n2024-01-01,Nelson,1,true\n");
    let renamed = renamed
        .with("/resources/0/schema/fields/1/name", json!("place"))
        .with("/resources/0/schema/primaryKey", json!(["date", "place"]))
        .with("/yearbook/dimensions", json!(["place"]));
    app.publish_at(&renamed, at(TIMES[2])).await;
    let key = app.key(Plan::Enterprise).await;
    let of_then = format!("{DATA}?as_of=2024-03-01&where.region=Nelson&limit=1");
    let then = get(&app, &key, &of_then).await;
    assert_eq!(then.status, 200, "{}", then.text());
    assert_eq!(then.header("x-service-source"), "Old Ministry");
    let columns: Vec<String> =
        get(&app, &key, &format!("{DATA}?as_of=2024-03-01&limit=1")).await.json()[0]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
    assert!(columns.contains(&"region".to_owned()), "{columns:?}");
    for (query, problem) in [
        ("as_of=2024-03-01&where.place=Nelson", "where.place"),
        ("as_of=2025-07-09&where.region=Nelson", "where.region"),
        ("where.region=Nelson", "where.region"),
    ] {
        let reply = get(&app, &key, &format!("{DATA}?{query}")).await;
        assert_eq!(reply.problems(), [(problem.to_owned(), "value_error".to_owned())], "{query}");
    }
    // Geometry guards where the version of then has it.
    app.publish_at(&parks(), at(TIMES[0])).await;
    let all = get(&app, &key, "/v1/datasets/parks/data?limit=0&as_of=2024-03-01").await;
    assert_eq!(all.outcome(), (413, "unbounded_pull".to_owned()));
}

#[tokio::test]
async fn pages_as_of_a_time_go_on_across_publications_contract_21() {
    let app = TestApp::start().await;
    let first = publish(&app, 0).await;
    let key = app.key(Plan::Enterprise).await;
    let today = yearbook_catalog::clock::now().date();
    let mut page = get(&app, &key, &format!("{DATA}?as_of={today}&limit=3")).await;
    assert_eq!(page.header("x-service-snapshot-id"), first);
    publish(&app, 1).await;
    let mut rows = page.json().as_array().unwrap().clone();
    let cursor = page.header("x-next-page");
    while page.headers.contains_key("x-next-page") {
        let path = next(&page);
        assert!(path.contains(&format!("as_of={today}")), "{path}");
        page = get(&app, &key, &path).await;
        assert_eq!(page.header("x-service-snapshot-id"), first, "not resolved again");
        rows.extend(page.json().as_array().unwrap().clone());
    }
    assert_eq!(rows.len(), 7);
    assert!(rows.iter().all(|row| row["value"] == json!(0.0)), "{rows:?}");
    let anew = get(&app, &key, &format!("{DATA}?as_of={today}&limit=3")).await;
    assert_ne!(anew.header("x-service-snapshot-id"), first, "today is not over");

    for query in ["", "&as_of=2024-03-02", &format!("&as_of={today}T23:59:59Z")] {
        let reply = get(&app, &key, &format!("{DATA}?cursor={cursor}{query}")).await;
        let expected = [("cursor".to_owned(), "value_error".to_owned())];
        assert_eq!(reply.problems(), expected, "another time: {query}");
    }
    let plain = get(&app, &key, &format!("{DATA}?limit=3")).await.header("x-next-page");
    let reply = get(&app, &key, &format!("{DATA}?cursor={plain}&as_of={today}")).await;
    assert_eq!(reply.problems(), [("cursor".to_owned(), "value_error".to_owned())]);
    // With a plus that was not escaped, as with one that was.
    let sent = "as_of=2024-03-02T07:30:00+13:00&limit=3";
    let path = next(&get(&app, &key, &format!("{DATA}?{sent}")).await);
    assert_eq!(get(&app, &key, &path).await.status, 200, "{path}");
    assert_eq!(get(&app, &key, &path.replace("00+13", "00%2B13")).await.status, 200, "{path}");
}

#[tokio::test]
async fn conditions_of_requests_hold_for_the_version_of_then_contract_21() {
    let (app, key, _) = service().await;
    let path = format!("{DATA}?as_of=2024-03-01T12:00:00Z");
    let tag = get(&app, &key, &path).await.header("etag");
    let newest = get(&app, &key, DATA).await.header("etag");
    let before = used(&app, &key).await;
    let ask = async |name: &str, value: &str| {
        app.get(&path).key(&key).header(name, value).send().await.status.as_u16()
    };
    assert_eq!(ask("if-none-match", &tag).await, 304);
    assert_eq!(ask("if-match", "\"other\"").await, 412);
    assert_eq!(ask("if-unmodified-since", "Thu, 29 Feb 2024 00:00:00 GMT").await, 412);
    assert_eq!(used(&app, &key).await, before, "free");
    assert_eq!(ask("if-unmodified-since", "Fri, 01 Mar 2024 12:00:00 GMT").await, 200);
    assert_eq!(ask("if-none-match", &newest).await, 200);
    let later = app.get(&format!("{DATA}?as_of=2024-03-01")).key(&key);
    assert_eq!(later.header("if-none-match", &tag).send().await.status, 200, "another version");
}

#[tokio::test]
async fn values_and_links_are_of_a_time_contract_21() {
    let (app, key, ids) = service().await;
    let path = "/v1/datasets/harvest/values?columns=value&as_of=2024-03-01T12:00:00Z";
    let found = get(&app, &key, path).await.json();
    assert_eq!(found["snapshot_id"], ids[0]);
    assert_eq!(found["columns"][0]["values"][0]["value"], json!(0.0));
    assert_eq!(found["selection"], "", "all rows of a version");
    let tag = get(&app, &key, path).await.header("etag");
    let same = app.get(path).key(&key).header("if-none-match", &tag).send().await;
    assert_eq!(same.status, 304);

    let link = async |query: &str| -> String {
        let made = get(&app, &key, &format!("/v1/datasets/harvest/link?{query}")).await;
        assert_eq!(made.status, 200, "{query}: {}", made.text());
        assert_eq!(made.json()["selection"], "", "{query}");
        let url = made.json()["url"].as_str().unwrap().to_owned();
        url.strip_prefix("http://test.example").unwrap().to_owned()
    };
    let fixed = link("as_of=2024-03-02T07:30:00%2B13:00&limit=3").await;
    let newest = link("limit=3").await;
    app.publish_at(&table(3), at("2026-01-01T00:00:00Z")).await;
    let read = app.get(&fixed).send().await;
    assert_eq!(read.header("x-service-snapshot-id"), ids[1]);
    let more = app.get(&next(&read)).send().await;
    assert_eq!((more.status.as_u16(), more.header("x-service-snapshot-id")), (200, ids[1].clone()));
    let other = app.get(&format!("{fixed}?as_of=2024-03-01T12:00:00Z")).send().await;
    assert_eq!(other.header("x-service-snapshot-id"), ids[1], "parameters of readers do not count");
    assert!((value(&app.get(&newest).send().await) - 3.0).abs() < f64::EPSILON);
}

#[tokio::test]
async fn every_route_that_reads_rows_knows_the_time_contract_21() {
    let (app, key, _) = service().await;
    let sent = "as_of=2024-03-01";
    for (path, named) in [
        (DATA, ""),
        ("/v1/series/harvest/data", ""),
        ("/v1/datasets/harvest/values", ""),
        ("/v1/datasets/harvest/link", ""),
        // What changed since is no version.
        ("/v1/datasets/harvest/changes", "as_of"),
        ("/v1/datasets/harvest", "as_of"),
        ("/v1/bulk/farms/harvest", "as_of"),
    ] {
        let reply = get(&app, &key, &format!("{path}?{sent}")).await;
        assert!(reply.status.is_success(), "{path}: {}", reply.text());
        assert_eq!(reply.header("x-service-ignored"), named, "{path}");
    }
    let document = get(&app, &key, "/openapi.json").await.json();
    for path in [
        "/v1/datasets/{name}/data",
        "/v1/series/{name}/data",
        "/v1/datasets/{name}/values",
        "/v1/datasets/{name}/link",
    ] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        let named: Vec<&Value> = parameters.iter().map(|parameter| &parameter["$ref"]).collect();
        let of_time = json!("#/components/parameters/as_of");
        assert_eq!(named.iter().filter(|name| ***name == of_time).count(), 1, "{path}");
        let statuses = &document["paths"][path]["get"]["responses"];
        assert!(statuses["404"].is_object() && statuses["410"].is_object(), "{path}");
    }
}
