//! Published datasets, as operators see them (contract-6-datasets).

use crate::binary::Yearbook;

fn with_tiny() -> Yearbook {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n2024-02-01,2.5\n");
    yearbook.run(&["publish", "tiny"]).ok();
    yearbook
}

#[test]
fn a_list_is_an_aligned_table() {
    let said = with_tiny().run(&["datasets", "list"]).ok().stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("NAME  NAMESPACE  ROWS  REFRESHED"), "{said}");
    assert!(lines[1].starts_with("tiny  tests         2  2"), "{said}");
    assert_eq!(lines[0].find("SNAPSHOT"), lines[1].find(with_snapshot(&lines)), "{said}");
}

/// The snapshot id of the only row: the fifth cell.
fn with_snapshot<'a>(lines: &[&'a str]) -> &'a str {
    lines[1].split_whitespace().nth(4).unwrap()
}

#[test]
fn one_dataset_is_shown_with_its_columns() {
    let yearbook = with_tiny();
    let value = yearbook.run(&["datasets", "show", "tiny", "--json"]).ok().json();
    assert_eq!(value["licence"], "CC-BY-4.0");
    assert_eq!(value["date_filter_column"], "date");
    assert_eq!(value["date_range"]["last"], "2024-02-01");
    assert_eq!(value["columns"][1]["unit"], "index");
    assert_eq!(value["primary_key"][0], "date");
    let text = yearbook.run(&["datasets", "show", "tiny"]).ok().stdout;
    assert!(text.contains("dates           2024-01-01 to 2024-02-01\n"), "{text}");
    assert!(text.contains("\nvalue   number  value  yes    index\n"), "{text}");
}

#[test]
fn an_unknown_dataset_names_the_nearest_one() {
    let yearbook = with_tiny();
    assert_eq!(
        yearbook.run(&["datasets", "show", "tinny"]).failed(1),
        "error: there is no dataset tinny; did you mean tiny?\n"
    );
    let said = yearbook.run(&["datasets", "retire", "elsewhere_entirely", "--json"]).failed(1);
    let error: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        error["error"],
        "there is no dataset elsewhere_entirely; `yearbook datasets list` shows what there is"
    );
}

#[test]
fn a_retired_dataset_is_gone_until_it_is_published_again_contract_4() {
    let yearbook = with_tiny();
    yearbook.run(&["datasets", "retire", "tiny"]).ok();
    assert_eq!(yearbook.run(&["datasets", "list", "--json"]).ok().stdout, "[]\n");
    yearbook.run(&["datasets", "snapshots", "tiny"]).failed(1);
    yearbook.run(&["publish", "tiny"]).ok();
    assert_eq!(yearbook.run(&["datasets", "list", "--json"]).ok().json()[0]["name"], "tiny");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let yearbook = with_tiny();
    let mut child = yearbook
        .command(&["datasets", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_held_snapshot_outlives_every_gc_contract_13() {
    let yearbook = with_tiny();
    let snapshots = || yearbook.run(&["datasets", "snapshots", "tiny", "--json"]).ok().json();
    let first = snapshots()[0]["id"].as_str().unwrap().to_owned();
    let said = yearbook.run(&["datasets", "hold", "tiny", &first]).ok().stdout;
    assert!(said.contains("no rule on retention drops it"), "{said}");
    for value in ["2", "3", "4"] {
        yearbook.package("tiny", &format!("2024-01-01,{value}\n"));
        yearbook.run_with(&crate::gc::AT_ONCE, &["publish", "tiny"]).ok();
        yearbook.run_with(&crate::gc::AT_ONCE, &["gc"]).ok();
    }
    let kept = snapshots();
    assert_eq!(kept[0]["version"], 0);
    assert_eq!(kept.as_array().unwrap().last().unwrap()["version"], 3, "{kept}");
    assert_eq!((kept[0]["id"].as_str(), kept[0]["held"].as_bool()), (Some(&*first), Some(true)));
    assert!(kept.as_array().unwrap().len() < 4, "others went: {kept}");
    let text = yearbook.run(&["datasets", "snapshots", "tiny"]).ok().stdout;
    assert!(text.contains("held") && text.contains("current"), "{text}");

    let unknown = "0".repeat(32);
    for (name, id, expected) in [
        ("tiny", unknown.as_str(), "tiny never had a snapshot 0000"),
        ("tiny", "first", "tiny never had a snapshot first"),
        ("tinny", first.as_str(), "did you mean tiny?"),
    ] {
        let said = yearbook.run(&["datasets", "hold", name, id]).failed(1);
        assert!(said.contains(expected), "{said}");
    }
}
