//! The machine description and the page that shows it (contract-4-openapi, contract-4-docs).

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::root;

async fn described(app: &TestApp) -> Value {
    let reply = app.get("/openapi.json").send().await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("content-type")),
        (200, "application/json".to_owned())
    );
    reply.json()
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_document_changes_only_on_purpose() {
    let document = described(&TestApp::with(ServiceSettings::default()).await).await;
    insta::assert_snapshot!("openapi", serde_json::to_string_pretty(&document).unwrap());
}

#[tokio::test]
async fn every_route_is_described_and_every_description_is_a_route_contract_4() {
    let app = TestApp::start().await;
    let document = described(&app).await;
    let described: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    // Pages for people and the description itself say nothing of themselves.
    let silent = ["/openapi.json", "/docs", "/docs/{asset}"];
    let router = std::fs::read_to_string(root().join("host/api/src/lib.rs")).unwrap();
    let routes =
        router.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")?.split('"').next());
    for route in routes.filter(|route| !silent.contains(route)) {
        let is_described = match route.strip_suffix("{tool}") {
            Some(tools) => described.iter().any(|path| path.starts_with(tools)),
            None => described.iter().any(|path| *path == route),
        };
        assert!(is_described, "{route} is not described");
    }
    let key = app.key(Plan::Enterprise).await;
    for path in described {
        let address = path.replace("{name}", "nothing").replace("{namespace}", "nothing");
        let reply = app.get(&address).key(&key).send().await;
        assert_ne!(reply.header("x-service-error-code"), "no_such_route", "{path}");
        let status = reply.status.as_str();
        assert!(
            document["paths"][path]["get"]["responses"][status].is_object(),
            "{path} answers {status}, which is not described"
        );
    }
}

#[tokio::test]
async fn formats_and_their_parameters_are_those_loaded_now_contract_4() {
    let app = TestApp::start().await;
    let before = described(&app).await;
    assert_eq!(
        words(&before["components"]["parameters"]["format"]["schema"]["enum"]),
        ["json", "csv", "arrow", "parquet", "svg"]
    );
    let parameters =
        before["paths"]["/v1/datasets/{name}/data"]["get"]["parameters"].as_array().unwrap();
    let delimiter =
        parameters.iter().find(|parameter| parameter["name"] == "csv.delimiter").unwrap();
    assert_eq!((&delimiter["in"], &delimiter["schema"]["default"]), (&json!("query"), &json!(",")));
    app.load("evil");
    let after = described(&app).await;
    assert_eq!(
        words(&after["components"]["parameters"]["format"]["schema"]["enum"]),
        ["json", "csv", "arrow", "parquet", "evil", "svg"]
    );
    let content = |document: &Value| {
        document["paths"]["/v1/datasets/{name}/data"]["get"]["responses"]["200"]["content"]
            .as_object()
            .unwrap()
            .len()
    };
    assert_eq!((content(&before), content(&after)), (5, 6));
}

#[tokio::test]
async fn routes_name_the_key_schemes_that_spec_5_5_gives_them() {
    let document = described(&TestApp::start().await).await;
    let keyed = |header: &str| json!([{header: []}, {"BearerAuth": []}, {"BasicAuth": []}]);
    for (path, item) in document["paths"].as_object().unwrap() {
        let expected = match path.as_str() {
            "/health" | "/health/full" | "/l/{file}" => json!([]),
            // Named there, and not needed.
            "/v1/datasets/{name}/preview" => json!([{}, {"ApiKeyAuth": []}]),
            path if path.starts_with("/v1/integrations/") => keyed("APIKeyHeader"),
            _ => keyed("ApiKeyAuth"),
        };
        assert_eq!(item["get"]["security"], expected, "{path}");
        assert_eq!(item["head"]["security"], expected, "{path}");
    }
}

/// Names of the parameters that an operation has in headers.
fn header_parameters(document: &Value, operation: &Value) -> Vec<String> {
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let resolved = parameters.iter().map(|parameter| match parameter["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => parameter,
    });
    resolved
        .filter(|parameter| parameter["in"] == "header")
        .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn request_headers_and_head_are_described_contract_4() {
    let document = described(&TestApp::start().await).await;
    let data = [
        "If-Match",
        "If-Unmodified-Since",
        "If-None-Match",
        "If-Modified-Since",
        "Accept",
        "Accept-Encoding",
    ];
    let coded = ["If-Match", "If-None-Match", "Accept-Encoding"];
    for (path, expected) in [
        ("/v1/datasets", &coded[..]),
        ("/v1/datasets/{name}", &coded),
        ("/v1/datasets/{name}/preview", &coded),
        ("/v1/datasets/{name}/data", &data),
        ("/v1/series/{name}/data", &data),
        (
            "/v1/datasets/{name}/changes",
            &["If-Match", "If-None-Match", "Accept", "Accept-Encoding"],
        ),
        (
            "/v1/bulk/{namespace}/{name}",
            &[
                "Range",
                "If-Range",
                "If-Modified-Since",
                "If-Match",
                "If-Unmodified-Since",
                "If-None-Match",
            ],
        ),
        ("/v1/integrations/meltano", &["Accept", "Accept-Encoding"]),
        ("/v1/datasets/{name}/link", &["Accept-Encoding"]),
        ("/l/{file}", &[&data[..4], &data[5..]].concat()),
        ("/v1/me", &[]),
    ] {
        assert_eq!(
            header_parameters(&document, &document["paths"][path]["get"]),
            expected,
            "{path}"
        );
    }
    let mut ids = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            ids.push(operation["operationId"].as_str().unwrap().to_owned());
            assert_eq!(
                operation["responses"]["405"]["headers"]["Allow"]["$ref"],
                "#/components/headers/Allow",
                "{method} {path}"
            );
            assert_eq!(
                operation["responses"]["308"].is_object(),
                path.starts_with("/v1/"),
                "{method} {path}"
            );
        }
        let head = &item["head"];
        assert!(head["responses"]["200"].is_object(), "{path}");
        let bodies = head["responses"]
            .as_object()
            .unwrap()
            .values()
            .any(|response| response["content"].is_object());
        assert!(!bodies, "a HEAD of {path} has no body");
        for parts in ["206", "307", "416"] {
            assert!(head["responses"][parts].is_null(), "{path} {parts}");
        }
        assert!(
            !header_parameters(&document, head).iter().any(|name| name.ends_with("Range")),
            "{path}"
        );
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "an operation's id is its own");
}

#[tokio::test]
async fn answers_carry_the_headers_that_are_described_and_no_others_contract_4() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let document = described(&app).await;
    let key = app.key(Plan::Enterprise).await;
    let free = app.key(Plan::Free).await;
    let named = |path: &str| path.replace("{name}", "harvest").replace("{namespace}", "farms");
    // Headers that belong to HTTP, not to an answer of ours.
    let common = [
        "content-type",
        "content-length",
        "accept-ranges",
        "access-control-allow-origin",
        "access-control-expose-headers",
    ];
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (suffix, key, coding) in
                [("", &key, "gzip"), ("", &free, ""), ("", &String::new(), ""), ("/", &key, "")]
            {
                let query = if path.contains("integrations") { "?datasets=harvest" } else { "" };
                let address = format!("{}{suffix}{query}", named(path));
                let reply = app
                    .ask(&method.to_uppercase(), &address)
                    .key(key)
                    .header("accept-encoding", coding)
                    .send()
                    .await;
                if suffix == "/" && !path.starts_with("/v1/") {
                    continue;
                }
                let status = reply.status.as_str();
                let response = &operation["responses"][status];
                assert!(
                    response.is_object(),
                    "{method} {address} answers {status}, which is not described"
                );
                let described: Vec<String> = response["headers"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(|name| name.to_ascii_lowercase())
                    .collect();
                for name in reply
                    .headers
                    .keys()
                    .map(|name| name.as_str())
                    .filter(|name| !common.contains(name))
                {
                    assert!(
                        described.iter().any(|known| known == name),
                        "{method} {address} {status}: {name} is not described"
                    );
                }
                for (name, header) in response["headers"].as_object().unwrap() {
                    let header = header["$ref"]
                        .as_str()
                        .map_or(header, |to| document.pointer(to.trim_start_matches('#')).unwrap());
                    let missing =
                        header["required"] == true && !reply.headers.contains_key(name.as_str());
                    assert!(!missing, "{method} {address} {status}: {name} is missing");
                }
            }
        }
    }
}

#[tokio::test]
async fn the_operators_address_is_the_base_of_the_description_contract_6() {
    let mut settings = ServiceSettings::default();
    settings.server.public_url =
        Some("https://data.example.org/statistics".to_owned().try_into().unwrap());
    let document = described(&TestApp::with(settings).await).await;
    assert_eq!(document["servers"], json!([{"url": "https://data.example.org/statistics"}]));
    assert_eq!(described(&TestApp::start().await).await["servers"], json!([{"url": "/"}]));
}

#[tokio::test]
async fn the_page_loads_nothing_from_another_host_contract_4() {
    let app = TestApp::start().await;
    let assets = [
        ("/docs", "text/html"),
        ("/docs/docs.js", "text/javascript"),
        ("/docs/docs.css", "text/css"),
    ];
    for (path, content_type) in assets {
        let reply = app.get(path).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("content-type")),
            (200, format!("{content_type}; charset=utf-8")),
            "{path}"
        );
        assert!(
            reply
                .header("content-security-policy")
                .starts_with("default-src 'none'; script-src 'self';"),
            "{path}"
        );
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        let text = reply.text();
        let loads = ["://", "@import", " url(", ":url(", "innerHTML"]
            .iter()
            .find(|sign| text.contains(**sign));
        assert_eq!(loads, None, "{path}");
        let again = app.get(path).header("if-none-match", &reply.header("etag")).send().await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{path}");
    }
    for path in ["/docs/", "/docs/index.html", "/docs/docs.js.map", "/docs/..%2fdocs.js"] {
        assert_eq!(
            app.get(path).send().await.outcome(),
            (404, "no_such_route".to_owned()),
            "{path}"
        );
    }
}

/// Every `$ref` below `value`.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere_and_every_component_is_used() {
    let document = described(&TestApp::start().await).await;
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in &found {
        assert!(
            document.pointer(reference.trim_start_matches('#')).is_some(),
            "{reference} leads nowhere"
        );
    }
    for kind in ["parameters", "headers", "schemas"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            assert!(
                found.contains(&format!("#/components/{kind}/{name}")),
                "nothing refers to {kind}/{name}"
            );
        }
    }
}
