//! `X-Service-Ignored`: names of the parameters that a route does not know.

use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, harvest};

use super::router::routes;

const DATA: &str = "/v1/datasets/harvest/data";
const IGNORED: &str = "x-service-ignored";

async fn service() -> (TestApp, String) {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

#[tokio::test]
async fn parameters_that_a_route_does_not_know_are_named_below_v1_contract_15() {
    let (app, key) = service().await;
    for route in routes() {
        let path = &route.address;
        let sent = "region=Auckland&order+by=x&region=Otago&a%2Cb&%22=1&&=2&%ff=3&Region=4";
        let named = "region,order%20by,a%2Cb,%22,%EF%BF%BD,Region";
        for method in ["GET", "HEAD"] {
            let ask = async |query: &str| {
                let request = app.ask(method, &format!("{path}{query}")).key(&key);
                let reply = request.header("origin", "https://page.example").send().await;
                assert_eq!(reply.status, 200, "{method} {path}{query}");
                reply
            };
            let expected = if path.starts_with("/v1/") { named } else { "" };
            assert_eq!(ask(sent).await.header(IGNORED), expected, "{method} {path}");
            let quiet = ask("").await;
            assert!(!quiet.headers.contains_key(IGNORED), "{method} {path}");
            let exposed = quiet.header("access-control-expose-headers");
            assert!(exposed.split(',').any(|name| name.trim() == IGNORED), "{exposed}");
        }
    }
}

#[tokio::test]
async fn names_of_ignored_parameters_take_two_kilobytes_at_most_contract_15() {
    let (app, key) = service().await;
    // Escaped, a name has 302 bytes.
    let names: Vec<String> = (10..25).map(|at| format!("{}{at}=1", "(".repeat(100))).collect();
    let reply = app.ask("GET", &format!("/v1/datasets?{}", names.join("&"))).key(&key).send().await;
    assert_eq!(reply.status, 200);
    let named = reply.header(IGNORED);
    assert_eq!(named.split(',').count(), 6, "{named}");
    assert!(named.ends_with("%2815"), "{named}");
}

#[tokio::test]
async fn what_a_route_or_a_loaded_format_declares_is_not_named_contract_15() {
    let (app, key) = service().await;
    let id = app.publish(&harvest()).await;
    let data = [
        "start=2020-01-01",
        "end=2030-01-01",
        "dimensions=a",
        "limit=5",
        "format=json",
        "geometry=false",
        "envelope=true",
        "cursor=",
        &format!("snapshot={id}"),
        "columns=date,region,value",
        "csv.delimiter=;",
        "json.envelope=false",
    ]
    .join("&");
    let changes = "limit=5&format=csv&geometry=true&csv.delimiter=;";
    for (path, known, named) in [
        (DATA, data.as_str(), ""),
        ("/v1/series/harvest/data", &data, ""),
        (DATA, "csv.nothing=1&xml.indent=2&.=3&delimiter=;", "csv.nothing,xml.indent,.,delimiter"),
        (DATA, "freshness=current&datasets=harvest", "freshness,datasets"),
        ("/v1/datasets/harvest/changes", changes, ""),
        ("/v1/datasets/harvest/changes", "start=x&columns=y&cursor=z", "start,columns,cursor"),
        ("/v1/bulk/farms/harvest", "freshness=current", ""),
        ("/v1/bulk/farms/harvest", "limit=5&Freshness=current", "limit,Freshness"),
        ("/v1/integrations/meltano", "datasets=harvest&meltano.incremental=true", ""),
        (
            "/v1/integrations/meltano",
            "datasets=harvest&meltano.nothing=1&fivetran.geometry=true",
            "meltano.nothing,fivetran.geometry",
        ),
        ("/v1/integrations/%6deltano", "datasets=harvest&meltano.geometry=true", ""),
        ("/v1/datasets", "limit=5", "limit"),
        ("/v1/me", "meltano.geometry=true", "meltano.geometry"),
    ] {
        let reply = app.get(&format!("{path}?{known}")).key(&key).send().await;
        assert_eq!(reply.status, 200, "{path}?{known}: {}", reply.text());
        assert_eq!(reply.header(IGNORED), named, "{path}?{known}");
    }
}

#[tokio::test]
async fn twenty_ignored_parameters_are_named_at_most_contract_15() {
    let (app, key) = service().await;
    let names: Vec<String> = (0..30).map(|index| format!("p{index}")).collect();
    let reply = app.get(&format!("{DATA}?{}", names.join("&"))).key(&key).send().await;
    assert_eq!(reply.header(IGNORED), names[..20].join(","));
}

#[tokio::test]
async fn answers_without_success_name_no_ignored_parameters_contract_15() {
    let (app, key) = service().await;
    let tag = app.get(DATA).key(&key).send().await.header("etag");
    for (path, status, conditions) in [
        (format!("{DATA}?region=x"), 304, vec![("if-none-match", tag)]),
        (format!("{DATA}?region=x&limit=y"), 422, vec![]),
        ("/v1/datasets/nothing/data?region=x".to_owned(), 404, vec![]),
        ("/v1/datasets/?region=x".to_owned(), 308, vec![]),
    ] {
        let mut request = app.get(&path).key(&key);
        for (name, value) in &conditions {
            request = request.header(name, value);
        }
        let reply = request.send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.header(IGNORED)),
            (status, String::new()),
            "{path}"
        );
    }
    let part = app.get("/v1/bulk/farms/harvest?region=x").key(&key).header("range", "bytes=0-3");
    let part = part.send().await;
    assert_eq!((part.status.as_u16(), part.header(IGNORED)), (206, "region".to_owned()));
}
