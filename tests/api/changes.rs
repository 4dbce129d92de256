//! `/v1/datasets/{name}/changes` (contract-4-changes-law). The law: rows of A + changes(A→B) = rows
//! of B.

use std::fmt::Write;

use serde_json::Value;
use yearbook_domain::{Millis, Plan};
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{Reply, TestApp, TestTable, big, harvest, parks};

const PATH: &str = "/v1/datasets/harvest/changes";

/// The harvest in its version `version`: rows come, go and change with it.
fn version(version: usize) -> TestTable {
    let mut csv = "date,region,value,final\n".to_owned();
    for index in (0..60).filter(|index| index % 7 != version % 7) {
        let value = if (index + version).is_multiple_of(5) {
            String::new()
        } else {
            format!("{}.5", index + version / 2 * (index % 3))
        };
        let _ = writeln!(
            csv,
            "20{:02}-01-01,\"Māori land {}\",{value},{}",
            index / 4,
            index % 4,
            (index + version).is_multiple_of(11)
        );
    }
    harvest().with_rows(&csv)
}

/// A client that keeps a table up to date by `/changes` alone.
struct Follower {
    rows: Vec<Value>,
    since: String,
    pulls: usize,
}

impl Follower {
    async fn begin(app: &TestApp, key: &str, snapshot: &str) -> Self {
        Self { rows: rows(app, key, snapshot).await, since: snapshot.to_owned(), pulls: 0 }
    }

    /// Pulls until nothing remains.
    async fn catch_up(&mut self, app: &TestApp, key: &str, query: &str) {
        loop {
            let reply =
                app.get(&format!("{PATH}?since={}{query}", self.since)).key(key).send().await;
            assert_eq!(reply.status, 200, "{}", reply.text());
            self.apply(reply.json().as_array().unwrap());
            self.since = reply.header("x-service-watermark");
            self.pulls += 1;
            match reply.header("x-service-has-more").as_str() {
                "true" => {}
                "false" => return,
                other => panic!("{other}"),
            }
        }
    }

    fn apply(&mut self, changes: &[Value]) {
        for change in changes {
            let mut row = change.clone();
            let fields = row.as_object_mut().unwrap();
            let kind = fields.remove("_change_type").unwrap();
            assert!(
                fields
                    .remove("_snapshot_id")
                    .is_some_and(|id| id.as_str().is_some_and(|id| id.len() == 32))
            );
            assert!(
                fields
                    .remove("_committed_at")
                    .is_some_and(|at| at.as_str().is_some_and(|at| at.ends_with('Z')))
            );
            match kind.as_str().unwrap() {
                "delete" | "update_preimage" => {
                    let place = self.rows.iter().position(|known| *known == row);
                    self.rows.swap_remove(place.unwrap_or_else(|| panic!("{row} is not there")));
                }
                "insert" | "update_postimage" => self.rows.push(row),
                other => panic!("{other}"),
            }
        }
    }

    async fn check(&self, app: &TestApp, key: &str, snapshot: &str) {
        let sorted = |mut rows: Vec<Value>| {
            rows.sort_by_key(Value::to_string);
            rows
        };
        assert_eq!(sorted(self.rows.clone()), sorted(rows(app, key, snapshot).await));
        assert_eq!(self.since, snapshot, "at its end a watermark is the snapshot's id");
    }
}

async fn rows(app: &TestApp, key: &str, snapshot: &str) -> Vec<Value> {
    let reply = app
        .get(&format!("/v1/datasets/harvest/data?limit=100000&snapshot={snapshot}"))
        .key(key)
        .send()
        .await;
    reply.json().as_array().unwrap().clone()
}

fn watermarks(reply: &Reply) -> (String, String) {
    (reply.header("x-service-watermark"), reply.header("x-service-has-more"))
}

#[tokio::test]
async fn a_client_that_follows_changes_has_the_rows_of_the_newest_snapshot_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let mut ids = vec![app.publish(&version(0)).await];
    for number in 1..5 {
        ids.push(app.publish(&version(number)).await);
    }
    let newest = ids.last().unwrap();
    for id in &ids {
        for (query, several) in [("", false), ("&limit=1", true), ("&limit=7", true)] {
            let mut follower = Follower::begin(&app, &key, id).await;
            follower.catch_up(&app, &key, query).await;
            follower.check(&app, &key, newest).await;
            assert_eq!(
                follower.pulls > 1,
                several && id != newest,
                "{query}: {} pulls",
                follower.pulls
            );
        }
    }
    // All snapshots came in one pull, each change with its own.
    let all = app.get(PATH).key(&key).send().await;
    let named: Vec<String> = all
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["_snapshot_id"].as_str().unwrap().to_owned())
        .collect();
    let mut distinct = named.clone();
    distinct.dedup();
    assert_eq!(distinct, ids[1..]);
    assert_eq!(watermarks(&all), (newest.clone(), "false".to_owned()));
    // Publishing goes on while a client is in the middle of a snapshot.
    let mut follower = Follower::begin(&app, &key, &ids[0]).await;
    let part = app.get(&format!("{PATH}?since={}&limit=5", ids[0])).key(&key).send().await;
    follower.apply(part.json().as_array().unwrap());
    follower.since = part.header("x-service-watermark");
    let later = app.publish(&version(9)).await;
    follower.catch_up(&app, &key, "&limit=20").await;
    follower.check(&app, &key, &later).await;
}

#[tokio::test]
async fn columns_that_come_and_go_end_an_answer_and_the_law_holds() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let rows = "2020-01-01,\"North\",1.5,true,7\n2020-01-01,\"South\",,false,\n";
    let wider = || {
        harvest()
            .with_field("grade", "integer")
            .with_rows(&format!("date,region,value,final,grade\n{rows}"))
    };
    let first = app.publish(&version(0)).await;
    app.publish(&version(1)).await;
    let grown = app.publish(&wider()).await;
    app.publish(&version(2)).await;
    let pulled = app.get(PATH).key(&key).send().await;
    assert_eq!(watermarks(&pulled).1, "true", "the next snapshot has other columns");
    assert!(pulled.json()[0].get("grade").is_none());
    let next = app.get(&format!("{PATH}?since={}", watermarks(&pulled).0)).key(&key).send().await;
    assert_eq!(next.header("x-service-watermark"), grown);
    let changes = next.json();
    let gone: Vec<&Value> =
        changes.as_array().unwrap().iter().filter(|row| row["_change_type"] == "delete").collect();
    assert!(!gone.is_empty() && gone.iter().all(|row| row["grade"].is_null()));
    assert!(changes.as_array().unwrap().iter().any(|row| row["grade"] == 7));
    let mut follower = Follower::begin(&app, &key, &grown).await;
    let last = app.get(&format!("{PATH}?since={grown}")).key(&key).send().await;
    assert_eq!(watermarks(&last).1, "false");
    follower.rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("grade")));
    follower.apply(last.json().as_array().unwrap());
    follower.since = last.header("x-service-watermark");
    let current = last.header("x-service-snapshot-id");
    follower.check(&app, &key, &current).await;
    assert_ne!(first, current);
}

#[tokio::test]
async fn without_a_primary_key_whole_rows_come_and_go() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let table =
        |rows: &str| harvest().without_key().with_rows(&format!("date,region,value,final\n{rows}"));
    let twice = "2020-01-01,\"North\",1.5,true\n2020-01-01,\"North\",1.5,true\n";
    let first = app.publish(&table(&format!("{twice}2020-01-02,\"South\",,false\n"))).await;
    let second = app
        .publish(&table("2020-01-01,\"North\",1.5,true\n2020-01-02,\"South\",2.5,false\n"))
        .await;
    let reply = app.get(&format!("{PATH}?since={first}")).key(&key).send().await;
    let kinds: Vec<Value> =
        reply.json().as_array().unwrap().iter().map(|row| row["_change_type"].clone()).collect();
    assert_eq!(kinds, ["delete", "delete", "insert"]);
    let mut follower = Follower::begin(&app, &key, &first).await;
    follower.catch_up(&app, &key, "").await;
    follower.check(&app, &key, &second).await;
}

#[tokio::test]
async fn every_format_carries_changes_with_the_credit_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    app.publish(&version(0)).await;
    let id = app.publish(&version(0).with_appended("2099-01-01,\"Ōtautahi\",1.5,true\n")).await;
    let csv = app.get(&format!("{PATH}?format=csv")).key(&key).send().await;
    let at = app.catalog_cache.dataset("harvest").unwrap().current.created_at.to_rfc3339();
    assert_eq!(
        csv.text(),
        format!(
            "date,region,value,final,_change_type,_snapshot_id,_committed_at\n2099-01-01,Ōtautahi,1.5,true,insert,{id},{at}\n"
        )
    );
    assert_eq!(csv.header("content-disposition"), "attachment; filename=\"harvest_changes.csv\"");
    assert_eq!(csv.header("x-service-attribution"), "Ahuwhenua Māori, CC BY 4.0");
    assert_eq!(csv.header("x-service-snapshot-id"), id);
    for format in ["arrow", "parquet", "json"] {
        let reply = app.get(&format!("{PATH}?format={format}")).key(&key).send().await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{format}");
        assert!(
            reply.text().contains("Ōtautahi") && reply.text().contains("_change_type"),
            "{format}"
        );
        let again = app
            .get(&format!("{PATH}?format={format}"))
            .key(&key)
            .header("if-none-match", &reply.header("etag"))
            .send()
            .await;
        assert_eq!(
            (again.status.as_u16(), watermarks(&again)),
            (304, watermarks(&reply)),
            "{format}"
        );
        let head = app.head(&format!("{PATH}?format={format}")).key(&key).send().await;
        assert_eq!(
            (head.status.as_u16(), watermarks(&head), head.header("etag")),
            (200, watermarks(&reply), reply.header("etag")),
            "{format}"
        );
    }
    let nothing = app.get(&format!("{PATH}?since={id}&format=csv")).key(&key).send().await;
    assert_eq!(nothing.text(), "date,region,value,final,_change_type,_snapshot_id,_committed_at\n");
    let packed = app.get(PATH).key(&key).header("accept-encoding", "gzip").send().await;
    assert_eq!(packed.header("content-encoding"), "gzip");
}

#[tokio::test]
async fn geometry_is_left_out_for_those_who_do_not_want_it_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Free).await;
    app.publish(&parks()).await;
    app.publish(&parks().with_appended("Rātana,9,\"MULTIPOINT ((175.1 -40.0))\"\n")).await;
    let path = "/v1/datasets/parks/changes";
    let whole = app.get(path).key(&key).send().await;
    assert_eq!(
        (whole.json()[0]["geometry_wkt"].as_str(), whole.header("x-service-geometry-omitted")),
        (Some("MULTIPOINT ((175.1 -40.0))"), String::new())
    );
    let without = app.get(&format!("{path}?geometry=false")).key(&key).send().await;
    assert_eq!(without.header("x-service-geometry-omitted"), "true");
    let names: Vec<String> = without.json()[0].as_object().unwrap().keys().cloned().collect();
    assert!(
        !names.contains(&"geometry_wkt".to_owned()) && names.contains(&"park".to_owned()),
        "{names:?}"
    );
}

#[tokio::test]
async fn watermarks_are_checked_as_the_contract_says_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let ids = [app.publish(&version(0)).await, app.publish(&version(1)).await];
    app.publish(&big(300)).await;
    app.publish(&big(301)).await;
    let outcome = async |since: &str| {
        app.get(&format!("{PATH}?since={since}")).key(&key).send().await.outcome()
    };
    let other =
        app.get("/v1/datasets/big/data?limit=5").key(&key).send().await.header("x-next-page");
    let middle =
        app.get(&format!("{PATH}?limit=1")).key(&key).send().await.header("x-service-watermark");
    assert!(!middle.is_empty() && middle != ids[0]);
    for garbage in
        ["", "x", "2020-01-01", &ids[0][1..], &ids[0].to_uppercase(), &other, &format!("{middle}A")]
    {
        let reply = app.get(&format!("{PATH}?since={garbage}")).key(&key).send().await;
        assert_eq!(reply.problems(), [("since".to_owned(), "value_error".to_owned())], "{garbage}");
    }
    assert_eq!(outcome(&"0".repeat(32)).await, (404, "no_such_snapshot".to_owned()));
    let foreign =
        app.get(&format!("/v1/datasets/big/changes?since={middle}")).key(&key).send().await;
    assert_eq!(foreign.outcome().0, 422, "a watermark belongs to its dataset");
    let foreign =
        app.get(&format!("/v1/datasets/big/changes?since={}", ids[0])).key(&key).send().await;
    assert_eq!(foreign.outcome().0, 404);
    let at_end = app.get(&format!("{PATH}?since={}", ids[1])).key(&key).send().await;
    assert_eq!(
        (at_end.text(), watermarks(&at_end)),
        ("[]".to_owned(), (ids[1].clone(), "false".to_owned()))
    );
    let problems = app
        .get(&format!("{PATH}?limit=0&format=xml&geometry=x&since=!"))
        .key(&key)
        .send()
        .await
        .problems();
    assert_eq!(
        problems.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["limit", "format", "geometry"]
    );
    assert_eq!(app.get(PATH).send().await.outcome().0, 401);
    assert_eq!(
        app.get("/v1/datasets/nothing/changes?since=!").key(&key).send().await.outcome().0,
        404
    );
    assert_eq!(app.get(PATH).key(&key).header("accept", "image/png").send().await.outcome().0, 406);
}

#[tokio::test]
async fn a_watermark_older_than_what_is_kept_is_410_with_the_oldest_usable_one_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let day = 86_400_000;
    let mut ids = Vec::new();
    // Old enough to be dropped by number; `monthly` keeps none of the first two.
    for number in 0..16 {
        ids.push(
            app.publish_at(
                &version(number),
                Millis(
                    yearbook_catalog::clock::now().month_start().0
                        - (40 - i64::try_from(number).unwrap()) * day,
                ),
            )
            .await,
        );
    }
    let remaining: Vec<String> = app
        .catalog_cache
        .dataset("harvest")
        .unwrap()
        .snapshots
        .iter()
        .map(|summary| summary.id.to_string())
        .collect();
    assert!(remaining.len() == 12 && !remaining.contains(&ids[1]));
    let reply = app.get(&format!("{PATH}?since={}", ids[1])).key(&key).send().await;
    assert_eq!(reply.outcome(), (410, "watermark_gone".to_owned()));
    let oldest = reply.header("x-service-watermark");
    assert_eq!(oldest, remaining[0]);
    assert_eq!(reply.header("x-service-has-more"), "");
    let mut follower = Follower::begin(&app, &key, &oldest).await;
    follower.catch_up(&app, &key, "").await;
    follower.check(&app, &key, ids.last().unwrap()).await;
    // Left out: from there.
    let first = app.get(&format!("{PATH}?limit=3")).key(&key).send().await;
    let same = app.get(&format!("{PATH}?limit=3&since={oldest}")).key(&key).send().await;
    assert_eq!((first.text(), watermarks(&first)), (same.text(), watermarks(&same)));
}

#[tokio::test]
async fn the_plans_row_cap_holds_and_is_said_contract_4() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.free.row_cap = Some(4);
    let app = TestApp::with(settings).await;
    let (free, top) = (app.key(Plan::Free).await, app.key(Plan::Enterprise).await);
    app.publish(&version(0)).await;
    app.publish(&version(1)).await;
    let said = |reply: &Reply| {
        (
            reply.json().as_array().unwrap().len(),
            reply.header("x-service-truncated"),
            reply.header("x-plan-row-cap"),
        )
    };
    let capped = app.get(PATH).key(&free).send().await;
    assert_eq!(said(&capped), (4, "true".to_owned(), "4".to_owned()));
    assert_eq!(watermarks(&capped).1, "true");
    let reply = app.get(&format!("{PATH}?limit=3")).key(&free).send().await;
    assert_eq!(
        (said(&reply), watermarks(&reply).1),
        ((3, String::new(), String::new()), "true".to_owned())
    );
    // The watermark is good for any key.
    let rest = app.get(&format!("{PATH}?since={}", watermarks(&capped).0)).key(&top).send().await;
    let all = app.get(PATH).key(&top).send().await;
    assert_eq!(said(&rest).0 + 4, said(&all).0);
    assert_eq!(said(&all).1, "");
    assert_eq!(app.get("/v1/me").key(&free).send().await.json()["requests"]["used"], 2);
}

#[tokio::test]
async fn rows_keep_the_credit_that_they_were_published_with_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let credited = |number: usize, attribution: &str, licence: &str| {
        version(number)
            .with("/yearbook/attribution_text", attribution.into())
            .with("/licenses/0/name", licence.into())
    };
    let mut ids = Vec::new();
    for (number, attribution, licence) in [
        (0, "First", "CC-BY-4.0"),
        (1, "Second", "CC-BY-4.0"),
        (2, "Third", "CC0-1.0"),
        (2, "Fourth", "CC0-1.0"),
    ] {
        ids.push(app.publish(&credited(number, attribution, licence)).await);
    }
    let ask = async |query: &str| app.get(&format!("{PATH}?{query}")).key(&key).send().await;
    let said =
        |reply: &Reply| (reply.header("x-service-attribution"), reply.header("x-service-licence"));
    let expected = |attribution: &str, licence: &str| (attribution.to_owned(), licence.to_owned());
    let all = expected("First; Second; Third; Fourth", "CC-BY-4.0 AND CC0-1.0");
    assert_eq!(said(&ask("").await), all);
    assert_eq!(
        said(&ask(&format!("since={}", ids[1])).await),
        expected("Second; Third; Fourth", "CC-BY-4.0 AND CC0-1.0")
    );
    // The last version has the same rows with another credit: a client of them passes that on.
    assert_eq!(
        said(&ask(&format!("since={}", ids[2])).await),
        expected("Third; Fourth", "CC0-1.0")
    );
    assert_eq!(said(&ask(&format!("since={}", ids[3])).await), expected("Fourth", "CC0-1.0"));
    let page = ask("limit=1").await;
    assert_eq!(
        said(&page),
        expected("First; Second", "CC-BY-4.0"),
        "of the snapshots whose rows are in the answer"
    );
    let within = ask(&format!("limit=1&since={}", page.header("x-service-watermark"))).await;
    assert_eq!(said(&within), expected("First; Second", "CC-BY-4.0"));
    let head = app.head(PATH).key(&key).send().await;
    assert_eq!(said(&head), all);
    for format in ["arrow", "parquet"] {
        let file = ask(&format!("format={format}")).await;
        assert_eq!(said(&file), all, "{format}");
        for text in [&all.0, &all.1] {
            assert!(
                file.body.windows(text.len()).any(|bytes| bytes == text.as_bytes()),
                "{format} holds {text}"
            );
        }
    }
}

#[tokio::test]
async fn more_credit_than_headers_have_comes_in_several_answers_contract_4() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let mut ids = Vec::new();
    // Half of them have the rows of the version before: only the credit is another.
    for number in 0..20 {
        let credit = format!("{number}{}", "x".repeat(2_000));
        let table = version(number / 2).with("/yearbook/attribution_text", credit.into());
        ids.push(app.publish(&table).await);
    }
    let mut follower = Follower::begin(&app, &key, &ids[0]).await;
    let mut has_more = true;
    while has_more {
        let path = format!("{PATH}?since={}", follower.since);
        let reply = app.get(&path).key(&key).send().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let credit = reply.header("x-service-attribution");
        assert!(credit.len() <= 16 << 10, "{} bytes", credit.len());
        follower.apply(reply.json().as_array().unwrap());
        let (watermark, more) = watermarks(&reply);
        assert_ne!(watermark, follower.since);
        assert!(ids.contains(&watermark), "an answer ends with a snapshot");
        has_more = more == "true";
        follower.since = watermark;
        follower.pulls += 1;
    }
    follower.check(&app, &key, &ids[19]).await;
    assert_eq!(follower.pulls, 3, "seven snapshots at a time");
}
