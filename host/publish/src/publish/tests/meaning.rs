//! Statuses, and labels of other columns, of the rows.

use super::*;

/// Rows `date,region,name,value,state` with observation statuses.
fn people(rows: &str, codes: Value) -> Fixture {
    let columns = ["date:date", "region:string", "name:string", "value:number", "state:string"];
    Fixture::new(&columns, rows)
        .with("/resources/0/schema/primaryKey", json!(["date", "region"]))
        .with("/yearbook/status", json!({"state": {"of": ["value"], "codes": codes}}))
        .with("/yearbook/labels", json!({"region": {"from": "name"}}))
}

async fn faults(fixture: &Fixture) -> Vec<String> {
    match fixture.publish().await {
        Err(PublishError::Table { faults, .. }) => faults.iter().map(ToString::to_string).collect(),
        other => panic!("expected faults, got {other:?}"),
    }
}

#[tokio::test]
async fn no_value_is_published_beside_a_code_that_keeps_it_secret_contract_21() {
    let rows = "\
2025-01-01,a,A,1.5,A
2025-01-01,b,B,,Q
2025-04-01,a,A,31337.5,Q
2025-04-01,b,B,NaN,Q
2025-07-01,a,A,2,
";
    let found = faults(&people(rows, json!("sdmx-obs"))).await;
    let secret = "stands beside the status Q (suppressed), so it must be empty; remove the value or correct the status";
    assert_eq!(
        found,
        [format!("row 3, column value: {secret}"), format!("row 4, column value: {secret}")]
    );
    let own = json!([{"code": "A"}, {"code": "Q", "confidential": true}]);
    let found = faults(&people(rows, own)).await;
    assert!(
        found[0].starts_with("row 3, column value: stands beside the status Q, so"),
        "{found:?}"
    );
    assert!(!found.iter().any(|fault| fault.contains("31337")), "the value is secret: {found:?}");
    let open = json!([{"code": "A"}, {"code": "Q"}]);
    people(rows, open).publish().await.unwrap();
}

#[tokio::test]
async fn a_status_is_of_its_list_contract_21() {
    let found = faults(&people("2025-01-01,a,A,1,Z\n", json!("sdmx-conf"))).await;
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .starts_with("row 1, column state: \"Z\" is no status of the list sdmx-conf (A, C, D,"),
        "{found:?}"
    );
}

#[tokio::test]
async fn what_is_under_embargo_is_confidential_until_it_ends_contract_21() {
    let under = people("2025-01-01,a,A,1,E\n", json!("sdmx-conf"));
    let found = faults(&under).await;
    assert!(found[0].contains("column value: stands beside the status E"), "{found:?}");
    assert!(found[0].ends_with("or release it when its embargo ends (--release-at)"), "{found:?}");
    under.release().await.unwrap();
    for (row, codes) in
        [("C", json!("sdmx-conf")), ("E", json!([{"code": "E", "confidential": true}]))]
    {
        let secret = people(&format!("2025-01-01,a,A,1,{row}\n"), codes);
        assert!(matches!(secret.release().await, Err(PublishError::Table { .. })), "{row}");
    }
}

#[tokio::test]
async fn each_value_has_one_label_contract_21() {
    let rows = "2025-01-01,a,A,1,\n2025-04-01,a,,1,\n2025-07-01,a,Å,1,\n";
    let found = faults(&people(rows, json!("sdmx-obs"))).await;
    assert_eq!(
        found,
        [
            r#"row 3, column name: "Å" is the label of "a" here, and "A" is it in an earlier row; each value has one label"#
        ]
    );
}

#[tokio::test]
async fn what_is_said_of_values_makes_another_snapshot_contract_21() {
    let rows = "2025-01-01,a,A,1,\n2025-04-01,b,B,2,P\n";
    let id = async |fixture: Fixture| fixture.publish().await.unwrap().snapshot.id;
    let fixture = || people(rows, json!("sdmx-obs"));
    let own = id(fixture()).await;
    assert_eq!(own, id(fixture()).await);
    for (place, words) in [
        ("/yearbook/labels", json!({"region": {"a": "A"}})),
        ("/yearbook/notes", json!([{"text": "Provisional."}])),
        ("/yearbook/no_derivatives", json!(true)),
        ("/languages", json!(["en"])),
        ("/resources/0/schema/fields/1/title", json!("Region")),
    ] {
        assert_ne!(own, id(fixture().with(place, words)).await, "{place}");
    }
    let empty =
        fixture().with("/yearbook/notes", json!([])).with("/yearbook/no_derivatives", json!(false));
    assert_eq!(own, id(empty).await, "what says nothing changes nothing");
}

#[tokio::test]
async fn labels_of_all_columns_together_are_bounded_contract_21() {
    let name = |row: usize| format!("{row:01000}");
    let rows: String =
        (0..700).map(|row| format!("2025-01-01,r{row},{},1,\n", name(row))).collect();
    let fixture = people(&rows, json!("sdmx-obs"));
    fixture.publish().await.unwrap();
    let both = json!({"region": {"from": "name"}, "state": {"from": "name"}, "date": {"2025-01-01": "x".repeat(60_000)}});
    let more: Vec<String> = (0..6).map(|_| "x".repeat(60_000)).collect();
    let listed = json!({"region": {"from": "name"}, "state": {
        "A": more[0], "B": more[1], "D": more[2], "E": more[3], "F": more[4], "P": more[5],
    }});
    people(&rows, json!("sdmx-obs")).with("/yearbook/labels", both).publish().await.unwrap();
    let found = faults(&people(&rows, json!("sdmx-obs")).with("/yearbook/labels", listed)).await;
    assert!(found[0].contains("the labels of all columns have 10"), "{found:?}");
}

/// The faults of one row `date,v,state`, where a status speaks of `v`, and where none does.
async fn both_faults(kind: &str, cell: &str, proportions: &[&str], unit: &str) -> [Vec<String>; 2] {
    let fields = ["date:date", &format!("v:{kind}"), "state:string"];
    let open = Fixture::new(&fields, &format!("2025-01-01,{cell},Q\n"))
        .with("/yearbook/value_columns", json!(["v"]))
        .with("/yearbook/proportions", json!(proportions))
        .with("/resources/0/schema/fields/1/unit", json!(unit));
    let helpful = faults(&open).await;
    let status = json!({"state": {"of": ["v"], "codes": "sdmx-obs"}});
    [helpful, faults(&open.with("/yearbook/status", status)).await]
}

#[tokio::test]
async fn no_fault_repeats_a_value_that_a_status_speaks_of_contract_21() {
    for (kind, cell, proportions, unit, value, why) in [
        ("number", "\"98765,4\"", &[][..], "t", "\"98765,4\" ", "is not a number"),
        ("number", "98765%", &[][..], "t", "\"98765%\" ", "is not a number; turn percentages into"),
        ("number", "98765e999", &[][..], "t", "\"98765e999\" ", "is too large for a 64-bit float"),
        (
            "number",
            "98765.5",
            &["v"][..],
            "t",
            "98765.5 ",
            "is not a proportion: it must lie in 0..1",
        ),
        ("number", "98765.5", &[][..], "%", "98765.5 ", "is a percentage, as the unit \"%\" says"),
        ("integer", "98765.4", &[][..], "t", "\"98765.4\" ", "is not an integer"),
        (
            "integer",
            "98765432109876543210",
            &[][..],
            "t",
            "\"98765432109876543210\" ",
            "does not fit",
        ),
    ] {
        let [helpful, hidden] = both_faults(kind, cell, proportions, unit).await;
        let expected = format!("row 1, column v: {value}{why}");
        assert!(helpful[0].starts_with(&expected), "{helpful:?}");
        let expected = format!("row 1, column v: {why}");
        assert!(hidden.iter().any(|fault| fault.starts_with(&expected)), "{hidden:?}");
        assert!(!hidden.iter().any(|fault| fault.contains("98765")), "{hidden:?}");
    }
}

#[tokio::test]
async fn a_label_of_a_column_is_as_a_written_one_contract_21() {
    for (label, why) in [
        ("\"\"", "is blank; say something or leave it out"),
        (" ", "is blank; say something or leave it out"),
        ("A\u{1b}[31m", "has a control character (U+001B); remove it"),
        ("x".repeat(65_537).as_str(), "has 65537 bytes; at most 65536 are kept"),
    ] {
        let rows = format!("2025-01-01,a,{label},1,\n2025-04-01,a,{label},1,\n");
        let found = faults(&people(&rows, json!("sdmx-obs"))).await;
        assert_eq!(found, [format!("row 1, column name: {why}")]);
    }
    let long = format!("2025-01-01,a,{},1,\n", "x".repeat(65_536));
    people(&long, json!("sdmx-obs")).publish().await.unwrap();
}
