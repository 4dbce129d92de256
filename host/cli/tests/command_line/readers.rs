//! Packages in formats that readers read (contract-7-readers). Needs the built-in readers (`cargo
//! xtask plugins`).

use serde_json::{Value, json};

use crate::binary::Yearbook;
use crate::plugin::{built, patched};

/// A package of this file and these fields (`name:type`).
fn package(
    yearbook: &Yearbook,
    (file, bytes): (&str, &str),
    format: &str,
    fields: &[&str],
    extension: &Value,
) {
    yearbook.write(&format!("crops/{file}"), bytes);
    let field = |field: &&str| {
        let (name, kind) = field.split_once(':').unwrap();
        json!({ "name": name, "type": kind })
    };
    let mut members = json!({ "namespace": "tests" });
    for (key, value) in extension.as_object().unwrap() {
        members[key] = value.clone();
    }
    let descriptor = json!({
        "name": "crops",
        "licenses": [{ "name": "CC-BY-4.0" }],
        "sources": [{ "title": "Stats NZ", "path": "https://stats.govt.nz/crops" }],
        "resources": [{
            "path": file,
            "format": format,
            "schema": { "fields": fields.iter().map(field).collect::<Vec<_>>() },
        }],
        "yearbook": members,
    });
    yearbook.write("crops/datapackage.json", &descriptor.to_string());
}

fn snapshot(yearbook: &Yearbook) -> String {
    let published = yearbook.run(&["publish", "crops", "--json"]).ok().json();
    published["snapshot_id"].as_str().unwrap().to_owned()
}

const SDMX: &str = "STRUCTURE,STRUCTURE_ID,ACTION,REF_AREA:Area,TIME_PERIOD:Time,OBS_VALUE:Value\n\
    dataflow,T:C(1.0),I,NZ: New Zealand,2024-Q1,12.5\n\
    dataflow,T:C(1.0),I,AU: Australia,2024-Q1,NaN\n";

const JSON_STAT: &str = r#"{"version":"2.0","class":"dataset","id":["geo","time"],"size":[2,1],"value":[12.5,null],
    "dimension":{"geo":{"category":{"index":["NZ","AU"],"label":{"NZ":"New Zealand","AU":"Australia"}}},
    "time":{"category":{"index":["2024Q1"]}}}}"#;

const SDMX_ML: &str = r#"<m:StructureSpecificData xmlns:m="m"><m:DataSet><Group K="a" CONF_STATUS="C"/>
    <Series K="a"><Obs OBS_VALUE="1"/></Series><Series K="b" CONF_STATUS="F"><Obs OBS_VALUE="2"/></Series></m:DataSet></m:StructureSpecificData>"#;

const FIELDS: [&str; 5] =
    ["date:date", "period:string", "area:string", "name:string", "value:number"];

#[test]
fn a_table_in_a_format_of_a_reader_is_the_same_snapshot_as_in_csv_contract_7() {
    let yearbook = Yearbook::new();
    let csv = "date,period,area,name,value\n2024-01-01,2024-Q1,NZ,New Zealand,12.5\n2024-01-01,2024-Q1,AU,Australia,\n";
    package(&yearbook, ("a.csv", csv), "csv", &FIELDS, &json!({}));
    let expected = snapshot(&yearbook);
    let columns = json!({
        "source_columns": { "date": "TIME_PERIOD", "period": "TIME_PERIOD", "area": "REF_AREA",
            "name": "REF_AREA label", "value": "OBS_VALUE" },
    });
    // A description in the file would be part of the snapshot.
    let plain = SDMX.replace(":Area", ": ").replace(":Time", "").replace(":Value", "");
    package(&yearbook, ("b.csv", &plain), "sdmx-csv", &FIELDS, &columns);
    assert_eq!(snapshot(&yearbook), expected);
    let columns = json!({
        "source_columns": { "date": "time", "period": "time", "area": "geo", "name": "geo label" },
        "reader_options": { "missing": "keep" },
    });
    package(&yearbook, ("c.json", JSON_STAT), "json-stat", &FIELDS, &columns);
    assert_eq!(snapshot(&yearbook), expected);
    // The same with the texts that agencies write where there is no value.
    let columns = json!({
        "source_columns": { "date": "time", "period": "time", "area": "geo", "name": "geo label" },
        "reader_options": { "missing": "keep", "missing_values": ": .." },
    });
    let marked = JSON_STAT.replace("null", "\":\"").replace("2024Q1", "2024K1");
    package(&yearbook, ("d.json", &marked), "json-stat", &FIELDS, &columns);
    assert_eq!(snapshot(&yearbook), expected);
}

/// A table of the Central Statistics Office of Ireland as it is served, beside the same cells as
/// CSV that this test writes from the cube.
#[test]
fn a_cube_that_an_agency_serves_is_the_same_snapshot_as_its_cells_in_csv_contract_7() {
    let yearbook = Yearbook::new();
    let file = include_str!("../../../../tests/fixtures/agencies/cso_life_tables.json");
    let cube: Value = serde_json::from_str(file).unwrap();
    let category = |id: &str| &cube["dimension"][id]["category"];
    let codes = |id: &str| category(id)["index"].as_array().unwrap().iter();
    let label = |id: &str, code: &Value| category(id)["label"][code.as_str().unwrap()].clone();
    let mut csv = "date,period,sex,sex_name,age,statistic,value\n".to_owned();
    let mut values = cube["value"].as_array().unwrap().iter();
    for sex in codes("C02199V02655") {
        let name = label("C02199V02655", sex);
        for age in codes("C02076V02508") {
            for year in codes("TLIST(A1)") {
                for statistic in codes("STATISTIC") {
                    let date = format!("{}-01-01", year.as_str().unwrap());
                    let statistic = label("STATISTIC", statistic);
                    let value = values.next().unwrap();
                    csv += &format!("{date},{year},{sex},{name},{age},{statistic},{value}\n");
                }
            }
        }
    }
    assert!(values.next().is_none());
    let package = |file: &str, text: &str, format: &str, extension: Value| {
        yearbook.write(&format!("life/{file}"), text);
        let field = |name: &str, kind: &str, description: &str| match description {
            "" => json!({ "name": name, "type": kind }),
            text => json!({ "name": name, "type": kind, "description": text }),
        };
        // The file describes its dimensions; in CSV the descriptor has to.
        let told = |text: &'static str| if format == "csv" { text } else { "" };
        let mut members = extension;
        members["namespace"] = json!("cso");
        members["dimensions"] = json!(["sex", "age", "statistic"]);
        members["attribution_text"] = json!(
            "Central Statistics Office, Ireland. Contains Irish Public Sector Data licensed under a Creative Commons Attribution 4.0 International (CC BY 4.0) licence."
        );
        let descriptor = json!({
            "name": "irish_life_tables",
            "licenses": [{ "name": "CC-BY-4.0" }],
            "sources": [{ "title": "Central Statistics Office, Ireland", "path": "https://data.cso.ie/table/VSA32" }],
            "resources": [{
                "path": file,
                "format": format,
                "schema": {
                    "fields": [
                        field("date", "date", told("Year")),
                        field("period", "string", told("Year")),
                        field("sex", "string", told("Sex")),
                        field("sex_name", "string", told("Sex")),
                        field("age", "string", told("Age x")),
                        field("statistic", "string", told("Statistic")),
                        field("value", "number", ""),
                    ],
                    "primaryKey": ["period", "sex", "age", "statistic"],
                },
            }],
            "yearbook": members,
        });
        yearbook.write("life/datapackage.json", &descriptor.to_string());
        yearbook.run(&["publish", "life", "--json"]).ok().json()
    };
    let columns = json!({ "source_columns": {
        "date": "TLIST(A1)", "period": "TLIST(A1)", "sex": "C02199V02655", "sex_name": "C02199V02655 label",
        "age": "C02076V02508", "statistic": "STATISTIC label",
    } });
    let read = package("vsa32.json", file, "json-stat", columns);
    assert_eq!((&read["rows"], &read["status"]), (&json!(5936), &json!("new")));
    let written = package("vsa32.csv", &csv, "csv", json!({}));
    assert_eq!(written["snapshot_id"], read["snapshot_id"]);
    assert_eq!(written["status"], json!("unchanged"));
}

/// A file that software of the Transport Data Commons wrote, beside the same cells as plain CSV.
#[test]
fn observations_that_others_exchange_are_the_same_snapshot_as_their_cells_in_csv_contract_7() {
    let yearbook = Yearbook::new();
    let file = include_str!("../../../../tests/fixtures/agencies/ember_carbon_intensity.csv");
    let mut csv = "date,period,country,value,comment\n".to_owned();
    for line in file.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let ["dataflow", "TDCI:EMBER_001(1.0.0)", "I", country, year, value, comment] = cells[..]
        else {
            panic!("{line}");
        };
        csv += &format!("{year}-01-01,{year},{country},{value},{comment}\n");
    }
    assert_eq!(csv.lines().count(), 121);
    let fields = ["date:date", "period:string", "country:string", "value:number", "comment:string"];
    let columns = json!({
        "source_columns": { "date": "YEAR", "period": "YEAR", "country": "COUNTRY",
            "value": "OBS_VALUE", "comment": "COMMENT" },
        "dimensions": ["country"],
    });
    package(&yearbook, ("ember.csv", file), "sdmx-csv", &fields, &columns);
    let read = snapshot(&yearbook);
    let columns = json!({ "dimensions": ["country"] });
    package(&yearbook, ("plain.csv", &csv), "csv", &fields, &columns);
    assert_eq!(snapshot(&yearbook), read);
}

#[test]
fn geojson_is_the_same_snapshot_as_well_known_text_in_csv_contract_7() {
    let yearbook = Yearbook::new();
    let fields = ["id:integer", "geometry_wkt:string"];
    let csv = "id,geometry_wkt\n1,\"MULTIPOLYGON (((0 0,1 0,1 1,0 0)))\"\n2,\n";
    package(&yearbook, ("a.csv", csv), "csv", &fields, &json!({}));
    let expected = snapshot(&yearbook);
    let features = r#"{"type":"FeatureCollection","features":[
        {"type":"Feature","properties":{"id":1},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}},
        {"type":"Feature","properties":{"id":2},"geometry":null}]}"#;
    package(&yearbook, ("a.geojson", features), "geojson", &fields, &json!({}));
    assert_eq!(snapshot(&yearbook), expected);
}

#[test]
fn facts_that_the_file_tells_fill_what_the_descriptor_leaves_open_contract_7() {
    let yearbook = Yearbook::new();
    let text = JSON_STAT.replace(
        r#""dimension":{"#,
        r#""role":{"metric":["m"]},"dimension":{"m":{"category":{"label":{"Y":"Yield"},"unit":{"Y":{"base":"t/ha"}}}},"#,
    );
    let text =
        text.replace(r#"["geo","time"]"#, r#"["m","geo","time"]"#).replace("[2,1]", "[1,2,1]");
    let columns = json!({ "source_columns": { "date": "time", "area": "geo" } });
    let fields = ["date:date", "area:string", "value:number"];
    package(&yearbook, ("a.json", &text), "json-stat", &fields, &columns);
    snapshot(&yearbook);
    let shown = yearbook.run(&["datasets", "show", "crops", "--json"]).ok().stdout;
    assert!(shown.contains("t/ha"), "{shown}");
}

#[test]
fn what_a_reader_refuses_is_said_with_its_place_contract_7() {
    let yearbook = Yearbook::new();
    let columns = json!({ "source_columns": { "value": "OBS_VALUE" } });
    let fields = ["value:number"];
    let refused = |file: (&str, &str), format: &str, fields: &[&str], extension: &Value| {
        package(&yearbook, file, format, fields, extension);
        yearbook.run(&["publish", "crops"]).failed(1)
    };
    for (file, format, extension, expected) in [
        (
            SDMX.replace("12.5", "many"),
            "sdmx-csv",
            &columns,
            "as SDMX-CSV: line 2, value: is not a number",
        ),
        (
            SDMX_ML.to_owned(),
            "sdmx-ml",
            &json!({ "source_columns": { "value": "CONF_STATUS" } }),
            "as SDMX-ML: line 1, value: stands at a group",
        ),
        (SDMX[..SDMX.len() - 6].to_owned(), "sdmx-csv", &columns, "line 3: has 5 fields"),
        (JSON_STAT[..80].to_owned(), "json-stat", &json!({}), "as JSON-stat: line 1, byte 80"),
        ("[".repeat(1000), "geojson", &json!({}), "as GeoJSON: line 1, byte 0"),
        (
            SDMX.to_owned(),
            "sdmx-csv",
            &json!({}),
            "line 1, value: the file has no column \"value\"",
        ),
        (
            SDMX.to_owned(),
            "sdmx-csv",
            &json!({ "source_columns": { "worth": "X" } }),
            "there is no column \"worth\"; the nearest is \"value\"",
        ),
        (
            SDMX.to_owned(),
            "sdmx-csv",
            &json!({ "reader_options": { "comma": true } }),
            "yearbook.reader_options.comma is no option of the reader sdmx-csv; it has delimiter, missing_values, nulls, escaped, period_date",
        ),
        (
            SDMX.to_owned(),
            "sdmx-csv",
            &json!({ "reader_options": { "delimiter": "pipe" } }),
            "is \"pipe\"; it takes auto, comma, semicolon, tab",
        ),
        (SDMX.to_owned(), "csv", &columns, "is for files that a reader reads"),
        (SDMX.to_owned(), "xlsx", &columns, "no reader for the format \"xlsx\" is installed"),
        (SDMX.to_owned(), "../x", &columns, "\"../x\" is no format"),
    ] {
        let said = refused(("a.csv", &file), format, &fields, extension);
        assert!(said.contains(expected), "{said}\n{expected}");
        assert!(!said.contains("wasm trap") && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn an_installed_reader_goes_before_the_built_in_one_and_no_server_loads_it_contract_7() {
    let yearbook = Yearbook::new();
    let component = built("read-sdmx-csv");
    let installed = yearbook.run(&["plugin", "install", &component, "--json"]).ok().json();
    assert_eq!(
        (&installed["kind"], &installed["state"]),
        (&json!("reader"), &json!("promoted")),
        "{installed}"
    );
    let columns = json!({ "source_columns": { "value": "OBS_VALUE" } });
    package(&yearbook, ("a.csv", SDMX), "sdmx-csv", &["value:number"], &columns);
    snapshot(&yearbook);
    // Publishing follows, and no host does.
    let next = "the next `yearbook publish` or `refresh`";
    let newer = patched(&yearbook, "read-sdmx-csv", b"0.1.0", b"0.2.0");
    let said = yearbook.run(&["plugin", "install", &newer]).ok().stdout;
    for part in [next, "instead of", "`yearbook plugin rollback reader/sdmx-csv`"] {
        assert!(said.contains(part) && !said.contains("hosts"), "{part}: {said}");
    }
    let said = yearbook.run(&["plugin", "rollback", "reader/sdmx-csv"]).ok().stdout;
    assert!(said.to_lowercase().contains(next) && !said.contains("hosts"), "{said}");
    let removed = yearbook.run(&["plugin", "remove", "reader/sdmx-csv"]).ok().stdout;
    assert!(removed.contains("removed. Nothing of that name is left"), "{removed}");
    assert!(removed.contains(next) && !removed.contains("hosts"), "{removed}");
    let again = yearbook.run(&["publish", "crops", "--json"]).ok().json();
    assert_eq!(again["status"], json!("unchanged"), "the built-in one reads the same");
}

#[test]
fn the_built_in_readers_pass_their_check_contract_6() {
    let yearbook = Yearbook::new();
    for name in ["read-sdmx-csv", "read-sdmx-ml", "read-json-stat", "read-geojson"] {
        let report = yearbook.run(&["plugin", "check", &built(name), "--json"]).ok().json();
        assert_eq!(
            (&report["kind"], &report["findings"]),
            (&json!("reader"), &json!([])),
            "{name}"
        );
    }
}
