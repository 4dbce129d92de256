//! Refusals: their order, shape and headers (contract-1-order, contract-2-sentence).

use serde_json::json;
use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, parks};

#[tokio::test]
async fn refusals_come_in_the_order_of_contract_1() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.free.requests_per_month = Some(0);
    let app = TestApp::with(settings).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    // Each is wrong in its own way and in every way below it.
    let cases = [
        ("", "/v1/datasets/nothing/data?limit=0&format=xml", (401, "key_missing")),
        ("yb_wrong", "/v1/datasets/nothing/data?limit=0&format=xml", (401, "key_invalid")),
        (
            &key,
            "/v1/datasets/nothing/data?limit=0&format=xml&columns=y",
            (422, "invalid_parameters"),
        ),
        (&key, "/v1/datasets/nothing/data?limit=0&columns=y", (406, "not_acceptable")),
        (
            &key,
            "/v1/datasets/nothing/data?limit=0&format=json&columns=y&csv.delimiter=long",
            (404, "no_such_dataset"),
        ),
        (
            &key,
            "/v1/datasets/parks/data?limit=0&format=json&columns=y&snapshot=z",
            (422, "invalid_parameters"),
        ),
        (&key, "/v1/datasets/parks/data?limit=0&format=json&snapshot=z", (404, "no_such_snapshot")),
        (&key, "/v1/datasets/parks/data?limit=0&format=json", (413, "unbounded_pull")),
        (&key, "/v1/datasets/parks/data?format=json", (429, "quota_used_up")),
    ];
    for (key, path, (status, code)) in cases {
        let reply = app.get(path).key(key).header("accept", "text/html").send().await;
        assert_eq!(reply.outcome(), (status, code.to_owned()), "{path}");
        assert_eq!(reply.header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test]
async fn keys_that_are_wrong_are_401_with_a_challenge_spec_5() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Free).await;
    let mut mistyped = key.clone();
    let last = mistyped.pop().unwrap();
    mistyped.push(if last == 'a' { 'b' } else { 'a' });
    for wrong in ["", "x", mistyped.as_str(), "yb_", &key.to_uppercase(), "é"] {
        let reply = app.get("/v1/datasets").key(wrong).send().await;
        assert_eq!(reply.status, 401, "{wrong}");
        assert!(reply.header("www-authenticate").starts_with("ApiKey"), "{wrong}");
    }
    assert_eq!(app.get("/v1/datasets").key(&format!(" {key} ")).send().await.status, 200);
    let id = app.store.keys().await.unwrap()[0].id.clone();
    app.store.revoke_key(&id, yearbook_catalog::clock::now()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    assert_eq!(
        app.get("/v1/datasets").key(&key).send().await.outcome(),
        (401, "key_invalid".to_owned()),
        "revoked"
    );
}

#[tokio::test]
async fn unknown_routes_and_methods_answer_in_the_same_shape_contract_2() {
    let app = TestApp::start().await;
    for path in [
        "/nothing",
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/datasets//",
        "/v1/datasets/a/b/c",
        "/health/",
    ] {
        let reply = app.get(path).send().await;
        assert_eq!(reply.outcome(), (404, "no_such_route".to_owned()), "{path}");
        assert!(reply.json()["detail"].is_string(), "{path}");
    }
    for (method, path) in [
        ("POST", "/health"),
        ("PUT", "/v1/datasets"),
        ("DELETE", "/v1/datasets/parks/data"),
        ("PATCH", "/v1/me"),
    ] {
        let reply = app.ask(method, path).send().await;
        assert_eq!(reply.outcome(), (405, "method_not_allowed".to_owned()), "{method} {path}");
        assert_eq!(reply.header("allow"), "GET, HEAD, OPTIONS", "{method} {path}");
    }
}

#[tokio::test]
async fn a_slash_at_the_end_is_308_to_the_address_without_it_contract_3() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    for (path, location) in [
        ("/v1/datasets/", "../datasets"),
        ("/v1/datasets/parks/", "../parks"),
        ("/v1/datasets/parks/data/?limit=1&dimensions=a%2Fb", "../data?limit=1&dimensions=a%2Fb"),
        ("/v1/series/parks/data/", "../data"),
        ("/v1/bulk/places/parks/", "../parks"),
        ("/v1/integrations/meltano/?datasets=parks", "../meltano?datasets=parks"),
        ("/v1/me/", "../me"),
    ] {
        for method in ["GET", "HEAD"] {
            // A key is neither needed nor charged.
            let reply = app.ask(method, path).header("origin", "https://page.example").send().await;
            assert_eq!(
                (reply.status.as_u16(), reply.header("location"), reply.body.len()),
                (308, location.to_owned(), 0),
                "{method} {path}"
            );
            assert_eq!(reply.header("access-control-allow-origin"), "*", "{method} {path}");
            assert!(reply.header("x-request-id").len() >= 16, "{method} {path}");
        }
        let (folder, query) = path.split_once("/?").unwrap_or((path.trim_end_matches('/'), ""));
        assert!(
            location.ends_with(query)
                && folder.ends_with(location.trim_start_matches("..").split('?').next().unwrap()),
            "{path}"
        );
    }
    assert_eq!(app.get("/v1/me").key(&key).send().await.json()["requests"]["used"], 0);
    assert_eq!(
        app.ask("POST", "/v1/datasets/").send().await.status,
        404,
        "what cannot be repeated is not sent elsewhere"
    );
    for path in ["//evil.example/", "/v1//", "/v1/datasets/..%2f/../", "/docs/"] {
        assert_eq!(app.get(path).send().await.header("location"), "", "{path}");
    }
}

#[tokio::test]
async fn a_wrong_name_is_a_problem_of_the_path_contract_2() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Free).await;
    for path in [
        "/v1/datasets/CPI",
        "/v1/datasets/CPI/data",
        "/v1/series/CPI/data",
        "/v1/datasets/CPI/preview",
    ] {
        let reply = app.get(path).key(&key).send().await;
        assert_eq!(
            reply.json(),
            json!({"detail": [{"loc": ["path", "name"], "msg": "String should match pattern '^[a-z][a-z0-9_]*$'",
                "type": "string_pattern_mismatch", "input": "CPI", "ctx": {"pattern": "^[a-z][a-z0-9_]*$"}}]}),
            "{path}"
        );
    }
    for path in [
        "/v1/datasets/%ff%00/data",
        "/v1/datasets//data",
        "/v1/datasets/..%2f..%2fetc%2fpasswd/data",
    ] {
        assert_eq!(
            app.get(path).key(&key).send().await.problems(),
            [("name".to_owned(), "string_pattern_mismatch".to_owned())],
            "{path}"
        );
    }
}

#[tokio::test]
async fn problem_details_say_the_same_contract_2() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let path = "/v1/datasets/parks/data?limit=0";
    let plain = app.get(path).key(&key).send().await;
    let problem = app
        .get(path)
        .key(&key)
        .header("accept", "application/json, application/problem+json")
        .send()
        .await;
    assert_eq!(
        (plain.header("content-type"), problem.header("content-type")),
        ("application/json".into(), "application/problem+json".into())
    );
    assert_eq!(plain.json()["detail"], problem.json()["detail"]);
    assert_eq!(
        (&problem.json()["status"], &problem.json()["title"]),
        (&json!(413), &json!("Payload Too Large"))
    );
    let alone = app
        .get("/v1/datasets/nothing/data")
        .key(&key)
        .header("accept", "application/problem+json")
        .send()
        .await;
    assert_eq!(alone.status, 404, "it is no wish for data");
}

#[tokio::test]
async fn every_answer_has_a_request_id_and_can_be_read_across_origins_contract_2() {
    let app = TestApp::start().await;
    for (method, path) in [
        ("GET", "/health"),
        ("GET", "/nothing"),
        ("POST", "/health"),
        ("GET", "/v1/datasets"),
        ("OPTIONS", "/v1/datasets"),
    ] {
        let reply = app.ask(method, path).header("origin", "https://page.example").send().await;
        assert!(reply.header("x-request-id").len() >= 16, "{method} {path}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{method} {path}");
        if method != "OPTIONS" {
            let exposed = reply.header("access-control-expose-headers");
            for name in [
                "x-service-attribution",
                "x-next-page",
                "x-ratelimit-remaining",
                "x-service-error-code",
                "x-request-id",
                "delta-table-version",
                "delta-sharing-capabilities",
                "etag",
            ] {
                assert!(exposed.contains(name), "{name}: {exposed}");
            }
        }
    }
    let ids = [
        app.get("/health").send().await.header("x-request-id"),
        app.get("/health").send().await.header("x-request-id"),
    ];
    assert_ne!(ids[0], ids[1]);
    assert_eq!(
        app.get("/health")
            .header("x-request-id", "from-a.proxy_1")
            .send()
            .await
            .header("x-request-id"),
        "from-a.proxy_1"
    );
    assert_ne!(
        app.get("/health").header("x-request-id", "no spaces").send().await.header("x-request-id"),
        "no spaces"
    );
    const QUERY: &str = "/share/delta/shares/yearbook/schemas/farms/tables/harvest/query";
    for (path, method, headers) in [
        ("/v1/datasets", "GET", "x-api-key,cache-control,x-requested-with"),
        ("/share/delta/shares", "GET", "authorization,if-none-match"),
        (QUERY, "POST", "authorization,content-type,cache-control,delta-sharing-capabilities"),
    ] {
        let preflight = app
            .ask("OPTIONS", path)
            .header("origin", "https://page.example")
            .header("access-control-request-method", method)
            .header("access-control-request-headers", headers);
        let preflight = preflight.send().await;
        assert_eq!(preflight.status, 200);
        let allows = |name: &str, value: &str| {
            preflight.header(name).split(',').any(|allowed| allowed.trim() == value)
        };
        assert!(allows("access-control-allow-methods", method), "{path}");
        for header in headers.split(',') {
            assert!(allows("access-control-allow-headers", header), "{path}: {header}");
        }
    }
}

#[tokio::test]
async fn oversized_requests_are_refused_in_words() {
    let app = TestApp::start().await;
    let long = app.get(&format!("/health?x={}", "a".repeat(20_000))).send().await;
    assert_eq!(long.outcome(), (414, "address_too_long".to_owned()));
    let wide = app.get("/health").header("cookie", &"a".repeat(40_000)).send().await;
    assert_eq!(wide.outcome(), (431, "headers_too_large".to_owned()));
}
