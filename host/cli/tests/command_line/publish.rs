//! Publishing from the command line (contract-7-same-again, contract-7-faults).

use serde_json::{Value, json};

use crate::binary::Yearbook;

const ROWS: &str = "2024-01-01,1\n2024-02-01,2.5\n";

#[test]
fn a_package_is_published_and_publishing_it_again_changes_nothing_contract_7() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", ROWS);
    let first = yearbook.run(&["publish", "tiny", "--json"]).ok();
    assert_eq!(first.stderr, "");
    let first = first.json();
    let id = first["snapshot_id"].as_str().unwrap();
    assert!(!id.is_empty());
    assert_eq!(
        first,
        json!({ "dataset": "tiny", "namespace": "tests", "snapshot_id": id, "rows": 2, "status": "new" })
    );
    let again = yearbook.run(&["publish", "tiny/datapackage.json", "--json"]).ok().json();
    assert_eq!(
        (&again["snapshot_id"], &again["status"]),
        (&first["snapshot_id"], &json!("unchanged"))
    );

    yearbook.package("tiny", "2024-01-01,7\n");
    let changed = yearbook.run(&["publish", "tiny"]).ok();
    assert!(
        changed.stdout.starts_with("tiny: snapshot ") && changed.stdout.ends_with(", 1 row, new\n"),
        "{}",
        changed.stdout
    );
    assert_eq!(
        yearbook
            .run(&["datasets", "snapshots", "tiny", "--json"])
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_pipe_gets_one_line_a_dataset_and_no_progress() {
    let yearbook = Yearbook::new();
    yearbook.package("first", ROWS);
    yearbook.package("second", ROWS);
    let said = yearbook.run(&["publish", "first", "second"]).ok();
    assert_eq!(said.stderr, "", "progress belongs on a terminal");
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", said.stdout);
    assert!(
        lines[0].starts_with("first: snapshot ") && lines[1].starts_with("second: snapshot "),
        "{}",
        said.stdout
    );
}

#[test]
fn faults_are_a_table_of_row_and_column_contract_7() {
    let yearbook = Yearbook::new();
    yearbook.package("tiny", "2024-01-01,1\n2024-13-01,2\n2024-03-01,many\n");
    let said = yearbook.run(&["publish", "tiny"]).failed(1);
    assert!(said.contains("error: tiny was not published: 2 faults in its data"), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let header = lines
        .iter()
        .position(|line| line.starts_with("ROW  COLUMN  FAULT"))
        .unwrap_or_else(|| panic!("{said}"));
    assert!(lines[header + 1].starts_with("  2  date    "), "{said}");
    assert!(lines[header + 2].starts_with("  3  value   "), "{said}");

    let said = yearbook.run(&["publish", "tiny", "--json"]).failed(1);
    let error: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&error["total_faults"], &error["faults"][0]["row"], &error["faults"][0]["column"]),
        (&json!(2), &json!(2), &json!("date"))
    );
    assert_eq!(yearbook.run(&["datasets", "list", "--json"]).ok().json(), json!([]));
}

#[test]
fn faults_beyond_the_list_are_counted() {
    let yearbook = Yearbook::new();
    let rows: String = (1..=60).map(|row| format!("bad{row},1\n")).collect();
    yearbook.package("tiny", &rows);
    let said = yearbook.run(&["publish", "tiny"]).failed(1);
    assert!(said.contains("60 faults") && said.contains("… and 10 more"), "{said}");
    assert!(
        said.contains("bad50") && !said.contains("bad51"),
        "the first 50 on the terminal: {said}"
    );
    let said = yearbook.run(&["publish", "tiny", "--json"]).failed(1);
    let error: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (error["faults"].as_array().unwrap().len(), &error["total_faults"]),
        (60, &json!(60)),
        "all of them with --json"
    );
    assert_eq!(error["faults"][59]["row"], json!(60));
}

#[test]
fn a_date_in_another_form_and_a_percentage_are_named_with_row_and_column_contract_7() {
    let yearbook = Yearbook::new();
    let path = yearbook.package("tiny", "01/02/2020,55\n");
    let descriptor = std::fs::read_to_string(&path).unwrap();
    let descriptor = descriptor
        .replace(r#""type":"date""#, r#""type":"string""#)
        .replace(r#""unit":"index""#, r#""unit":"%""#);
    std::fs::write(&path, descriptor).unwrap();
    let said = yearbook.run(&["publish", "tiny", "--json"]).failed(1);
    let error: Value = serde_json::from_str(&said).unwrap();
    let places: Vec<_> = error["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| (&fault["row"], &fault["column"]))
        .collect();
    assert_eq!(places, [(&json!(1), &json!("date")), (&json!(1), &json!("value"))], "{said}");
    let said = yearbook.run(&["publish", "tiny"]).failed(1);
    assert!(
        said.contains("  1  date    \"01/02/2020\" is not a date of the form YYYY-MM-DD"),
        "{said}"
    );
    assert!(said.contains("  1  value   55.0 is a percentage, as the unit \"%\" says"), "{said}");
}

#[test]
fn a_licence_that_forbids_redistribution_asks_for_the_word_contract_7() {
    let yearbook = Yearbook::new();
    let path = yearbook.package("tiny", ROWS);
    let descriptor = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, descriptor.replace("CC-BY-4.0", "CC-BY-NC-ND-4.0")).unwrap();
    let said = yearbook.run(&["publish", "tiny"]).failed(1);
    assert!(
        said.contains(
            "yearbook.bulk_redistribution  is missing, and the licence \"CC-BY-NC-ND-4.0\""
        ),
        "{said}"
    );
}

#[test]
fn a_device_or_a_pipe_is_no_descriptor_contract_7() {
    let yearbook = Yearbook::new();
    let link = yearbook.write("linked/rows.csv", "").with_file_name("datapackage.json");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for path in ["/dev/zero", "linked"] {
        let said = yearbook.run(&["publish", path]).failed(1);
        assert!(said.contains("it is not a regular file"), "{path}: {said}");
    }
}

#[test]
fn what_is_wrong_with_a_descriptor_is_listed_by_place() {
    let yearbook = Yearbook::new();
    let path = yearbook.write("bad/datapackage.json", r#"{"name": "Bad Name", "resources": []}"#);
    let said = yearbook.run(&["publish", path.to_str().unwrap()]).failed(1);
    assert!(
        said.contains("PLACE") && said.contains("\nname ") && said.contains("\nresources "),
        "{said}"
    );
}

#[test]
fn a_run_stops_at_the_first_failure_and_says_what_was_published() {
    let yearbook = Yearbook::new();
    yearbook.package("good", ROWS);
    yearbook.package("bad", "2024-01-01,many\n");
    yearbook.package("later", ROWS);
    let said = yearbook.run(&["publish", "good", "bad", "later"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stdout.starts_with("good: snapshot "), "{}", said.stdout);
    assert!(said.stderr.contains("published before it: good; not tried: 1"), "{}", said.stderr);
    let said = yearbook.run(&["publish", "good", "bad", "later", "--json"]);
    let error: Value = serde_json::from_str(&said.stderr).unwrap();
    assert_eq!(error["published"], json!(["good"]));
    let listed = yearbook.run(&["datasets", "list", "--json"]).ok().json();
    assert_eq!(
        listed.as_array().unwrap().iter().map(|dataset| &dataset["name"]).collect::<Vec<_>>(),
        ["good"]
    );
}

#[test]
fn a_path_with_nothing_there_is_named() {
    let said = Yearbook::new().run(&["publish", "nowhere"]).failed(1);
    assert!(said.contains("nowhere was not published") && said.contains("No such file"), "{said}");
}

#[test]
fn migrate_stores_the_bounds_of_rows_that_are_missing_contract_15() {
    let yearbook = Yearbook::new();
    let descriptor = json!({
        "name": "places",
        "licenses": [{ "name": "CC-BY-4.0" }],
        "sources": [{ "title": "Test agency", "path": "https://example.org/places" }],
        "resources": [{ "path": "rows.csv", "schema": { "fields": [
            { "name": "id", "type": "integer" }, { "name": "geometry_wkt", "type": "string" },
        ] } }],
        "yearbook": { "namespace": "tests" },
    });
    yearbook.write("places/datapackage.json", &descriptor.to_string());
    for version in 1..=2 {
        let rows = format!("id,geometry_wkt\n{version},MULTIPOINT ((1 2))\n");
        yearbook.write("places/rows.csv", &rows);
        yearbook.run(&["publish", "places"]).ok();
    }
    yearbook.package("tiny", ROWS);
    yearbook.run(&["publish", "tiny"]).ok();
    let bounds = || -> Vec<_> {
        let folder = yearbook.path("yearbook-data/objects/snapshots");
        let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension() == Some("bounds".as_ref())).collect()
    };
    let migrate = || yearbook.run(&["migrate", "--json"]).ok().json()["bounded"].clone();
    assert_eq!((bounds().len(), migrate()), (2, json!(0)));
    // Older versions get theirs too.
    bounds().into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let said = yearbook.run(&["migrate"]).ok().stdout;
    assert!(said.ends_with(" Stored bounds of rows: 2 snapshots.\n"), "{said}");
    assert_eq!((bounds().len(), migrate()), (2, json!(0)));
    // A version whose file is lost keeps the others from nothing.
    let [lost, other] = bounds().try_into().unwrap();
    std::fs::remove_file(lost.with_extension("parquet")).unwrap();
    [&lost, &other].into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert_eq!((migrate(), bounds()), (json!(1), vec![other]));
}
