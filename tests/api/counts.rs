//! `X-Service-Rows` and `X-Service-Total-Rows` (contract-3-rows).

use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{Reply, TestApp, harvest, parks};

fn counts(reply: &Reply) -> (String, String) {
    (reply.header("x-service-rows"), reply.header("x-service-total-rows"))
}

#[tokio::test]
async fn rows_of_the_answer_and_of_the_selection_are_counted_contract_3() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.free.row_cap = Some(50);
    settings.plans.free.requests_per_month = None;
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let (free, pro) = (app.key(Plan::Free).await, app.key(Plan::Pro).await);
    // The harvest has 120 rows on 40 dates. (key, path, rows, rows of the selection, rows that HEAD
    // tells)
    let cases = [
        (&pro, "harvest/data?", "100", "120", "100"),
        (&pro, "harvest/data?limit=0", "120", "120", "120"),
        (&pro, "harvest/data?limit=7", "7", "120", "7"),
        (&free, "harvest/data?limit=0", "50", "120", "50"),
        (&free, "harvest/data?limit=70&start=2021-01-01", "50", "84", "50"),
        (&pro, "harvest/data?limit=0&start=2021-01-01&end=2021-03-31", "9", "9", "9"),
        (&pro, "harvest/data?end=2020-01-01", "3", "3", "3"),
        (&pro, "harvest/data?start=2031-01-01", "0", "0", "0"),
        (&pro, "harvest/data?columns=value&limit=2&format=parquet", "2", "120", "2"),
        (&pro, "parks/data?start=2030-01-01", "3", "3", "3"),
        // A search with a limit finds its rows; how many there are in all, and what HEAD would have
        // to read for, is not said.
        (&pro, "harvest/data?dimensions=auckland&limit=30", "30", "", ""),
        (&pro, "harvest/data?dimensions=auckland&limit=50", "40", "", ""),
        (&free, "harvest/data?dimensions=nowhere", "0", "", ""),
        (&pro, "harvest/data?dimensions=auckland&limit=0", "", "", ""),
    ];
    for (key, path, rows, total, told) in cases {
        for round in ["made", "from memory"] {
            let get = app
                .get(&format!("/v1/datasets/{path}"))
                .key(key)
                .header("origin", "https://page.example")
                .send()
                .await;
            assert_eq!(counts(&get), (rows.to_owned(), total.to_owned()), "{path} {round}");
            if get.header("content-type") == "application/json" && !rows.is_empty() {
                assert_eq!(get.json().as_array().unwrap().len().to_string(), rows, "{path}");
            }
            let exposed = get.header("access-control-expose-headers");
            assert!(
                exposed.contains("x-service-rows") && exposed.contains("x-service-total-rows"),
                "{exposed}"
            );
        }
        let head = app.head(&format!("/v1/datasets/{path}")).key(key).send().await;
        assert_eq!(
            (head.status.as_u16(), counts(&head)),
            (200, (told.to_owned(), total.to_owned())),
            "HEAD {path}"
        );
        if !total.is_empty() {
            let get = app.get(&format!("/v1/datasets/{path}")).key(key).send().await;
            for name in ["x-next-page", "link", "x-service-truncated", "x-plan-row-cap"] {
                assert_eq!(head.header(name), get.header(name), "HEAD {path}: {name}");
            }
        }
    }
    let first =
        app.get("/v1/datasets/harvest/data?limit=50&start=2020-02-01").key(&pro).send().await;
    let mut path = format!(
        "/v1/datasets/harvest/data?limit=50&start=2020-02-01&cursor={}",
        first.header("x-next-page")
    );
    for expected in ["50", "17"] {
        let page = app.get(&path).key(&pro).send().await;
        assert_eq!(
            counts(&page),
            (expected.to_owned(), "117".to_owned()),
            "the selection is the same on every page"
        );
        path = format!(
            "/v1/datasets/harvest/data?limit=50&start=2020-02-01&cursor={}",
            page.header("x-next-page")
        );
    }
    // 304 renews what the client has, these headers included, and says nothing of them.
    let tag = first.header("etag");
    let same = app
        .get("/v1/datasets/harvest/data?limit=50&start=2020-02-01")
        .key(&pro)
        .header("if-none-match", &tag)
        .send()
        .await;
    assert_eq!((same.status.as_u16(), counts(&same)), (304, (String::new(), String::new())));
    let before = app.reads().scans;
    for path in ["harvest/data?limit=3", "harvest/data?start=2021-05-01", "parks/data?"] {
        app.head(&format!("/v1/datasets/{path}")).key(&pro).send().await;
    }
    assert_eq!(app.reads().scans, before, "HEAD begins no scan");
}
