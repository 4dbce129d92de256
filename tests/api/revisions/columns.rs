//! Revisions across versions whose columns differ: what a version did not have is null.

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_tests::app::{Reply, TestApp, harvest};

use super::{REVISIONS, drop_all_but_the_newest, get, publish, time};

#[tokio::test]
async fn columns_that_come_and_go_are_seen_with_the_newest_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let long = |value: &str| {
        harvest().with_field("grade", "string").with_rows(&format!(
            "date,region,value,final,grade\n2024-01-01,Nelson,1,true,{value}\n"
        ))
    };
    let short = |value: u8| {
        harvest().with_rows(&format!("date,region,value,final\n2024-01-01,Nelson,{value},true\n"))
    };
    let versions = [long("A"), short(1), short(2), long("A"), long("B")];
    for (number, table) in versions.iter().enumerate() {
        publish(&app, number, table).await;
    }
    for dropped in [false, true] {
        if dropped {
            drop_all_but_the_newest(&app).await;
        }
        let rows = get(&app, &key, &format!("{REVISIONS}?limit=0")).await.json();
        let told: Vec<_> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["value"].clone(), row["grade"].clone(), row["_valid_from"].clone()))
            .collect();
        let expected = [
            (json!(1.0), json!("A"), json!(time(0))),
            (json!(1.0), Value::Null, json!(time(1))),
            (json!(2.0), Value::Null, json!(time(2))),
            (json!(1.0), json!("A"), json!(time(3))),
            (json!(1.0), json!("B"), json!(time(4))),
        ];
        assert_eq!(told, expected, "dropped: {dropped}");
    }
}

#[tokio::test]
async fn a_date_is_no_text_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for (number, kind, value) in [(0, "string", "zzz"), (1, "date", "2024-05-06")] {
        let table = harvest().with_field("seen", kind).with_rows(&format!(
            "date,region,value,final,seen\n2024-01-01,Nelson,1,true,{value}\n"
        ));
        publish(&app, number, &table).await;
    }
    let rows = get(&app, &key, &format!("{REVISIONS}?columns=seen,_valid_from")).await.json();
    let expected = json!([
        {"seen": null, "_valid_from": time(0)},
        {"seen": "2024-05-06", "_valid_from": time(1)},
    ]);
    assert_eq!(rows, expected);
}

#[tokio::test]
async fn a_renamed_date_is_on_neither_side_of_a_bound_and_last_in_order_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let numbered = || harvest().with_field("number", "integer");
    let before = numbered()
        .with("/resources/0/schema/fields/0/name", json!("ref_date"))
        .with("/resources/0/schema/primaryKey", json!(["ref_date", "region"]))
        .with("/yearbook/date_filter_column", json!("ref_date"))
        .with_rows(
            "ref_date,region,value,final,number\n2024-01-01,Auckland,1,true,11\n\
             2024-01-01,Nelson,1,true,12\n2024-01-02,Otago,1,true,13\n\
             2024-01-03,Waikato,1,true,14\n",
        );
    let after = numbered().with_rows(
        "date,region,value,final,number\n2024-01-01,Nelson,1,true,1\n\
         2024-01-02,Nelson,1,true,2\n2024-01-03,Nelson,1,true,3\n",
    );
    publish(&app, 0, &before).await;
    publish(&app, 1, &after).await;
    let numbers = async |path: &str| -> Vec<i64> {
        let reply = get(&app, &key, path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        let rows = reply.json();
        rows.as_array().unwrap().iter().map(|row| row["number"].as_i64().unwrap()).collect()
    };

    // Rows of the newest version alone have a date, so theirs are those of `/data`.
    let bounds: [(&str, &[i64]); 8] = [
        ("end=2024-01-02", &[1, 2]),
        ("start=2024-01-02", &[2, 3]),
        ("start=2024-01-02&end=2024-01-02", &[2]),
        ("end=2023-12-31", &[]),
        ("start=2024-01-04", &[]),
        ("end=2024-01-02&where.number.ge=2", &[2]),
        ("end=2024-01-02&sort=-date", &[2, 1]),
        ("start=2024-01-02&sort=date", &[2, 3]),
    ];
    for (query, expected) in bounds {
        for limit in [0, 100] {
            let query = format!("{query}&limit={limit}");
            assert_eq!(numbers(&format!("{REVISIONS}?{query}")).await, expected, "{query}");
            let data = numbers(&format!("/v1/datasets/harvest/data?{query}")).await;
            assert_eq!(data, expected, "{query}");
        }
    }
    for (bounds, rows) in [("end=2024-01-02", "2"), ("start=2024-01-03", "1"), ("limit=0", "7")] {
        let path = format!("{REVISIONS}?{bounds}");
        let counts = |reply: &Reply| {
            ["x-service-rows", "x-service-total-rows"].map(|name| reply.header(name))
        };
        assert_eq!(counts(&get(&app, &key, &path).await), [rows, rows], "{path}");
        assert_eq!(counts(&app.head(&path).key(&key).send().await), [rows, rows], "{path}");
    }

    let orders: [(&str, &[i64]); 5] = [
        ("columns=number", &[11, 12, 13, 14, 1, 2, 3]),
        ("sort=date", &[1, 2, 3, 11, 12, 13, 14]),
        ("sort=date,region", &[1, 2, 3, 11, 12, 13, 14]),
        ("sort=-date", &[3, 2, 1, 11, 12, 13, 14]),
        ("sort=-date,-region", &[3, 2, 1, 14, 13, 12, 11]),
    ];
    for (order, expected) in orders {
        assert_eq!(numbers(&format!("{REVISIONS}?{order}")).await, expected, "{order}");
        let first = format!("{REVISIONS}?limit=2&{order}");
        let (mut path, mut joined) = (first.clone(), Vec::new());
        loop {
            joined.extend(numbers(&path).await);
            let cursor = get(&app, &key, &path).await.header("x-next-page");
            if cursor.is_empty() {
                break;
            }
            path = format!("{first}&cursor={cursor}");
        }
        assert_eq!(joined, expected, "pages of {order}");
    }

    let expected = [
        (json!("2024-01-01"), json!("Nelson"), [None, Some(1.0)]),
        (json!("2024-01-02"), json!("Nelson"), [None, Some(2.0)]),
        (json!("2024-01-03"), json!("Nelson"), [None, Some(3.0)]),
        (Value::Null, json!("Auckland"), [Some(11.0), None]),
        (Value::Null, json!("Nelson"), [Some(12.0), None]),
        (Value::Null, json!("Otago"), [Some(13.0), None]),
        (Value::Null, json!("Waikato"), [Some(14.0), None]),
    ];
    let aggregated = "aggregate.by=date,region,_valid_from&aggregate.value=number";
    for pivot in [
        "apply=pivot&pivot.value=number",
        &format!("apply=aggregate,pivot&pivot.value=number&{aggregated}"),
    ] {
        let path = format!("{REVISIONS}?{pivot}&pivot.column=_valid_from");
        let reply = get(&app, &key, &path).await;
        assert_eq!(reply.status, 200, "{pivot}: {}", reply.text());
        let triangle = reply.json();
        let rows = triangle.as_array().unwrap().iter().map(|row| {
            let cell = |hour: u8| row[format!("x2024_03_01t{hour}_00_00z")].as_f64();
            (row["date"].clone(), row["region"].clone(), [cell(10), cell(11)])
        });
        assert_eq!(rows.collect::<Vec<_>>(), expected, "{pivot}");
    }
}
