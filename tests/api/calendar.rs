//! The release calendar (contract-21-calendar): what packages plan, what became of it, and the same
//! bytes on every host. `tests/external/discovery` has another program read the calendar file.

use serde_json::{Value, json};
use yearbook_domain::Millis;
use yearbook_tests::app::{HostFixture, TestApp, TestTable, harvest};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A title that tries to leave every place it stands in.
const TITLE: &str =
    "Harvest, \"Māori\"; </script><b>]]> \\n & 💩 in all regions of the country and beyond";

const PATHS: [&str; 4] = ["/calendar", "/calendar.ics", "/calendar.json", "/calendar/feed.xml"];

/// The whole second so many milliseconds from now.
fn from_now(millis: i64) -> Millis {
    Millis(yearbook_catalog::clock::now().0 + millis).whole_second()
}

fn planning(plans: &[(Millis, &str)]) -> TestTable {
    let plan = |(at, title): &(Millis, &str)| json!({"at": at.to_rfc3339(), "title": title});
    let plans: Vec<Value> = plans.iter().map(plan).collect();
    harvest().with("/yearbook/releases", json!(plans))
}

async fn text(app: &TestApp, path: &str) -> String {
    let reply = app.get(path).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.text()
}

async fn releases(app: &TestApp) -> Vec<Value> {
    let document: Value = serde_json::from_str(&text(app, "/calendar.json").await).unwrap();
    document["releases"].as_array().unwrap().clone()
}

async fn statuses(app: &TestApp) -> Vec<String> {
    let word = |release: &Value| release["status"].as_str().unwrap().to_owned();
    releases(app).await.iter().map(word).collect()
}

#[tokio::test]
async fn planned_releases_are_listed_with_what_became_of_them_contract_21() {
    let app = TestApp::start().await;
    let plans = [(from_now(-2 * DAY), "First"), (from_now(-DAY), "Second"), (from_now(DAY), TITLE)];
    let first = app.publish_at(&planning(&plans), plans[0].0).await;
    let found = releases(&app).await;
    let uid = found[0]["uid"].as_str().unwrap();
    assert_eq!(
        found[0],
        json!({
            "uid": uid, "at": plans[0].0.to_rfc3339(), "title": "First", "status": "released",
            "announced_at": plans[0].0.to_rfc3339(), "sequence": 0, "name": "harvest",
            "dataset_title": "Title of harvest", "page": "http://test.example/datasets/harvest",
            "snapshot_id": first,
        })
    );
    assert_eq!((&found[1]["status"], &found[1]["snapshot_id"]), (&json!("late"), &Value::Null));
    assert_eq!((&found[2]["status"], &found[2]["title"]), (&json!("coming"), &json!(TITLE)));
    let page = text(&app, "/calendar").await;
    let (coming, past) = page.split_once("id=\"past-title\"").unwrap();
    assert!(coming.contains("<a href=\"/datasets/harvest\">Title of harvest</a>"), "{coming}");
    assert!(coming.contains("&#60;/script&#62;") && !page.contains("</script><b>"), "{coming}");
    assert!(past.contains(&format!("<a href=\"/cite/harvest/{first}\">")), "{past}");
    assert!(past.contains(">late</td>"), "{past}");
    assert_eq!(app.get(&format!("/cite/harvest/{first}")).send().await.status, 200);
    // The second comes late, and is no longer late then.
    let added = planning(&plans).with_appended("2024-01-01,Nelson,1.5,true\n");
    let second = app.publish_at(&added, Millis(plans[1].0.0 + HOUR)).await;
    let found = releases(&app).await;
    assert_eq!(
        (&found[1]["status"], &found[1]["snapshot_id"]),
        (&json!("released"), &json!(second))
    );
    assert_eq!(found[0]["uid"], uid);
    assert!(!text(&app, "/calendar").await.contains(">late</td>"));
}

#[tokio::test]
async fn the_calendar_file_and_the_feed_say_the_same_contract_21() {
    let app = TestApp::start().await;
    let none = text(&app, "/calendar.ics").await;
    assert!(none.contains("BEGIN:VTIMEZONE\r\n") && !none.contains("VEVENT"), "{none}");
    let (past, coming) = (from_now(-DAY), from_now(DAY));
    app.publish_at(&planning(&[(past, "First"), (coming, TITLE)]), past).await;
    let file = text(&app, "/calendar.ics").await;
    assert!(!file.replace("\r\n", "").contains(['\r', '\n']), "{file:?}");
    assert!(file.lines().all(|line| line.len() <= 75), "{file}");
    let lines = file.replace("\r\n ", "");
    let basic = |at: Millis| at.to_rfc3339().replace(['-', ':'], "");
    let event = lines.split("BEGIN:VEVENT\r\n").nth(2).unwrap();
    let uid = releases(&app).await[1]["uid"].as_str().unwrap().to_owned();
    let expected = format!(
        "UID:{uid}\r\nSEQUENCE:0\r\nDTSTAMP:{}\r\nDTSTART:{}\r\n\
         SUMMARY:Harvest\\, \"Māori\"\\; </script><b>]]> \\\\n & 💩 in all regions of the country and beyond\r\n\
         DESCRIPTION:Planned for {}.\r\nSTATUS:TENTATIVE\r\nTRANSP:TRANSPARENT\r\n\
         URL:http://test.example/datasets/harvest\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        basic(past),
        basic(coming),
        coming.to_rfc3339()
    );
    assert_eq!(event, expected);
    assert!(lines.contains("STATUS:CONFIRMED"), "what was released is sure: {lines}");
    let feed = text(&app, "/calendar/feed.xml").await;
    assert!(feed.contains(&format!("<id>urn:uuid:{uid}</id>")), "{feed}");
    assert!(feed.contains("&lt;/script&gt;&lt;b&gt;]]&gt; \\n &amp; 💩"), "{feed}");
    assert!(feed.contains("<id>http://test.example/calendar/feed.xml</id>"), "{feed}");
    for path in &PATHS[1..] {
        assert!(!text(&app, path).await.contains("<b>") || path.ends_with(".ics"), "{path}");
    }
}

#[tokio::test]
async fn a_release_is_late_from_its_time_on_contract_21() {
    let app = TestApp::start().await;
    let at = from_now(3_000);
    app.publish_at(&planning(&[(at, "Soon")]), from_now(-DAY)).await;
    assert_eq!(statuses(&app).await, ["coming"]);
    let tag = app.get("/calendar.ics").send().await.header("etag");
    let wait = u64::try_from(at.0 - yearbook_catalog::clock::now().0).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(wait + 50)).await;
    // Nothing was published, and the catalogue is what it was.
    assert_eq!(statuses(&app).await, ["late"]);
    let after = app.get("/calendar.ics").header("if-none-match", &tag).send().await;
    assert_eq!(after.status, 200, "what was said before is no longer true");
    assert!(text(&app, "/calendar").await.contains(">late</td>"));
}

#[tokio::test]
async fn every_host_has_the_same_calendar_contract_21() {
    let fixture = HostFixture::default();
    let one = TestApp::on_fixture(&fixture).await;
    one.publish_at(&planning(&[(from_now(-DAY), "First"), (from_now(DAY), TITLE)]), from_now(-DAY))
        .await;
    let other = TestApp::on_fixture(&fixture).await;
    let mut texts = Vec::new();
    for path in PATHS {
        let (here, there) = (one.get(path).send().await, other.get(path).send().await);
        assert_eq!(here.text(), there.text(), "{path}");
        assert_eq!(here.header("etag"), there.header("etag"), "{path}");
        texts.push(here.body);
    }
    drop((one, other));
    let restarted = TestApp::on_fixture(&fixture).await;
    for (path, text) in PATHS.iter().zip(texts) {
        assert_eq!(restarted.get(path).send().await.body, text, "{path}");
    }
}

#[tokio::test]
async fn plans_go_when_nothing_of_their_dataset_is_served_contract_21() {
    let app = TestApp::start().await;
    app.publish(&planning(&[(from_now(DAY), "One")])).await;
    assert_eq!(statuses(&app).await, ["coming"]);
    let name = yearbook_domain::DatasetName::parse("harvest").unwrap();
    app.store.retire_dataset(&name).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    for path in PATHS {
        let text = text(&app, path).await;
        assert!(!text.contains("harvest") && !text.contains("One"), "{path}: {text}");
    }
    // Another package has another plan.
    app.publish(&planning(&[(from_now(2 * DAY), "Two"), (from_now(3 * DAY), "Three")])).await;
    assert_eq!(statuses(&app).await, ["coming", "coming"]);
    assert!(text(&app, "/sitemap.xml").await.contains("<loc>http://test.example/calendar</loc>"));
}
