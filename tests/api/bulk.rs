//! `/v1/bulk/{namespace}/{name}` (spec-4.3-file, spec-4.3-plan).

use std::path::PathBuf;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use yearbook_domain::{Digest, Millis, Plan};
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, TestRequest, TestTable, big, harvest, parks};

const HARVEST: &str = "/v1/bulk/farms/harvest";

fn hex(bytes: &[u8]) -> String {
    Digest::compute(bytes).to_string()
}

fn stored(app: &TestApp, bytes: &[u8]) -> PathBuf {
    app.folder.path().join("objects/snapshots").join(format!("{}.parquet", hex(bytes)))
}

/// One more version of the harvest.
fn second_version() -> TestTable {
    harvest().with_rows("date,region,value,final\n2020-01-01,Auckland,1.5,true\n")
}

#[tokio::test]
async fn the_file_is_the_stored_one_with_its_digest_and_credit_contract_4() {
    let app = TestApp::start().await;
    // 2026-11-22T23:59:59Z: the day of the file's name is counted in UTC.
    let id = app.publish_at(&harvest(), Millis(1_795_391_999_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let reply = app.get(HARVEST).key(&key).header("accept-encoding", "gzip, zstd").send().await;
    assert_eq!((reply.status.as_u16(), reply.cut), (200, false));
    assert!(reply.body.starts_with(b"PAR1") && reply.body.ends_with(b"PAR1"));
    assert_eq!(reply.body, std::fs::read(stored(&app, &reply.body)).unwrap());
    for (name, expected) in [
        ("content-type", "application/vnd.apache.parquet".to_owned()),
        ("content-length", reply.body.len().to_string()),
        ("content-encoding", String::new()),
        ("accept-ranges", "bytes".to_owned()),
        ("etag", format!("\"{}\"", hex(&reply.body))),
        (
            "repr-digest",
            format!(
                "sha-256=:{}:",
                BASE64_STANDARD.encode(Digest::compute(&reply.body).to_bytes())
            ),
        ),
        ("content-disposition", "attachment; filename=\"harvest-2026-11-22.parquet\"".to_owned()),
        ("x-service-freshness", "current".to_owned()),
        ("cache-control", "private, no-cache, no-transform".to_owned()),
        ("vary", "X-API-Key, Authorization".to_owned()),
        ("x-service-snapshot-id", id),
        ("x-service-attribution", "Ahuwhenua Māori, CC BY 4.0".to_owned()),
        ("x-service-licence", "CC-BY-4.0".to_owned()),
        ("x-service-namespace", "farms".to_owned()),
        ("x-service-source", "Ministry of Harvest".to_owned()),
        ("x-service-source-url", "https://agency.example/data".to_owned()),
    ] {
        assert_eq!(reply.header(name), expected, "{name}");
    }
    assert!(reply.header("last-modified").ends_with(" GMT"));
    let head = app.head(HARVEST).key(&key).send().await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    let part = app.get(HARVEST).key(&key).header("range", "bytes=0-3").send().await;
    assert_eq!(part.status, 206);
    for name in [
        "content-type",
        "etag",
        "repr-digest",
        "accept-ranges",
        "last-modified",
        "content-disposition",
        "x-service-freshness",
    ] {
        assert_eq!(head.header(name), reply.header(name), "{name}");
        assert_eq!(part.header(name), reply.header(name), "{name}");
    }
    assert_eq!(head.header("content-length"), reply.header("content-length"));
    let known =
        app.get(HARVEST).key(&key).header("if-none-match", &reply.header("etag")).send().await;
    assert_eq!(
        (known.status.as_u16(), known.header("x-service-freshness")),
        (304, "current".to_owned())
    );
}

#[tokio::test]
async fn refusals_come_in_the_order_of_contract_1() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.pro.requests_per_month = Some(1);
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let (free, starter, pro) =
        (app.key(Plan::Free).await, app.key(Plan::Starter).await, app.key(Plan::Pro).await);
    let outcome = async |key: &str, path: &str| app.get(path).key(key).send().await.outcome();
    let is = |status: u16, code: &str| (status, code.to_owned());
    assert_eq!(
        app.get("/v1/bulk/Farms/X?freshness=y").send().await.outcome(),
        is(401, "key_missing")
    );
    // Everything that is wrong, at once; a wrong word even where nothing is called so.
    let problems = app.get("/v1/bulk/Farms/H-x?freshness=daily").key(&free).send().await.problems();
    let expected = [
        ("namespace", "string_pattern_mismatch"),
        ("name", "string_pattern_mismatch"),
        ("freshness", "literal_error"),
    ];
    assert_eq!(problems, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
    assert_eq!(
        outcome(&free, "/v1/bulk/farms/nothing?freshness=daily").await,
        is(422, "invalid_parameters")
    );
    assert_eq!(outcome(&free, "/v1/bulk/farms/nothing").await, is(404, "no_such_dataset"));
    assert_eq!(outcome(&free, "/v1/bulk/places/harvest").await, is(404, "no_such_dataset"));
    // The licence before the plan, on every plan.
    for key in [&free, &starter, &pro] {
        assert_eq!(outcome(key, "/v1/bulk/places/parks").await, is(403, "bulk_forbidden"));
    }
    assert_eq!(outcome(&free, HARVEST).await, is(402, "payment_required"));
    assert_eq!(
        outcome(&starter, &format!("{HARVEST}?freshness=monthly")).await,
        is(402, "payment_required")
    );
    let current = app.get(&format!("{HARVEST}?freshness=current")).key(&pro).send().await;
    assert_eq!(current.outcome(), is(402, "payment_required"));
    assert!(current.text().contains("freshness=monthly"), "{}", current.text());
    // A range outside of the file before the quota, which it does not use up.
    let outside = app.get(HARVEST).key(&pro).header("range", "bytes=9999999-").send().await;
    assert_eq!(outside.outcome(), is(416, "range_not_satisfiable"));
    assert_eq!(app.get(HARVEST).key(&pro).send().await.status, 200);
    assert_eq!(outcome(&pro, HARVEST).await, is(429, "quota_used_up"));
    assert_eq!(
        app.get(HARVEST).key(&pro).header("range", "bytes=9999999-").send().await.status,
        416
    );
    assert_eq!(app.head(HARVEST).key(&pro).send().await.status, 200);
    let tag = app.head(HARVEST).key(&pro).send().await.header("etag");
    assert_eq!(app.get(HARVEST).key(&pro).header("if-none-match", &tag).send().await.status, 304);
    assert_eq!(app.ask("POST", HARVEST).key(&pro).send().await.status, 405);
}

#[tokio::test]
async fn monthly_is_the_last_from_before_this_month_and_current_the_newest_contract_4() {
    let app = TestApp::start().await;
    let (pro, top) = (app.key(Plan::Pro).await, app.key(Plan::Enterprise).await);
    let first = app.publish(&harvest()).await;
    let id = async |key: &str, query: &str| {
        app.get(&format!("{HARVEST}{query}")).key(key).send().await.header("x-service-snapshot-id")
    };
    assert_eq!(id(&pro, "").await, first, "the oldest there is");
    let second = app.publish(&second_version()).await;
    assert_ne!(first, second);
    // Both are of this month, so that `monthly` stays with the oldest.
    for (key, query, expected) in [
        (&pro, "", (&first, "monthly")),
        (&pro, "?freshness=monthly", (&first, "monthly")),
        (&top, "", (&second, "current")),
        (&top, "?freshness=monthly", (&first, "monthly")),
        (&top, "?freshness=current", (&second, "current")),
    ] {
        let reply = app.head(&format!("{HARVEST}{query}")).key(key).send().await;
        let found = (&reply.header("x-service-snapshot-id"), reply.header("x-service-freshness"));
        assert_eq!((found.0, found.1.as_str()), expected, "{query}");
        assert_eq!(&id(key, query).await, expected.0, "{query}");
    }
}

#[tokio::test]
async fn monthly_counts_months_in_utc_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Pro).await;
    let start = yearbook_catalog::clock::now().month_start().0;
    let mut expected = String::new();
    for (index, at) in [start - 40 * 86_400_000, start - 1, start].into_iter().enumerate() {
        let table = harvest()
            .with_rows(&format!("date,region,value,final\n2020-01-01,Auckland,{index}.5,true\n"));
        let id = app.publish_at(&table, Millis(at)).await;
        if at == start - 1 {
            expected = id;
        }
    }
    let reply = app.get(HARVEST).key(&key).send().await;
    assert_eq!(reply.header("x-service-snapshot-id"), expected);
}

#[tokio::test]
async fn ranges_are_answered_as_rfc_9110_has_it_contract_4() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let whole = app.get(HARVEST).key(&key).send().await;
    let size = whole.body.len();
    for (range, expected) in [
        ("bytes=0-3".to_owned(), 0..4),
        (format!("bytes=4-{}", size * 2), 4..size),
        ("bytes=100-".to_owned(), 100..size),
        ("bytes=-8".to_owned(), size - 8..size),
        (format!("bytes=-{}", size * 2), 0..size),
    ] {
        let reply = app.get(HARVEST).key(&key).header("range", &range).send().await;
        assert_eq!(reply.status, 206, "{range}");
        assert_eq!(reply.body, whole.body.slice(expected.clone()), "{range}");
        assert_eq!(
            reply.header("content-range"),
            format!("bytes {}-{}/{size}", expected.start, expected.end - 1),
            "{range}"
        );
        assert_eq!(reply.header("content-length"), expected.len().to_string(), "{range}");
        for name in
            ["etag", "repr-digest", "last-modified", "content-type", "x-service-attribution"]
        {
            assert_eq!(reply.header(name), whole.header(name), "{range} {name}");
        }
    }
    for ignored in ["bytes=0-1,5-6", "bytes=5-1", "rows=0-1", "bytes=x"] {
        let reply = app.get(HARVEST).key(&key).header("range", ignored).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.body.len(), reply.header("content-range")),
            (200, size, String::new()),
            "{ignored}"
        );
    }
    for outside in [format!("bytes={size}-"), "bytes=-0".to_owned()] {
        let reply = app.get(HARVEST).key(&key).header("range", &outside).send().await;
        assert_eq!(reply.outcome(), (416, "range_not_satisfiable".to_owned()), "{outside}");
        assert_eq!(reply.header("content-range"), format!("bytes */{size}"), "{outside}");
    }
    let head = app.head(HARVEST).key(&key).header("range", "bytes=0-3").send().await;
    assert_eq!((head.status.as_u16(), head.header("content-length")), (200, size.to_string()));
}

#[tokio::test]
async fn very_many_small_ranges_cost_one_file_contract_4() {
    let app = TestApp::start().await;
    app.publish(&big(20_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let reads = async |range: &str| {
        let before = app.files.counts().reads;
        let reply = app.get("/v1/bulk/tests/big").key(&key).header("range", range).send().await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{range}");
        (app.files.counts().reads - before, reply.body)
    };
    let (once, whole) = reads("rows=1-2").await;
    // Scattered, overlapping, and all the same: never one read or one part of a body for each.
    for range in [
        |at: usize| format!("{}-{},", at * 7, at * 7),
        |at| format!("{at}-,"),
        |_| "0-0,".to_owned(),
    ] {
        let ranges: String = (0..2_500).map(range).collect();
        assert_eq!(reads(&format!("bytes={ranges}")).await, (once, whole.clone()));
    }
}

#[tokio::test]
async fn if_range_gives_the_rest_of_the_same_file_or_all_of_the_new_one_contract_4() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let first = app.get(HARVEST).key(&key).send().await;
    let (tag, date) = (first.header("etag"), first.header("last-modified"));
    let asking = async |validator: &str| {
        app.get(HARVEST)
            .key(&key)
            .header("range", "bytes=4-")
            .header("if-range", validator)
            .send()
            .await
            .status
            .as_u16()
    };
    assert_eq!(asking(&tag).await, 206);
    assert_eq!(asking(&date).await, 206);
    assert_eq!(asking(&format!("W/{tag}")).await, 200, "tags compare strongly");
    assert_eq!(asking("\"other\"").await, 200);
    assert_eq!(asking("Thu, 01 Jan 2015 00:00:00 GMT").await, 200);
    assert_eq!(asking("*").await, 200);
    // Outside of the file, of a file that the client does not have: all of the new one.
    let stale = app
        .get(HARVEST)
        .key(&key)
        .header("range", "bytes=99999999-")
        .header("if-range", "\"other\"")
        .send()
        .await;
    assert_eq!(stale.status, 200);
    app.publish(&second_version()).await;
    assert_eq!(asking(&tag).await, 200, "a new file is never a continuation of the old one");
    assert_eq!(asking(&date).await, 200, "nor one that may be of the same second");
}

#[tokio::test]
async fn a_download_cut_at_random_places_and_resumed_is_identical() {
    let app = TestApp::start().await;
    app.publish(&big(120_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/bulk/tests/big";
    let whole = app.get(path).key(&key).send().await;
    let tag = whole.header("etag");
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..5 {
        let mut got: Vec<u8> = Vec::new();
        let mut pieces = 0;
        while got.len() < whole.body.len() {
            // A generator is all that is needed: places differ, and a failure repeats.
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let up_to = 1 + usize::try_from(seed >> 33).unwrap() % whole.body.len();
            let ask = app
                .get(path)
                .key(&key)
                .header("range", &format!("bytes={}-", got.len()))
                .header("if-range", &tag);
            got.extend(cut_after(ask, up_to).await);
            pieces += 1;
        }
        assert!(got == whole.body, "{pieces} pieces");
        assert_eq!(hex(&got), tag.trim_matches('"'));
    }
}

/// The first `bytes` of an answer's body, after which the connection is lost.
async fn cut_after(ask: TestRequest, bytes: usize) -> Vec<u8> {
    let reply = ask.begin().await;
    assert_eq!(reply.status(), 206);
    let mut body = reply.into_body();
    let mut got = Vec::new();
    while got.len() < bytes
        && let Some(frame) = http_body_util::BodyExt::frame(&mut body).await
    {
        got.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    got.truncate(bytes);
    got
}

#[tokio::test]
async fn a_read_that_fails_midway_cuts_the_body_contract_3() {
    let app = TestApp::start().await;
    app.publish(&big(400_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/bulk/tests/big";
    let whole = app.get(path).key(&key).send().await;
    assert!(whole.body.len() > 3 << 19, "{} bytes are too few for two chunks", whole.body.len());
    let file = stored(&app, &whole.body);
    let mut damaged = whole.body.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(&file, &damaged).unwrap();
    let reply = app.get(path).key(&key).send().await;
    assert!(
        reply.status == 200 && reply.cut && reply.body.len() < whole.body.len(),
        "{} bytes",
        reply.body.len()
    );
    assert_eq!(whole.body.slice(..reply.body.len()), reply.body);
    // What fails before the first byte is an honest status.
    let end = app.get(path).key(&key).header("range", "bytes=-8").send().await;
    assert_eq!(end.outcome(), (500, "internal".to_owned()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(app.get(path).key(&key).send().await.outcome(), (500, "internal".to_owned()));
}

#[tokio::test]
async fn only_gets_that_send_bytes_are_charged_contract_5() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.pro.requests_per_month = Some(100);
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Pro).await;
    let used = async || {
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].as_u64().unwrap()
    };
    let tag = app.head(HARVEST).key(&key).send().await.header("etag");
    app.get(HARVEST).key(&key).header("if-none-match", &tag).send().await;
    app.get(HARVEST).key(&key).header("range", "bytes=999999-").send().await;
    app.get("/v1/bulk/farms/nothing").key(&key).send().await;
    assert_eq!(used().await, 0);
    app.get(HARVEST).key(&key).send().await;
    app.get(HARVEST).key(&key).header("range", "bytes=0-3").send().await;
    assert_eq!(used().await, 2);
}
