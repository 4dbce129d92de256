//! Boxes at `/data` (`docs/spec/selections.md`): which rows they keep, and what is sent of them.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{HostFixture, Reply, TestApp, harvest, parks};
use yearbook_tests::components::root;

async fn read(app: &TestApp, key: &str, path: &str) -> Reply {
    let reply = app.get(path).key(key).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply
}

#[tokio::test]
async fn the_example_of_boxes_contract_15() {
    let app = TestApp::start().await;
    let package = root().join("datasets/us_state_capitals");
    let id = app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Enterprise).await;
    let data = "/v1/datasets/us_state_capitals/data?bbox=-80,35,-75,40";
    let reply = read(&app, &key, &format!("{data}&geometry=false&format=csv")).await;
    assert_eq!(reply.header("x-service-geometry-omitted"), "true");
    assert_eq!(
        reply.text().replace('\r', ""),
        "fips,state,city\n10,Delaware,Dover\n24,Maryland,Annapolis\n\
         37,North Carolina,Raleigh\n51,Virginia,Richmond\n"
    );
    let cited =
        format!("/cite/us_state_capitals/{id}?bbox=-80.0%2C35.0%2C-75.0%2C40.0&geometry=false");
    let links: Vec<_> = reply.headers.get_all("link").iter().collect();
    assert!(links.iter().any(|link| link.to_str().unwrap().contains(&cited)), "{links:?}");

    // Whatever is sent, the rows are the same.
    let cities = async |more: &str| {
        let rows = read(&app, &key, &format!("{data}{more}")).await.json();
        let city = |row: &Value| row["city"].as_str().unwrap().to_owned();
        rows.as_array().unwrap().iter().map(city).collect::<Vec<_>>()
    };
    for more in ["", "&geometry=false", "&columns=city", "&columns=city,geometry_wkt", "&sort=fips"]
    {
        assert_eq!(cities(more).await, ["Dover", "Annapolis", "Raleigh", "Richmond"], "{more}");
    }
    assert_eq!(cities("&where.state.starts=v").await, ["Richmond"]);
    assert_eq!(cities("&dimensions=maryland").await, ["Annapolis"]);
    assert_eq!(cities("&sort=-city&limit=2").await, ["Richmond", "Raleigh"]);

    // Pages join, and only reading tells how many rows there are.
    let mut path = format!("{data}&limit=3");
    let mut sizes = Vec::new();
    loop {
        let reply = read(&app, &key, &path).await;
        assert_eq!(reply.headers.get("x-service-total-rows"), None);
        sizes.push(reply.json().as_array().unwrap().len());
        let Some(cursor) = reply.headers.get("x-next-page") else { break };
        path = format!("{data}&limit=3&cursor={}", cursor.to_str().unwrap());
    }
    assert_eq!(sizes, [3, 1]);
    let head = app.head(data).key(&key).send().await;
    assert_eq!((head.status.as_u16(), head.headers.get("x-service-rows")), (200, None));
}

#[tokio::test]
async fn boxes_keep_what_meets_them_contract_15() {
    let fixture = HostFixture::default();
    let app = TestApp::on_fixture(&fixture).await;
    let rows = "park,area,geometry_wkt\n\
        frame,1,\"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0), (1 1, 8 1, 8 8, 1 8, 1 1)))\"\n\
        whole,2,\"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)))\"\n\
        corner,3,\"MULTIPOLYGON (((0 9, 9 9, 9 0, 9 9, 0 9)))\"\n\
        east,4,MULTIPOINT ((180 0))\n\
        west,5,MULTIPOINT ((-180 0))\n\
        pole,6,\"MULTIPOINT ((30 90), (-30 -90))\"\n\
        around,7,\"MULTILINESTRING ((-170 20, 170 20))\"\n\
        empty,8,MULTIPOLYGON EMPTY\n\
        none,9,\n";
    app.publish(&parks().with_rows(rows)).await;
    let key = app.key(Plan::Enterprise).await;
    // (box, parks)
    let cases: [(&str, &[&str]); 14] = [
        ("3,3,4,4", &["whole"]),
        ("1,1,8,8", &["frame", "whole"]),
        ("1.0000001,1.0000001,7.9999999,7.9999999", &["whole"]),
        ("0.5,3,4,4", &["frame", "whole"]),
        ("9,9,10,10", &["corner", "frame", "whole"]),
        ("9.0000001,9,10,10", &[]),
        ("9,5,9,5", &["corner", "frame", "whole"]),
        ("170,-5,-170,5", &["east", "west"]),
        ("180,-5,180,5", &["east"]),
        ("170,-5,180,5", &["east"]),
        ("-180,0,-180,0", &["west"]),
        ("-180,90,180,90", &["pole"]),
        ("-30,-90,-29,-90", &["pole"]),
        ("-1,20,1,20", &["around"]),
    ];
    let check = async |app: &TestApp, key: &str| {
        for (bbox, expected) in cases {
            for geometry in ["true", "false"] {
                let path = format!("/v1/datasets/parks/data?bbox={bbox}&geometry={geometry}");
                let found = read(app, key, &path).await.json();
                let rows = found.as_array().unwrap().iter();
                let parks: Vec<_> = rows.map(|row| &row["park"]).collect();
                assert_eq!(json!(parks), json!(expected), "{bbox}");
            }
        }
        app.reads().rows_searched
    };
    let with_bounds = check(&app, &key).await;
    // The same without stored bounds of rows, which leave fewer to read.
    let folder = app.folder.path().join("objects/snapshots");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension() == Some("bounds".as_ref()) {
            std::fs::remove_file(path).unwrap();
        }
    }
    let other = TestApp::on_fixture(&fixture).await;
    let without = check(&other, &key).await;
    assert!(with_bounds <= without, "{with_bounds} and {without} rows were tested");
}

#[tokio::test]
async fn what_is_no_box_is_refused_contract_15() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let refused = [
        ("", "four numbers"),
        ("1,2,3", "four numbers"),
        ("1,2,3,4,5", "four numbers"),
        ("1,2,3,", "four numbers"),
        ("1,2,3,x", "four numbers"),
        ("NaN,NaN,NaN,NaN", "four numbers"),
        ("1,2,inf,4", "four numbers"),
        ("0,-90.1,0,0", "latitudes"),
        ("0,0,0,90.00000000000002", "latitudes"),
        ("-180.1,0,0,0", "longitudes"),
        ("0,0,180.00000000000003,0", "longitudes"),
        ("0,1,0,0", "south above its north"),
    ];
    for (bbox, sentence) in refused {
        let reply = app.get(&format!("/v1/datasets/parks/data?bbox={bbox}")).key(&key).send().await;
        let problem = reply.json()["detail"][0].clone();
        assert_eq!((reply.status.as_u16(), &problem["loc"]), (422, &json!(["query", "bbox"])));
        assert_eq!((&problem["type"], &problem["input"]), (&json!("value_error"), &json!(bbox)));
        assert!(problem["msg"].as_str().unwrap().contains(sentence), "{bbox}: {problem}");
    }
    let reply = app.get("/v1/datasets/harvest/data?bbox=0,0,1,1").key(&key).send().await;
    let problem = reply.json()["detail"][0].clone();
    assert_eq!((reply.status.as_u16(), &problem["loc"]), (422, &json!(["query", "bbox"])));
    assert!(problem["msg"].as_str().unwrap().contains("no geometry"), "{problem}");
    // Neither does it relieve the guard.
    let reply = app.get("/v1/datasets/parks/data?bbox=0,0,1,1&limit=0").key(&key).send().await;
    assert_eq!(reply.status, 413, "{}", reply.text());
}
