//! Links to rows for programs that send an address and nothing else (contract-15-link).

mod ends;
mod previews;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use serde_json::{Value, json};
use yearbook_domain::signing::seal;
use yearbook_domain::{KeyId, Millis, Plan};
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{BASE_URL, Reply, TestApp, harvest, parks};

use super::statements::Statements;

const DATA: &str = "/v1/datasets/harvest/data";
const LINK: &str = "/v1/datasets/harvest/link";
const LIMITS: [&str; 5] = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit",
    "ratelimit-policy",
];

async fn service(settings: ServiceSettings, plan: Plan) -> (TestApp, String) {
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(plan).await;
    (app, key)
}

/// Path of the link to what `query` selects.
async fn link(app: &TestApp, key: &str, query: &str) -> String {
    let reply = app.get(&format!("{LINK}?{query}")).key(key).send().await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.text());
    path_of(reply.json()["url"].as_str().unwrap())
}

fn path_of(url: &str) -> String {
    url.strip_prefix(BASE_URL).unwrap_or_else(|| panic!("{url}")).to_owned()
}

/// Address of the next page.
fn next(reply: &Reply) -> Option<String> {
    let links = reply.headers.get_all("link").iter().map(|value| value.to_str().unwrap());
    let next = links.filter_map(|link| link.strip_suffix(">; rel=\"next\"")).next();
    next.map(|link| path_of(link.strip_prefix('<').unwrap()))
}

fn outcome(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn a_link_reads_what_its_key_would_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Enterprise).await;
    let old = app.publish(&harvest()).await;
    for (query, format, extension, selection) in [
        ("", "json", "json", ""),
        ("last=1&limit=2&sort=-value&format=csv", "csv", "csv", "last=1&sort=-value"),
        ("format=csv&csv.delimiter=;&csv.nothing=1&limit=3", "csv", "csv", ""),
        ("envelope=true&columns=value,region", "json", "json", "columns=value%2Cregion"),
        (
            "where.region=M%C4%81ori+land&where.value.ge=1e1&start=2020-05-01&format=arrow",
            "arrow",
            "arrows",
            "start=2020-05-01&where.region=M%C4%81ori%20land&where.value.ge=10.0",
        ),
        ("dimensions=north&format=parquet&limit=0", "parquet", "parquet", "dimensions=north"),
        (&format!("snapshot={old}&geometry=false&format=svg"), "svg", "svg", ""),
    ] {
        let made = app
            .get(&format!("{LINK}?{query}&days=7"))
            .key(&key)
            .header("accept", "text/csv")
            .send()
            .await;
        assert_eq!(made.status, 200, "{query}: {}", made.text());
        assert_eq!(made.header("cache-control"), "no-store");
        assert!(!made.headers.contains_key("etag"));
        let body = made.json();
        assert_eq!((&body["format"], &body["selection"]), (&json!(format), &json!(selection)));
        let ends = Millis::parse_iso8601(body["expires_at"].as_str().unwrap()).unwrap().0;
        let days = (ends - yearbook_catalog::clock::now().0) as f64 / 86_400_000.0;
        assert!((days - 7.0).abs() < 0.01, "{days}");
        let url = body["url"].as_str().unwrap();
        assert!(url.ends_with(&format!(".{extension}")) && url.len() <= 2_000, "{url}");

        let path = path_of(url);
        let expected = app.get(&format!("{DATA}?{query}")).key(&key).send().await;
        // Nothing that a reader sends counts, but what the answer is packed in.
        let noisy = format!("{path}?format=arrow&limit=1&where.region=x&start=y");
        for (method, path) in [("GET", &path), ("GET", &noisy), ("HEAD", &path)] {
            let read = app.ask(method, path).header("accept", "application/xml").send().await;
            assert_eq!(read.status, 200, "{query}: {}", read.text());
            if method == "GET" {
                assert_eq!(read.body, expected.body, "{query}");
            }
            for name in [
                "etag",
                "content-type",
                "content-disposition",
                "last-modified",
                "x-service-attribution",
                "x-service-snapshot-id",
                "x-service-geometry-omitted",
                "cache-control",
            ] {
                assert_eq!(read.header(name), expected.header(name), "{method} {query}: {name}");
            }
        }
        let tag = expected.header("etag");
        let again = app.get(&path).header("if-none-match", &tag).send().await;
        assert_eq!((again.status.as_u16(), again.body.len()), (304, 0), "{query}");
        let ranged = app.get(&path).header("range", "bytes=0-1").send().await;
        assert_eq!((ranged.status, &ranged.body), (expected.status, &expected.body));
        let cited = |reply: &Reply| {
            let links = reply.headers.get_all("link").iter();
            let cited = links.filter(|link| link.to_str().unwrap().contains("cite-as"));
            cited.cloned().collect::<Vec<_>>()
        };
        let read = app.get(&path).send().await;
        assert_eq!(cited(&read), cited(&expected), "{query}");
        assert!(!cited(&read).is_empty(), "{query}");
    }
}

#[tokio::test]
async fn a_link_has_pages_of_its_own_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Enterprise).await;
    let all = app.get(&format!("{DATA}?limit=0&where.final=true")).key(&key).send().await.json();
    let path = link(&app, &key, "limit=7&where.final=true&cursor=nothing").await;
    let mut page = Some(format!("{path}?limit=1&region=x&csv.delimiter=%3B"));
    let mut rows: Vec<Value> = Vec::new();
    while let Some(address) = page {
        let reply = app.get(&address).send().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let ignored = if address.contains("region") { "limit,region" } else { "" };
        assert_eq!(reply.header("x-service-ignored"), ignored);
        rows.extend(reply.json().as_array().unwrap().iter().cloned());
        page = next(&reply);
        if let Some(next) = &page {
            assert_eq!(*next, format!("{path}?cursor={}", reply.header("x-next-page")));
        }
    }
    assert_eq!(Value::Array(rows), all);
    let made = app.get(&format!("{LINK}?cursor=x&days=1&limit=1")).key(&key).send().await;
    assert_eq!(made.header("x-service-ignored"), "cursor", "a link begins at the first row");
    let wrong = app.get(&format!("{path}?cursor=x")).send().await;
    assert_eq!(wrong.problems(), [("cursor".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn a_link_is_refused_what_its_rows_are_refused_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Free).await;
    app.publish(&parks()).await;
    for (name, query) in [
        ("harvest", "limit=x&start=2020&format=xml&where.nothing=1"),
        ("harvest", "where.nothing=1&columns=none&csv.delimiter=x"),
        ("harvest", "bbox=1,2,3,4"),
        ("harvest", "snapshot=00000000000000000000000000000000"),
        ("parks", "limit=0"),
        ("parks", "last=1"),
        ("nothing", "limit=1"),
        ("Nothing", "limit=1"),
        // The drawing plugin declines.
        ("harvest", "columns=region&format=svg"),
    ] {
        let ask = async |method: &str, route: &str| {
            let address = format!("/v1/datasets/{name}/{route}?{query}");
            app.ask(method, &address).key(&key).send().await
        };
        let (head, made) = (ask("HEAD", "data").await, ask("GET", "link").await);
        assert!(head.status.is_client_error(), "{name} {query}");
        assert_eq!(made.outcome(), head.outcome(), "{name} {query}");
        assert_eq!(made.body, ask("GET", "data").await.body, "{name} {query}");
        assert_eq!(ask("HEAD", "link").await.outcome(), head.outcome(), "{name} {query}");
    }
    for (days, kind) in [
        ("0", "greater_than_equal"),
        ("-1", "greater_than_equal"),
        ("367", "less_than_equal"),
        ("x", "int_parsing"),
        ("", "int_parsing"),
    ] {
        let reply = app.get(&format!("{LINK}?days={days}&limit=x")).key(&key).send().await;
        let limit = ("limit".to_owned(), "int_parsing".to_owned());
        assert_eq!(reply.problems(), [limit, ("days".to_owned(), kind.to_owned())], "{days}");
    }
    let long: String = (0..30).map(|index| format!("where.region={index:050}&")).collect();
    let reply = app.get(&format!("{LINK}?{long}")).key(&key).send().await;
    assert_eq!(reply.outcome(), outcome(413, "link_too_long"));
    let path = link(&app, &key, &long[..long.len() / 2 - 5]).await;
    assert_eq!(app.get(&path).send().await.status, 200);
}

#[tokio::test]
async fn what_is_read_by_a_link_is_charged_to_its_key_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Free).await;
    let path = link(&app, &key, "limit=3").await;
    let used = async || app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].clone();
    let tag = app.head(&path).send().await.header("etag");
    assert_eq!(app.get(&path).header("if-none-match", &tag).send().await.status, 304);
    assert_eq!(used().await, 0, "making, HEAD and 304 are free");
    for _ in 0..10 {
        assert_eq!(app.get(&path).send().await.status, 200);
    }
    assert_eq!(used().await, 10);
    let refused = app.get(&path).send().await;
    assert_eq!(refused.outcome(), outcome(429, "quota_used_up"));
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
    for name in LIMITS {
        assert!(!refused.headers.contains_key(name), "{name}");
    }
    assert_eq!(app.head(&path).send().await.status, 200);
    assert_eq!(app.get(LINK).key(&key).send().await.status, 200, "the month does not matter");
}

#[tokio::test]
async fn all_links_of_a_key_have_one_bucket_beside_its_own_contract_15() {
    let mut settings = ServiceSettings::default();
    (settings.limits.burst_per_second, settings.limits.burst_size) = (1, 4);
    let (app, key) = service(settings, Plan::Pro).await;
    let links = [link(&app, &key, "limit=1").await, link(&app, &key, "limit=2").await];
    let other = app.key(Plan::Pro).await;
    let others = link(&app, &other, "limit=1").await;
    let mut refused = None;
    for index in 0..40 {
        let reply = app.get(&links[index % 2]).send().await;
        if reply.status != 200 {
            refused = Some((index, reply));
            break;
        }
    }
    let (answered, refused) = refused.expect("a thousand links are no faster than one");
    assert!((4..10).contains(&answered), "{answered}");
    assert_eq!(refused.outcome(), outcome(429, "slow_down"));
    assert_eq!(refused.header("retry-after"), "1");
    for name in LIMITS {
        assert!(!refused.headers.contains_key(name), "{name}");
    }
    assert_eq!(app.get(DATA).key(&key).send().await.status, 200, "the key goes on");
    assert_eq!(app.get(&others).send().await.status, 200, "and so do those of other keys");
}

#[tokio::test]
async fn what_is_no_link_is_404_without_the_database_contract_15() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    let (app, key) = service(settings, Plan::Free).await;
    let path = link(&app, &key, "format=csv").await;
    let statements = Statements::start();
    let (stem, _) = path.split_once('.').unwrap();
    let (start, end) = stem.split_at(stem.len() - 1);
    let changed = format!("{start}{}.csv", if end == "A" { "E" } else { "A" });
    let before = (statements.keys(), statements.usage(), statements.datasets());
    for wrong in [
        &changed,
        stem,
        &format!("{stem}.json"),
        &format!("{path}x"),
        "/l/x",
        "/l/AQx3.csv",
        &format!("/l/{}.csv", "A".repeat(8_000)),
        "/l/%00.csv",
    ] {
        for method in ["GET", "HEAD"] {
            let reply = app.ask(method, wrong).key(&key).send().await;
            assert_eq!(reply.outcome(), outcome(404, "no_such_link"), "{method} {wrong}");
        }
    }
    assert_eq!((statements.keys(), statements.usage(), statements.datasets()), before);
    assert_eq!(app.get(&path).send().await.status, 200);
    assert!(statements.keys() > before.0, "a link looks its key up");
}

/// Replaces what `path` holds of time, as only the secret of the installation can.
async fn ending(app: &TestApp, key: &KeyId, ends: i64) -> String {
    let secret = app.store.secret("link").await.unwrap();
    let text = json!([key, 0, ends, "harvest", "format=csv"]).to_string();
    let sealed = seal(&secret, &[7; 24], b"csv", text.as_bytes());
    format!("/l/{}.csv", BASE64_URL_SAFE_NO_PAD.encode([&[1], sealed.as_slice()].concat()))
}

#[tokio::test]
async fn a_link_follows_the_newest_snapshot_unless_it_pins_one_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Pro).await;
    let id = app.publish(&harvest()).await;
    let newest = link(&app, &key, "start=2026-01-01&format=csv").await;
    let pinned = link(&app, &key, &format!("start=2026-01-01&format=csv&snapshot={id}")).await;
    let lines = async |path: &str| app.get(path).send().await.text().lines().count();
    assert_eq!((lines(&newest).await, lines(&pinned).await), (1, 1));
    app.publish(&harvest().with_appended("2026-02-01,Auckland,1.5,true\n")).await;
    assert_eq!((lines(&newest).await, lines(&pinned).await), (2, 1));

    // Columns that come later are not among those that were asked for, though these were all.
    let columns = "date,region,value,final";
    let all = link(&app, &key, &format!("columns={columns}&format=csv")).await;
    let rows = format!("{columns},note\n2026-02-01,Auckland,1.5,true,new\n");
    app.publish(&harvest().with_field("note", "string").with_rows(&rows)).await;
    let text = app.get(&all).send().await.text();
    assert_eq!(text, format!("{columns}\n2026-02-01,Auckland,1.5,true\n"));
}

#[tokio::test]
async fn the_address_of_a_link_goes_nowhere_else_contract_15() {
    let mut settings = ServiceSettings::default();
    settings.plans.free.requests_per_month = Some(1);
    let (app, key) = service(settings, Plan::Free).await;
    let path = link(&app, &key, "format=csv&limit=1").await;
    let token = path.strip_prefix("/l/").unwrap().strip_suffix(".csv").unwrap();
    let first = app.get(&path).send().await;
    let tag = first.header("etag");
    let ended = {
        let now = yearbook_catalog::clock::now().0.div_euclid(1000);
        ending(&app, &app.store.keys().await.unwrap()[0].id, now - 1).await
    };
    let html = async |path: &str| app.get(path).header("accept", "text/html").send().await;
    for (status, reply) in [
        (200, first),
        (304, app.get(&path).header("if-none-match", &tag).send().await),
        (412, app.get(&path).header("if-match", "\"x\"").send().await),
        (422, app.get(&format!("{path}?cursor=x")).send().await),
        (429, app.get(&path).send().await),
        (429, html(&path).await),
        (404, app.get(&format!("{path}x")).send().await),
        (404, html(&format!("{path}x")).await),
        (410, app.get(&ended).send().await),
        (410, html(&ended).await),
    ] {
        assert_eq!(reply.status.as_u16(), status);
        assert_eq!(reply.header("referrer-policy"), "no-referrer", "{status}");
        assert_eq!(reply.header("x-robots-tag"), "noindex", "{status}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{status}");
        for name in LIMITS {
            assert!(!reply.headers.contains_key(name), "{status} {name}");
        }
        let links: Vec<_> = reply.headers.get_all("link").iter().collect();
        let repeats = links.iter().filter(|link| link.to_str().unwrap().contains(token)).count();
        assert_eq!(repeats, usize::from(status == 200), "the next page alone");
        assert!(!reply.text().contains(&token[..20]), "{status}");
    }
    let robots = app.get("/robots.txt").send().await.text();
    assert!(robots.contains("\nDisallow: /l/\n"), "{robots}");
    let preflight = app
        .ask("OPTIONS", &path)
        .header("origin", "https://page.example")
        .header("access-control-request-method", "GET")
        .send()
        .await;
    assert_eq!(preflight.status, 200);
    let metrics = app.metrics().await;
    assert!(metrics.contains("route=\"/l/{file}\"") && !metrics.contains(&token[..20]));
}
