//! Tags and bodies in memory of what transforms make: they hold what goes in.

use serde_json::json;
use yearbook_domain::{Millis, Plan};
use yearbook_tests::app::{Reply, TestApp, harvest, parks};

use super::{get, load};

#[tokio::test]
async fn columns_of_tables_that_transforms_make_have_tags_of_their_own_contract_16() {
    let app = TestApp::start().await;
    load(&app);
    let rows = "park,area,geometry_wkt,visits\nAlbert,1,\"MULTIPOINT ((174 -36))\",7\n";
    app.publish(&parks().with_field("visits", "integer").with_rows(rows)).await;
    let key = app.key(Plan::Enterprise).await;
    // In either table that is made these are the first and the third column.
    let path = "/v1/datasets/parks/data?apply=idle";
    let whole = get(&app, &key, &format!("{path}&columns=park,geometry_wkt")).await;
    assert_eq!(whole.status, 200, "{}", whole.text());
    assert!(whole.json()[0]["geometry_wkt"].is_string(), "{}", whole.text());
    let other = format!("{path}&geometry=false&columns=park,visits");
    let known = app.get(&other).key(&key).header("if-none-match", &whole.header("etag"));
    assert_eq!(known.send().await.status, 200);
    let without = get(&app, &key, &other).await;
    assert_eq!(without.json(), json!([{"park": "Albert", "visits": 7}]));
    assert_ne!(without.header("etag"), whole.header("etag"));
}

#[tokio::test]
async fn rows_of_all_versions_have_the_tag_of_their_credit_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    // The second version changes words alone.
    for (hour, credit) in [("10", "Of 2023"), ("11", "Of 2024")] {
        let table = harvest().with("/yearbook/attribution_text", json!(credit));
        let at = Millis::parse_iso8601(&format!("2024-03-01T{hour}:00:00Z")).unwrap();
        app.publish_at(&table, at).await;
    }
    let ask = async |query: &str| -> Reply {
        let path = format!("/v1/datasets/harvest/revisions?format=arrow{query}");
        for _ in 0..100 {
            let reply = get(&app, &key, &path).await;
            if reply.outcome().1 != "rebuilding" {
                assert_eq!(reply.status, 200, "{query}: {}", reply.text());
                return reply;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{path} is not made");
    };
    for apply in ["", "&apply=aggregate&aggregate.by=region&aggregate.with=count"] {
        let all = ask(apply).await;
        let later = ask(&format!("{apply}&since=2024-03-01T11:00:00Z")).await;
        let credit = |reply: &Reply| reply.header("x-service-attribution");
        assert_ne!(credit(&all), credit(&later), "{apply}");
        assert_ne!(all.header("etag"), later.header("etag"), "{apply}");
        assert_ne!(all.body, later.body, "the credit is in the body: {apply}");
    }
}
