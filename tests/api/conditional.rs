//! Entity tags, 304 and compression (contract-3-304, contract-3-etag-coding).

use std::io::Read;

use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, TestTable, harvest};

/// One more version of the harvest.
fn second_version() -> TestTable {
    harvest().with_rows("date,region,value,final\n2020-01-01,Auckland,1.5,true\n")
}

#[tokio::test]
async fn a_tag_is_strong_and_names_the_bytes_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let (free, top) = (app.key(Plan::Starter).await, app.key(Plan::Enterprise).await);
    let tag = async |key: &str, query: &str| {
        app.get(&format!("/v1/datasets/harvest/data?{query}")).key(key).send().await.header("etag")
    };
    let base = tag(&top, "").await;
    assert!(base.starts_with('"') && base.ends_with('"'), "{base}");
    for same in [
        "limit=100",
        "format=json",
        "geometry=true",
        "envelope=false",
        "x=1",
        "dimensions=",
        "csv.delimiter=;",
    ] {
        assert_eq!(tag(&top, same).await, base, "{same}");
    }
    assert_eq!(tag(&free, "").await, base, "who asks does not matter where the cap does not");
    let others = [
        "limit=99",
        "format=csv",
        "start=2020-01-01",
        "dimensions=x",
        "columns=date",
        "envelope=true",
        "columns=value,date",
    ];
    let mut seen = vec![base];
    for other in others {
        let found = tag(&top, other).await;
        assert!(!seen.contains(&found), "{other}");
        seen.push(found);
    }
}

#[tokio::test]
async fn what_a_client_has_is_304_and_free_contract_5() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    for path in [
        "/v1/datasets/harvest/data?format=csv",
        "/v1/datasets",
        "/v1/datasets/harvest",
        "/v1/datasets/harvest/preview",
    ] {
        let first = app.get(path).key(&key).send().await;
        let tag = first.header("etag");
        let weak = format!(
            "\"other\", W/{}",
            tag.replace("\"", "")
                .split('-')
                .map(|part| format!("\"{part}-br\""))
                .collect::<String>()
        );
        for tags in [tag.as_str(), "*", weak.as_str()] {
            let second = app.get(path).key(&key).header("if-none-match", tags).send().await;
            assert_eq!((second.status.as_u16(), second.body.len()), (304, 0), "{path} {tags}");
            assert_eq!(second.header("etag"), tag, "{path}");
            assert_eq!(second.header("content-type"), "", "{path}");
            assert_eq!(second.header("content-length"), "", "{path}");
        }
        let changed = app.head(path).key(&key).header("if-none-match", "\"other\"").send().await;
        assert_eq!(changed.status, 200, "{path}");
    }
    assert_eq!(app.get("/v1/me").key(&key).send().await.json()["requests"]["used"], 3);
}

#[tokio::test]
async fn what_is_kept_is_asked_for_again_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let data = ["json", "csv", "arrow", "parquet"]
        .map(|format| format!("/v1/datasets/harvest/data?format={format}"));
    let others = [
        "/v1/series/harvest/data",
        "/v1/datasets/harvest/changes",
        "/v1/datasets",
        "/v1/datasets/harvest",
    ]
    .map(str::to_owned);
    for path in data.iter().chain(&others) {
        for reply in [app.get(path).key(&key).send().await, app.head(path).key(&key).send().await] {
            assert_eq!(
                (reply.status.as_u16(), reply.header("cache-control").as_str()),
                (200, "private, no-cache"),
                "{path}"
            );
            let same =
                app.get(path).key(&key).header("if-none-match", &reply.header("etag")).send().await;
            assert_eq!(
                (same.status.as_u16(), same.header("cache-control").as_str()),
                (304, "private, no-cache"),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn a_date_is_never_answered_304_and_no_two_snapshots_share_one() {
    let app = TestApp::start().await;
    let at = yearbook_catalog::clock::now();
    app.publish_at(&harvest(), at).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data";
    let date = app.get(path).key(&key).send().await.header("last-modified");
    // Another publisher, in the same millisecond by its own account.
    app.publish_at(&second_version(), at).await;
    let now = app.get(path).key(&key).send().await;
    assert_ne!(now.header("last-modified"), date);
    for since in [date.as_str(), &now.header("last-modified"), "Fri, 01 Jan 2100 00:00:00 GMT"] {
        let reply = app.get(path).key(&key).header("if-modified-since", since).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.body == now.body),
            (200, true),
            "{since}: a client may have read before this was published"
        );
    }
}

#[tokio::test]
async fn a_false_precondition_is_412_and_free_rfc_9110_13() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let free = app.key(Plan::Free).await;
    for (path, dated) in [
        ("/v1/datasets/harvest/data?format=csv", true),
        ("/v1/series/harvest/data", true),
        ("/v1/bulk/farms/harvest?freshness=current", true),
        ("/v1/datasets/harvest/changes", false),
        ("/v1/datasets", false),
        ("/v1/datasets/harvest", false),
        ("/v1/datasets/harvest/preview", false),
        ("/openapi.json", false),
    ] {
        let tag = app.get(path).key(&key).send().await.header("etag");
        let packed = format!("{}-gzip\"", tag.trim_end_matches('"'));
        for (name, value, expected) in [
            ("if-match", tag.as_str(), 200),
            ("if-match", "*", 200),
            ("if-match", packed.as_str(), 200),
            ("if-match", "\"other\"", 412),
            ("if-match", &format!("W/{tag}"), 412),
            ("if-unmodified-since", "Thu, 01 Jan 2015 00:00:00 GMT", if dated { 412 } else { 200 }),
            ("if-unmodified-since", "Fri, 01 Jan 2100 00:00:00 GMT", 200),
        ] {
            for method in ["GET", "HEAD"] {
                let reply = app.ask(method, path).key(&key).header(name, value).send().await;
                assert_eq!(reply.status.as_u16(), expected, "{method} {path} {name}: {value}");
                if expected == 412 {
                    assert_eq!(
                        reply.header("x-service-error-code"),
                        "precondition_failed",
                        "{method} {path}"
                    );
                }
            }
        }
        if !path.contains("bulk") {
            let refused = app.get(path).key(&free).header("if-match", "\"other\"").send().await;
            assert_eq!(refused.outcome().0, 412, "{path}");
            assert!(refused.json()["detail"].as_str().unwrap().contains("If-Match"), "{path}");
        }
    }
    assert_eq!(app.get("/v1/me").key(&free).send().await.json()["requests"]["used"], 0);
    assert_eq!(
        app.get("/v1/me").key(&free).header("if-match", "\"other\"").send().await.status,
        200,
        "what has no tag has no conditions"
    );
}

#[tokio::test]
async fn preconditions_come_after_what_is_wrong_and_before_the_quota_contract_1() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let (free, pro) = (app.key(Plan::Free).await, app.key(Plan::Pro).await);
    let status = async |key: &str, path: &str| {
        app.get(path).key(key).header("if-match", "\"other\"").send().await.status.as_u16()
    };
    assert_eq!(status("yb_wrong", "/v1/datasets/harvest/data").await, 401);
    assert_eq!(status(&free, "/v1/datasets/harvest/data?limit=x").await, 422);
    assert_eq!(status(&free, "/v1/datasets/nothing/data").await, 404);
    assert_eq!(status(&free, "/v1/bulk/farms/harvest").await, 402);
    assert_eq!(status(&pro, "/v1/bulk/farms/harvest").await, 412);
    for _ in 0..10 {
        app.get("/v1/datasets/harvest/data?limit=1").key(&free).send().await;
    }
    assert_eq!(app.get("/v1/datasets/harvest/data").key(&free).send().await.status, 429);
    assert_eq!(status(&free, "/v1/datasets/harvest/data").await, 412);
}

#[tokio::test]
async fn a_guarded_reader_of_ranges_never_mixes_two_snapshots_rfc_9110_13() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/bulk/farms/harvest";
    let first = app.get(path).key(&key).send().await;
    for (name, value) in
        [("if-match", first.header("etag")), ("if-unmodified-since", first.header("last-modified"))]
    {
        let range = async |bytes: &str| {
            app.get(path).key(&key).header("range", bytes).header(name, &value).send().await
        };
        let part = range("bytes=4-9").await;
        assert_eq!((part.status.as_u16(), &part.body[..]), (206, &first.body[4..10]), "{name}");
        assert_eq!(range("bytes=99999999-").await.status, 416, "{name}");
    }
    app.publish(&second_version()).await;
    for (name, value) in
        [("if-match", first.header("etag")), ("if-unmodified-since", first.header("last-modified"))]
    {
        for bytes in ["bytes=10-19", "bytes=99999999-"] {
            let reply =
                app.get(path).key(&key).header("range", bytes).header(name, &value).send().await;
            assert_eq!(reply.status, 412, "{name} {bytes}");
        }
    }
}

#[tokio::test]
async fn text_is_compressed_for_those_who_ask_and_reads_back() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    for path in [
        "/v1/datasets/harvest/data?limit=0",
        "/v1/datasets/harvest/data?format=csv",
        "/v1/datasets/harvest",
    ] {
        let plain = app.get(path).key(&key).send().await;
        for coding in ["gzip", "zstd"] {
            let packed = app.get(path).key(&key).header("accept-encoding", coding).send().await;
            assert_eq!(packed.header("content-encoding"), coding, "{path}");
            assert_eq!(
                packed.header("etag"),
                plain.header("etag").trim_end_matches('"').to_owned() + "-" + coding + "\"",
                "{path}"
            );
            assert!(packed.header("vary").contains("Accept-Encoding"), "{path}");
            assert_eq!(packed.header("content-length"), packed.body.len().to_string(), "{path}");
            let mut bytes = Vec::new();
            match coding {
                "gzip" => {
                    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut bytes).unwrap()
                }
                _ => zstd::stream::read::Decoder::new(&packed.body[..])
                    .unwrap()
                    .read_to_end(&mut bytes)
                    .unwrap(),
            };
            assert_eq!(bytes, plain.body, "{path}");
            let head = app.head(path).key(&key).header("accept-encoding", coding).send().await;
            assert_eq!(
                (head.header("etag"), head.header("content-encoding")),
                (packed.header("etag"), coding.to_owned()),
                "{path}"
            );
        }
    }
    let small = app.get("/v1/datasets").key(&key).header("accept-encoding", "gzip").send().await;
    assert_eq!(small.header("content-encoding"), "", "headers would outweigh what is saved");
    let parquet = app
        .get("/v1/datasets/harvest/data?format=parquet")
        .key(&key)
        .header("accept-encoding", "gzip")
        .send()
        .await;
    assert_eq!((parquet.status.as_u16(), parquet.header("content-encoding")), (200, String::new()));
}
