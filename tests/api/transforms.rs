//! Rows that go through transforms, at `/data` (`docs/spec/transforms.md`).

mod bounds;
mod citations;
mod tags;

use arrow::ipc::reader::StreamReader;
use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{BASE_URL, Reply, TestApp, harvest, parks};
use yearbook_tests::components::root;

const UNEMPLOYMENT: &str = "us_unemployment_by_industry";
const DATA: &str = "/v1/datasets/harvest/data";

async fn service(plan: Plan) -> (TestApp, String) {
    let app = TestApp::start().await;
    load(&app);
    app.publish(&harvest()).await;
    let key = app.key(plan).await;
    (app, key)
}

fn load(app: &TestApp) {
    app.load("idle-transform");
}

async fn get(app: &TestApp, key: &str, path: &str) -> Reply {
    app.get(path).key(key).send().await
}

async fn rows(app: &TestApp, key: &str, path: &str) -> Vec<Value> {
    let reply = get(app, key, path).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json().as_array().unwrap().clone()
}

/// Target of the link of a relation.
fn link(reply: &Reply, relation: &str) -> Option<String> {
    let mut links = reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap());
    let link = links.find(|link| link.ends_with(&format!("rel=\"{relation}\"")))?;
    let (path, _) = link.strip_prefix(&format!("<{BASE_URL}"))?.split_once('>')?;
    Some(path.to_owned())
}

/// Parameter and kind of each problem of a 422, and the first sentence.
fn problems(reply: &Reply) -> (Vec<(String, String)>, String) {
    assert_eq!(reply.status, 422, "{}", reply.text());
    let body = reply.json();
    let detail = body["detail"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let named = detail.iter().map(|problem| (text(&problem["loc"][1]), text(&problem["type"])));
    (named.collect(), text(&detail[0]["msg"]))
}

#[tokio::test]
async fn the_example_of_growth_contract_16() {
    let app = TestApp::start().await;
    load(&app);
    let package = root().join("datasets").join(UNEMPLOYMENT);
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Free).await;
    let path = format!(
        "/v1/datasets/{UNEMPLOYMENT}/data?where.industry=Construction&where.measure=rate\
         &start=2009-02-01&end=2010-02-01&apply=growth&growth.periods=12&growth.as=difference\
         &columns=period,value&format=csv"
    );
    let reply = get(&app, &key, &path).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("x-service-modified"), "growth(as=difference,periods=12)");
    assert_eq!(reply.header("x-service-rows"), "13");
    assert!(!reply.headers.contains_key("x-service-ignored"));
    let text = reply.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("period,value", 14));
    // What lies before `start` counts, so the first line has a number, too.
    assert!(lines[1].len() > "2009-02,".len(), "{text}");
    assert_eq!(lines[13], "2010-02,0.05700000000000002");
}

#[tokio::test]
async fn an_index_of_rows_without_dates_has_a_period_as_its_base_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    let package = root().join("datasets").join(UNEMPLOYMENT);
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let index = "where.measure=count&apply=aggregate,growth&aggregate.by=period&growth.as=index";
    let path = format!("/v1/datasets/{UNEMPLOYMENT}/data?{index}&growth.base=2009-12&limit=0");
    let found = rows(&app, &key, &path).await;
    let base = found.iter().find(|row| row["period"] == "2009-12").unwrap();
    assert_eq!(base["value"], json!(100.0));
    assert!(found.len() > 100 && found.iter().all(|row| row["value"].is_f64()), "{found:?}");
    // The aggregate makes no row of before `start`.
    let later = rows(&app, &key, &format!("{path}&start=2010-01-01")).await;
    assert!(!later.is_empty() && later.iter().all(|row| row["value"].is_null()), "{later:?}");

    let park =
        |area: u8, period: u16| format!("Albert,{area},\"MULTIPOINT ((174 -36))\",{period}\n");
    let csv = ["park,area,geometry_wkt,period\n", &park(2, 2019), &park(4, 2020)].concat();
    let table = parks().with_field("period", "string").with_rows(&csv);
    app.publish(&table.with("/resources/0/schema/primaryKey", json!(["park", "period"]))).await;
    let path = "/v1/datasets/parks/data?apply=growth&growth.as=index&columns=period,area";
    assert_eq!(
        rows(&app, &key, &format!("{path}&growth.base=2020")).await,
        [json!({"period": "2019", "area": 50.0}), json!({"period": "2020", "area": 100.0})]
    );
    let reply = get(&app, &key, &format!("{path}&growth.base=2020-01-01")).await;
    assert_eq!(problems(&reply).0, [("growth.base".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn pages_of_what_transforms_give_join_to_the_whole_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    for query in [
        "apply=growth",
        "apply=growth&start=2020-09-01&end=2022-01-01&where.region.not=Auckland",
        "apply=growth&sort=-value",
        "apply=growth&first=3",
        "apply=growth&last=4&sort=-date,value&columns=value,date",
        "apply=pivot&pivot.column=region&pivot.value=value",
        "apply=resample&resample.to=quarter",
        "apply=resample,growth&resample.to=quarter&growth.periods=4&growth.as=difference",
        "apply=aggregate&aggregate.by=date&sort=-value",
        "apply=idle&dimensions=land",
    ] {
        let whole =
            format!("{DATA}?{query}&limit={}", if query.contains("sort") { 10_000 } else { 0 });
        let whole = rows(&app, &key, &whole).await;
        let mut path = Some(format!("{DATA}?{query}&limit=5"));
        let mut joined = Vec::new();
        while let Some(now) = path {
            let page = get(&app, &key, &now).await;
            assert_eq!(page.status, 200, "{now}: {}", page.text());
            let of_page = page.json().as_array().unwrap().clone();
            assert_eq!(page.header("x-service-rows"), of_page.len().to_string(), "{now}");
            assert!(!page.headers.contains_key("x-service-total-rows"), "{now}");
            joined.extend(of_page);
            path = link(&page, "next");
        }
        assert!(joined.len() > 5, "{query}: {joined:?}");
        assert_eq!(joined, whole, "{query}");
    }
}

#[tokio::test]
async fn first_last_sort_and_columns_are_of_what_the_last_transform_gives_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    let all = rows(&app, &key, &format!("{DATA}?apply=growth&limit=0")).await;
    let newest = rows(&app, &key, &format!("{DATA}?apply=growth&last=1&limit=0")).await;
    assert_eq!(newest, all[all.len() - 3..], "a region is a series");
    let value = |row: &Value| row["value"].as_f64();
    let mut best: Vec<Value> = all.iter().filter(|row| value(row).is_some()).cloned().collect();
    best.sort_by(|one, other| value(other).unwrap().total_cmp(&value(one).unwrap()));
    let path = format!("{DATA}?apply=growth&sort=-value&limit=3&columns=value,region");
    let sorted = rows(&app, &key, &path).await;
    let expected: Vec<Value> = best[..3]
        .iter()
        .map(|row| json!({"value": row["value"], "region": row["region"]}))
        .collect();
    assert_eq!(sorted, expected);

    // Columns that are made can be named, those that went cannot.
    let pivoted = format!("{DATA}?apply=pivot&pivot.column=region&pivot.value=value");
    let reply = get(&app, &key, &format!("{pivoted}&columns=auckland,date&limit=1")).await;
    assert_eq!(reply.json(), json!([{"auckland": null, "date": "2020-01-01"}]), "{}", reply.text());
    for (query, name) in [("columns=region", "columns"), ("sort=-region", "sort")] {
        let reply = get(&app, &key, &format!("{pivoted}&{query}&limit=1")).await;
        let (named, sentence) = problems(&reply);
        assert_eq!(named, [(name.to_owned(), "value_error".to_owned())]);
        assert!(sentence.contains("what the transforms give has date"), "{sentence}");
    }
    let reply =
        get(&app, &key, &format!("{DATA}?apply=aggregate&aggregate.by=region&last=1")).await;
    assert_eq!(problems(&reply).0, [("last".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn what_is_wrong_with_transforms_is_422_at_its_parameter_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    for (query, expected, sentence) in [
        (
            "apply=growht",
            &[("apply", "value_error")][..],
            "the nearest is 'growth'; loaded: aggregate",
        ),
        ("apply=growth,growth", &[("apply", "value_error")], "named twice"),
        ("apply=growth@9.9.9", &[("apply", "value_error")], "not 9.9.9"),
        ("apply=a,b,c,d,e", &[("apply", "value_error")], "may list 4"),
        (
            "apply=growth&growth.periods=x&where.nothing=1",
            &[("where.nothing", "value_error"), ("growth.periods", "int_parsing")],
            "unknown column 'nothing'",
        ),
        ("growth.as=other", &[("growth.as", "literal_error")], "ratio"),
        ("apply=pivot", &[("pivot.column", "missing")], ""),
        ("apply=pivot&pivot.column=nothing", &[("pivot.column", "value_error")], "nothing"),
        ("apply=growth&growth.columns=region", &[("growth.columns", "value_error")], "region"),
    ] {
        for method in ["GET", "HEAD"] {
            let reply = app.ask(method, &format!("{DATA}?{query}")).key(&key).send().await;
            assert_eq!(reply.status, 422, "{method} {query}: {}", reply.text());
        }
        let (named, first) = problems(&get(&app, &key, &format!("{DATA}?{query}")).await);
        let named: Vec<_> = named.iter().map(|(name, kind)| (&**name, &**kind)).collect();
        assert_eq!(named, expected, "{query}");
        assert!(first.contains(sentence), "{query}: {first}");
    }
    for path in ["changes?apply=growth", "values?apply=growth", "changes?apply=nothing"] {
        let reply = get(&app, &key, &format!("/v1/datasets/harvest/{path}")).await;
        assert_eq!(problems(&reply).0, [("apply".to_owned(), "value_error".to_owned())], "{path}");
    }
}

#[tokio::test]
async fn tags_hold_transforms_and_their_options_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    let tag = async |query: &str| {
        let path = format!("{DATA}?{query}");
        let reply = get(&app, &key, &path).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        let tag = reply.header("etag");
        let head = app.head(&path).key(&key).send().await;
        assert_eq!((head.status.as_u16(), head.header("etag")), (200, tag.clone()), "{query}");
        assert_eq!(head.header("x-service-modified"), reply.header("x-service-modified"));
        let is_counted = head.headers.contains_key("x-service-rows");
        assert_eq!(is_counted, query.is_empty(), "rows would have to tell");
        let known = app.get(&path).key(&key).header("if-none-match", &tag).send().await;
        assert_eq!(known.status, 304, "{query}");
        tag
    };
    let growth = tag("apply=growth").await;
    for same in ["apply=growth&growth.periods=1", "growth.as=ratio&apply=growth", "apply=+growth"] {
        assert_eq!(tag(same).await, growth, "{same}");
    }
    let mut others = vec![growth];
    for query in [
        "",
        "apply=idle",
        "apply=growth&growth.periods=2",
        "apply=growth&growth.as=log",
        "apply=growth&last=1",
        "apply=growth&sort=-value",
        "apply=growth&columns=value",
        "apply=growth&limit=7",
        "apply=idle,growth",
        "apply=growth,idle",
        "apply=growth&where.region=Auckland",
    ] {
        let tag = tag(query).await;
        assert!(!others.contains(&tag), "{query}");
        others.push(tag);
    }
}

#[tokio::test]
async fn links_and_formats_read_transformed_rows_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    let query =
        "apply=growth&growth.periods=2&last=2&sort=-value&limit=4&csv.delimiter=;&format=csv";
    let reply = get(&app, &key, &format!("/v1/datasets/harvest/link?{query}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(!reply.headers.contains_key("x-service-ignored"));
    let body = reply.json();
    let version = app.registry.current().transform("growth").unwrap().version().to_owned();
    let selection = format!("apply=growth%40{version}&growth.periods=2&last=2&sort=-value");
    assert_eq!(body["selection"], selection);
    let path = body["url"].as_str().unwrap().strip_prefix(BASE_URL).unwrap().to_owned();
    let linked = app.get(&path).send().await;
    let direct = get(&app, &key, &format!("{DATA}?{query}")).await;
    assert_eq!((linked.status.as_u16(), linked.text()), (200, direct.text()));
    assert_eq!(linked.text().lines().count(), 5);
    let next = app.get(&link(&linked, "next").unwrap()).send().await;
    assert_eq!((next.status.as_u16(), next.text().lines().count()), (200, 3), "{}", next.text());

    let arrow =
        get(&app, &key, &format!("{DATA}?apply=growth&growth.periods=2&format=arrow")).await;
    let reader = StreamReader::try_new(&*arrow.body, None).unwrap();
    let metadata = reader.schema().metadata().clone();
    assert_eq!(metadata["yearbook.modified"], "growth(periods=2)");
    assert_eq!(metadata["yearbook.attribution"], "Ahuwhenua Māori, CC BY 4.0");
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 100);
    for format in ["parquet", "svg", "json"] {
        let path = format!("{DATA}?apply=growth&where.region=Auckland&format={format}");
        let reply = get(&app, &key, &path).await;
        assert_eq!(reply.status, 200, "{format}: {}", reply.text());
        assert_eq!(reply.header("x-service-modified"), "growth");
    }
}

#[tokio::test]
async fn geometry_false_takes_geometry_from_the_transform_contract_16() {
    let (app, key) = service(Plan::Enterprise).await;
    app.publish(&parks()).await;
    let path = "/v1/datasets/parks/data?apply=idle";
    let whole = rows(&app, &key, path).await;
    assert_eq!(whole, rows(&app, &key, "/v1/datasets/parks/data").await);
    assert!(whole[0]["geometry_wkt"].is_string());
    let without = get(&app, &key, &format!("{path}&geometry=false")).await;
    assert_eq!(without.header("x-service-geometry-omitted"), "true");
    assert!(without.json()[0].get("geometry_wkt").is_none(), "{}", without.text());
    let named = get(&app, &key, &format!("{path}&geometry=false&columns=geometry_wkt")).await;
    assert_eq!(problems(&named).0, [("columns".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn the_description_lists_loaded_transforms_contract_16() {
    let (app, _) = service(Plan::Free).await;
    let document = app.get("/openapi.json").send().await.json();
    let apply = &document["components"]["parameters"]["apply"];
    let described = apply["description"].as_str().unwrap();
    assert!(described.contains("\n- `growth`: ") && described.contains("`pivot`"), "{described}");
    for path in ["/v1/datasets/{name}/data", "/v1/datasets/{name}/link"] {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
        for name in ["growth.periods", "resample.to"] {
            assert!(parameters.iter().any(|parameter| parameter["name"] == name), "{path} {name}");
        }
    }
}
