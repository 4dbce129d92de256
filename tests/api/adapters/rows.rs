//! Rows that adapters select (contract-17-rows): those of `/v1` for the same question, with the
//! same refusals.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_sandbox::adapter::{Framing, Link, Reply as Said, Rows, Segment, Wrapping};
use yearbook_sandbox::catalogue::{BoundingBox, Condition, Operator, Pick, Selection, Version};
use yearbook_tests::app::{TestApp, harvest, parks, unbounded};

use super::{address, said};

/// All rows and columns of `dataset`.
pub(super) fn selection(dataset: &str) -> Selection {
    Selection {
        dataset: dataset.to_owned(),
        version: Version::Current,
        start: None,
        end: None,
        search: None,
        conditions: Vec::new(),
        bbox: None,
        row: None,
        columns: None,
        geometry: true,
        row_numbers: false,
        sort: Vec::new(),
        pick: Pick::All,
        apply: Vec::new(),
        limit: None,
        skip: 0,
        cursor: None,
    }
}

pub(super) fn condition(column: &str, operator: Operator, values: &[&str]) -> Condition {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Condition { column: column.to_owned(), operator, values }
}

pub(super) fn rows(selection: Selection, format: &str) -> Rows {
    let format = Some(format.to_owned());
    Rows { selection, format, options: Vec::new(), media_type: None, file_name: None }
}

/// Address that is answered with `rows` in `framing`.
pub(super) fn framed(rows: &Rows, framing: &Framing) -> String {
    let replies = json!([said(&Said::Rows(rows.clone()))]);
    address("", &[("replies", replies), ("framing", said(framing))])
}

pub(super) fn bare() -> Framing {
    Framing::Wrap(Wrapping { before: Vec::new(), after: Vec::new(), links: Vec::new() })
}

/// An object with the rows and their number.
pub(super) fn object() -> Framing {
    Framing::Wrap(Wrapping {
        before: b"{\"rows\":".to_vec(),
        after: vec![
            Segment::Bytes(b",\"returned\":".to_vec()),
            Segment::RowCount,
            Segment::Bytes(b"}".to_vec()),
        ],
        links: vec![Link {
            href: "http://test.example/api/scripted/next".to_owned(),
            rel: "next".to_owned(),
            media_type: None,
        }],
    })
}

pub(super) async fn service() -> (TestApp, String) {
    let mut settings = unbounded();
    settings.plans.free.row_cap = Some(50);
    let app = TestApp::with(settings).await;
    app.load("scripted");
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

pub(super) async fn used(app: &TestApp, key: &str) -> u64 {
    let me = app.get("/v1/me").key(key).send().await.json();
    me["requests"]["used"].as_u64().unwrap()
}

/// Selections, and the same as a query of `/data`.
fn questions() -> Vec<(Selection, &'static str)> {
    let all = || selection("harvest");
    let growth = yearbook_sandbox::catalogue::Applied {
        transform: "growth".to_owned(),
        options: vec![("unit".to_owned(), "year".to_owned())],
    };
    vec![
        (all(), ""),
        (
            Selection { limit: Some(0), start: Some("2021".to_owned()), ..all() },
            "limit=0&start=2021-01-01",
        ),
        (Selection { end: Some("2020-03-01".to_owned()), ..all() }, "end=2020-03-01"),
        (Selection { search: Some("MĀORI".to_owned()), ..all() }, "dimensions=M%C4%80ORI"),
        (
            Selection {
                conditions: vec![
                    condition("region", Operator::Equal, &["Auckland", "Waikato, north"]),
                    condition("value", Operator::Gt, &["100"]),
                    condition("value", Operator::IsNotNull, &[]),
                ],
                limit: Some(7),
                ..all()
            },
            "where.region=Auckland&where.region=Waikato,%20north&where.value.gt=100\
             &where.value.null=false&limit=7",
        ),
        (
            Selection {
                conditions: vec![
                    condition("region", Operator::NotEqual, &["Auckland"]),
                    condition("region", Operator::Contains, &["land"]),
                    condition("value", Operator::IsNull, &[]),
                ],
                ..all()
            },
            "where.region.not=Auckland&where.region.contains=land&where.value.null=true",
        ),
        (
            Selection {
                sort: vec![("region".to_owned(), false), ("date".to_owned(), true)],
                columns: Some(vec!["value".to_owned(), "date".to_owned()]),
                limit: Some(9),
                ..all()
            },
            "sort=region,-date&columns=value,date&limit=9",
        ),
        (Selection { pick: Pick::Last(2), ..all() }, "last=2"),
        (Selection { pick: Pick::First(1), ..all() }, "first=1"),
        (
            Selection { apply: vec![growth], limit: Some(50), ..all() },
            "apply=growth&growth.unit=year&limit=50",
        ),
    ]
}

#[tokio::test]
async fn rows_of_an_adapter_are_those_of_v1_for_the_same_question_contract_17() {
    let (app, key) = service().await;
    for (selection, query) in questions() {
        for format in ["json", "csv"] {
            let path = framed(&rows(selection.clone(), format), &bare());
            let own = app.get(&path).key(&key).send().await;
            assert_eq!(own.status, 200, "{query}: {}", own.text());
            let path = format!("/v1/datasets/harvest/data?{query}&format={format}");
            let v1 = app.get(&path).key(&key).send().await;
            assert_eq!(own.text(), v1.text(), "{query}");
            for name in [
                "x-service-rows",
                "x-service-total-rows",
                "x-service-attribution",
                "x-service-modified",
                "last-modified",
                "content-type",
            ] {
                assert_eq!(own.header(name), v1.header(name), "{query} {name}");
            }
            assert_ne!(own.header("etag"), v1.header("etag"), "{query}");
            for name in ["x-next-page", "content-disposition"] {
                assert_eq!(own.header(name), "", "{query} {name}");
            }
            assert!(!own.header("link").contains("/v1/"), "{}", own.header("link"));
        }
    }
    let boxed = Selection {
        bbox: Some(BoundingBox { west: 174.05, south: -37.0, east: 175.0, north: -36.0 }),
        geometry: false,
        ..selection("parks")
    };
    let own = app.get(&framed(&rows(boxed, "json"), &bare())).key(&key).send().await;
    let v1 = "/v1/datasets/parks/data?bbox=174.05,-37,175,-36&geometry=false";
    let v1 = app.get(v1).key(&key).send().await;
    assert_eq!(
        (own.text(), own.header("x-geometry-omitted")),
        (v1.text(), v1.header("x-geometry-omitted"))
    );
    assert_eq!(own.json().as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn changes_are_those_of_v1_contract_17() {
    let (app, key) = service().await;
    let first = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    let first = first["current_snapshot_id"].as_str().unwrap().to_owned();
    app.publish(&harvest().with_appended("2024-01-01,Auckland,7.5,true\n")).await;
    let since = Selection { version: Version::ChangesSince(first.clone()), ..selection("harvest") };
    let own = app.get(&framed(&rows(since.clone(), "json"), &object())).key(&key).send().await;
    let v1 = app.get(&format!("/v1/datasets/harvest/changes?since={first}"));
    let v1 = v1.key(&key).send().await;
    assert_eq!(own.json(), json!({"rows": v1.json(), "returned": 1}));
    let less = Selection { start: Some("2020".to_owned()), ..since };
    let less = app.get(&framed(&rows(less, "json"), &bare())).key(&key).send().await;
    assert_eq!(
        (less.status.as_u16(), &less.json()["problems"][0]["place"][1]),
        (422, &json!("since"))
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_selection_is_refused_as_on_v1_contract_17() {
    let (app, key) = service().await;
    let all = || selection("harvest");
    let named =
        |version: &str| Selection { version: Version::Snapshot(version.to_owned()), ..all() };
    let cases = [
        (selection("CPI"), "CPI/data?"),
        (selection("nothing"), "nothing/data?"),
        (Selection { start: Some("x".to_owned()), ..all() }, "harvest/data?start=x"),
        (
            Selection { conditions: vec![condition("regio", Operator::Equal, &["x"])], ..all() },
            "harvest/data?where.regio=x",
        ),
        (
            Selection { conditions: vec![condition("value", Operator::Le, &["x"])], ..all() },
            "harvest/data?where.value.le=x",
        ),
        (Selection { columns: Some(vec!["a".to_owned()]), ..all() }, "harvest/data?columns=a"),
        (Selection { pick: Pick::First(0), ..all() }, "harvest/data?first=0"),
        (Selection { cursor: Some("x".to_owned()), ..all() }, "harvest/data?cursor=x"),
        (
            Selection {
                bbox: Some(BoundingBox { west: 0.0, south: 91.0, east: 1.0, north: 92.0 }),
                ..all()
            },
            "harvest/data?bbox=0,91,1,92",
        ),
        (named("0123456789"), "harvest/data?snapshot=0123456789"),
        (Selection { limit: Some(0), ..selection("parks") }, "parks/data?limit=0"),
    ];
    let before = used(&app, &key).await;
    for (selection, query) in cases {
        let own = app.get(&framed(&rows(selection, "json"), &bare())).key(&key).send().await;
        let v1 = app.get(&format!("/v1/datasets/{query}")).key(&key).send().await;
        assert_eq!(own.status, v1.status, "{query}: {}", own.text());
        let told = own.json();
        assert_eq!(told["code"], v1.header("x-service-error-code"), "{query}");
        let sentences: Vec<Value> = match &v1.json()["detail"] {
            Value::Array(problems) => {
                problems.iter().map(|problem| problem["msg"].clone()).collect()
            }
            sentence => vec![sentence.clone()],
        };
        let problems = told["problems"].as_array().unwrap();
        let own: Vec<Value> = problems.iter().map(|problem| problem["sentence"].clone()).collect();
        assert_eq!(own, sentences, "{query}");
    }
    let option =
        Rows { options: vec![("delimiter".to_owned(), "xx".to_owned())], ..rows(all(), "csv") };
    let own = app.get(&framed(&option, &bare())).key(&key).send().await;
    assert_eq!(
        (own.status.as_u16(), &own.json()["problems"][0]["place"][1]),
        (422, &json!("csv.delimiter"))
    );
    assert_eq!(used(&app, &key).await, before, "refusals are not charged");
    let stranger = app.get(&framed(&rows(all(), "json"), &bare())).send().await;
    assert_eq!(stranger.status, 401);
}
