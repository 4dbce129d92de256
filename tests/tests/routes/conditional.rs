//! Entity tags, 304 and compression (contract 3).

use std::io::Read;

use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, harvest};

#[tokio::test]
async fn a_tag_is_strong_and_names_the_bytes_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let (free, top) = (app.key(Plan::Starter).await, app.key(Plan::Enterprise).await);
    let tag = async |key: &str, query: &str| app.get(&format!("/v1/datasets/harvest/data?{query}")).key(key).send().await.header("etag");
    let base = tag(&top, "").await;
    assert!(base.starts_with('"') && base.ends_with('"'), "{base}");
    for same in ["limit=100", "format=json", "geometry=true", "envelope=false", "x=1", "dimensions=", "csv.delimiter=;"] {
        assert_eq!(tag(&top, same).await, base, "{same}");
    }
    assert_eq!(tag(&free, "").await, base, "who asks does not matter where the cap does not");
    let others = ["limit=99", "format=csv", "start=2020-01-01", "dimensions=x", "columns=date", "envelope=true", "columns=value,date"];
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
    for path in ["/v1/datasets/harvest/data?format=csv", "/v1/datasets", "/v1/datasets/harvest", "/v1/datasets/harvest/preview"] {
        let first = app.get(path).key(&key).send().await;
        let tag = first.header("etag");
        let weak = format!("\"other\", W/{}", tag.replace("\"", "").split('-').map(|part| format!("\"{part}-br\"")).collect::<String>());
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
    let data = ["json", "csv", "arrow", "parquet"].map(|format| format!("/v1/datasets/harvest/data?format={format}"));
    let others = ["/v1/series/harvest/data", "/v1/datasets/harvest/changes", "/v1/datasets", "/v1/datasets/harvest"].map(str::to_owned);
    for path in data.iter().chain(&others) {
        for reply in [app.get(path).key(&key).send().await, app.head(path).key(&key).send().await] {
            assert_eq!((reply.status.as_u16(), reply.header("cache-control").as_str()), (200, "private, no-cache"), "{path}");
            let same = app.get(path).key(&key).header("if-none-match", &reply.header("etag")).send().await;
            assert_eq!((same.status.as_u16(), same.header("cache-control").as_str()), (304, "private, no-cache"), "{path}");
        }
    }
}

#[tokio::test]
async fn if_modified_since_counts_without_tags_alone() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data";
    let date = app.get(path).key(&key).send().await.header("last-modified");
    let status = async |name: &str, value: &str| app.get(path).key(&key).header(name, value).send().await.status.as_u16();
    assert_eq!(status("if-modified-since", &date).await, 304);
    assert_eq!(status("if-modified-since", "Thu, 01 Jan 2015 00:00:00 GMT").await, 200);
    let both = app.get(path).key(&key).header("if-modified-since", &date).header("if-none-match", "\"other\"").send().await;
    assert_eq!(both.status, 200);
}

#[tokio::test]
async fn text_is_compressed_for_those_who_ask_and_reads_back() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    for path in ["/v1/datasets/harvest/data?limit=0", "/v1/datasets/harvest/data?format=csv", "/v1/datasets/harvest"] {
        let plain = app.get(path).key(&key).send().await;
        for coding in ["gzip", "zstd"] {
            let packed = app.get(path).key(&key).header("accept-encoding", coding).send().await;
            assert_eq!(packed.header("content-encoding"), coding, "{path}");
            assert_eq!(packed.header("etag"), plain.header("etag").trim_end_matches('"').to_owned() + "-" + coding + "\"", "{path}");
            assert!(packed.header("vary").contains("Accept-Encoding"), "{path}");
            assert_eq!(packed.header("content-length"), packed.body.len().to_string(), "{path}");
            let mut bytes = Vec::new();
            match coding {
                "gzip" => flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut bytes).unwrap(),
                _ => zstd::stream::read::Decoder::new(&packed.body[..]).unwrap().read_to_end(&mut bytes).unwrap(),
            };
            assert_eq!(bytes, plain.body, "{path}");
            let head = app.head(path).key(&key).header("accept-encoding", coding).send().await;
            assert_eq!((head.header("etag"), head.header("content-encoding")), (packed.header("etag"), coding.to_owned()), "{path}");
        }
    }
    let small = app.get("/v1/datasets").key(&key).header("accept-encoding", "gzip").send().await;
    assert_eq!(small.header("content-encoding"), "", "headers would outweigh what is saved");
    let parquet = app.get("/v1/datasets/harvest/data?format=parquet").key(&key).header("accept-encoding", "gzip").send().await;
    assert_eq!((parquet.status.as_u16(), parquet.header("content-encoding")), (200, String::new()));
}
