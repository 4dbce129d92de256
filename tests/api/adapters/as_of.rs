//! Rows and facts as of a time (contract-21-as-of-adapters): those of `/v1` with `as_of`.

use serde_json::{Value, json};
use yearbook_domain::{Millis, Plan};
use yearbook_sandbox::catalogue::{Question, Selection, ValueQuery, Version};
use yearbook_tests::app::{TestApp, harvest, parks};

use super::asked;
use super::rows::{bare, framed, rows, selection, used};

#[tokio::test]
async fn adapters_select_rows_as_of_a_time_contract_21() {
    let app = TestApp::start().await;
    app.load("scripted");
    let mut ids = Vec::new();
    for (day, value) in [("2024-03-01", 1), ("2025-03-01", 2)] {
        let day = Millis::parse_iso8601(&format!("{day}T10:00:00Z")).unwrap();
        let csv = format!("date,region,value,final\n2024-01-01,Nelson,{value},true\n");
        ids.push(app.publish_at(&harvest().with_rows(&csv), day).await);
    }
    let key = app.key(Plan::Enterprise).await;
    let of_time = |time: &str| {
        let version = Version::AsOf(time.to_owned());
        Selection { version, ..selection("harvest") }
    };
    for (time, id) in
        [("2024-03-01", &ids[0]), ("2024-12-31T23:00:00+13:00", &ids[0]), ("2025-03-01", &ids[1])]
    {
        let own = app.get(&framed(&rows(of_time(time), "csv"), &bare())).key(&key).send().await;
        let v1 = format!("/v1/datasets/harvest/data?format=csv&as_of={}", time.replace('+', "%2B"));
        let v1 = app.get(&v1).key(&key).send().await;
        assert_eq!((own.status.as_u16(), own.text()), (200, v1.text()), "{time}");
        assert_eq!(&own.header("x-service-snapshot-id"), id, "{time}");

        let values = ValueQuery {
            selection: of_time(time),
            columns: vec!["value".to_owned()],
            language: None,
            after: None,
            limit: 2,
        };
        let questions = vec![
            Question::Rows(of_time(time)),
            Question::Count(of_time(time)),
            Question::Values(values),
            Question::Citation(of_time(time)),
        ];
        let facts = app.get(&asked(&[questions])).key(&key).send().await.json();
        assert_eq!(facts[0]["Rows"]["known"]["snapshot"], **id, "{time}: {facts}");
        assert_eq!(facts[1]["Count"], json!([1, 1]), "{time}");
        let value = if *id == ids[0] { "1.0" } else { "2.0" };
        assert_eq!(facts[2]["Values"][0]["values"][0]["code"]["value"], value, "{time}");
        let cited = facts[3]["Citation"]["address"].as_str().unwrap();
        assert!(cited.ends_with(&format!("/cite/harvest/{id}")), "{cited}");
    }
    let before = used(&app, &key).await;
    for time in ["soon", "2024-02-29", "2024-03-01T10:00:00", "2100-01-01"] {
        let own = app.get(&framed(&rows(of_time(time), "json"), &bare())).key(&key).send().await;
        let v1 = format!("/v1/datasets/harvest/data?as_of={time}");
        let v1 = app.get(&v1).key(&key).send().await;
        assert_eq!(own.status, v1.status, "{time}");
        let told = own.json();
        assert_eq!(told["code"], v1.header("x-service-error-code"), "{time}");
        let detail = v1.json()["detail"].clone();
        let sentence = if detail.is_array() { detail[0]["msg"].clone() } else { detail };
        assert_eq!(told["problems"][0]["sentence"], sentence, "{time}");
        let place: Value = told["problems"][0]["place"].clone();
        let is_parameter = v1.status == 422;
        assert_eq!(place == json!(["query", "as_of"]), is_parameter, "{time}: {place}");
    }
    assert_eq!(used(&app, &key).await, before, "refusals are not charged");
}

#[tokio::test]
async fn features_are_those_of_a_time_contract_21() {
    const ITEMS: &str = "/api/ogc/collections/parks/items";
    let app = TestApp::start().await;
    app.load("ogc");
    let mut ids = Vec::new();
    for (day, areas) in
        [("2024-03-01", &[("Albert", 1)][..]), ("2025-03-01", &[("Albert", 2), ("Domain", 3)])]
    {
        let row =
            |(park, area): &(&str, i32)| format!("{park},{area},\"MULTIPOINT ((174 -36))\"\n");
        let rows: String = areas.iter().map(row).collect();
        let day = Millis::parse_iso8601(&format!("{day}T10:00:00Z")).unwrap();
        let table = parks().with_rows(&format!("park,area,geometry_wkt\n{rows}"));
        ids.push(app.publish_at(&table, day).await);
    }
    let key = app.key(Plan::Enterprise).await;
    let ask = async |address: &str| app.get(address).key(&key).send().await;
    let areas = |page: &Value| -> Vec<Value> {
        let features = page["features"].as_array().unwrap_or_else(|| panic!("{page}")).iter();
        features.map(|feature| feature["properties"]["area"].clone()).collect()
    };
    for (time, id, expected) in
        [("2024-12-31", &ids[0], &[1][..]), ("2025-03-01T10:00:00Z", &ids[1], &[2, 3])]
    {
        let page = ask(&format!("{ITEMS}?as_of={time}")).await.json();
        assert_eq!(
            (areas(&page), &page["snapshot_id"]),
            (expected.iter().map(|area| json!(area)).collect(), &json!(id))
        );
    }
    // Pages go on in the version of the time.
    let first = ask(&format!("{ITEMS}?as_of=2025-03-01&limit=1")).await.json();
    let links = first["links"].as_array().unwrap();
    let next = links.iter().find(|link| link["rel"] == "next").unwrap()["href"].as_str().unwrap();
    assert!(next.contains("as_of=2025-03-01"), "{next}");
    let second = ask(&next[next.find("/api/").unwrap()..]).await.json();
    assert_eq!([areas(&first), areas(&second)], [[json!(2)], [json!(3)]]);

    let albert = ask(&format!("{ITEMS}/Albert?as_of=2024-12-31")).await.json();
    assert_eq!(albert["properties"]["area"], 1);
    for (address, status) in [
        (format!("{ITEMS}/Domain?as_of=2024-12-31"), 404),
        (format!("{ITEMS}?as_of=2024-02-01"), 404),
        (format!("{ITEMS}?as_of=soon"), 400),
        (format!("{ITEMS}/Albert?as_of=soon"), 400),
        (format!("{ITEMS}/Albert?as_of=2100-01-01"), 400),
        (format!("{ITEMS}?as_of=2024-12-31&as_of=2024-12-31"), 400),
    ] {
        assert_eq!(ask(&address).await.status, status, "{address}");
    }
}
