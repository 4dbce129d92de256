//! Tables that are served in a format of SDMX and published again by a reader, and flags and labels
//! of files. Needs plugins (`cargo xtask plugins`).

use std::path::Path;

use serde_json::{Value, json};

use crate::plugin::built;
use crate::serve::within_two_seconds;
use crate::served::CliServer;

/// Formats that are not built in.
const FORMATS: [&str; 2] = ["sdmx-csv", "sdmx-ml"];

/// A server of these folders, with all formats.
fn server(folders: &[&str]) -> CliServer {
    let server = CliServer::start(&[("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")]);
    for format in FORMATS {
        server.folder().run(&["plugin", "install", &built(format), "--now"]).ok();
    }
    for folder in folders {
        server.folder().run(&["publish", folder]).ok();
    }
    server
}

/// The body of an answer, once there is one. HTTP/1.0 has no chunks in it.
fn body(server: &CliServer, path: &str, accept: &str) -> String {
    let CliServer { key, .. } = server;
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: x\r\nAccept: {accept}\r\nX-API-Key: {key}\r\n\r\n");
    let mut answer = String::new();
    within_two_seconds(|| {
        answer = server.raw(request.as_bytes());
        answer.contains(" 200 OK")
    });
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// Publishes what was sent with the descriptor of the table that it was of; the table is the same.
fn comes_back(server: &CliServer, descriptor: &Value, sent: &str, format: &str, reading: &Value) {
    let mut descriptor = descriptor.clone();
    let resource = &mut descriptor["resources"][0];
    resource["path"] = json!("sent");
    resource["format"] = json!(format);
    for key in ["compression", "mediatype", "encoding", "hash", "bytes", "dialect"] {
        resource.as_object_mut().unwrap().remove(key);
    }
    for (key, value) in reading.as_object().unwrap() {
        descriptor["yearbook"][key] = value.clone();
    }
    let name = descriptor["name"].as_str().unwrap();
    let folder = format!("again/{name}");
    server.folder().write(&format!("{folder}/sent"), sent);
    server.folder().write(&format!("{folder}/datapackage.json"), &descriptor.to_string());
    let published = server.folder().run(&["publish", &folder, "--json"]).ok().json();
    assert_eq!(published["status"], "unchanged", "{name} as {format}: {published}");
}

/// Texts that are no ids of SDMX or that readers take for null, values that are no plain numbers,
/// nulls of every type, statuses, and text that looks like an id of ours and is none.
const ODD: &str = "date,period,region,age,value,obs_status,note,amount,checked\n\
    2024-01-01,2024-Q1,New Zealand,1.5,1.5,A,\"a \"\"quote\"\", commas, <&>\",1,true\n\
    2024-01-01,2024-Q1,\"\",1.5,-0,E,\"\",,\n\
    2024-01-01,2024-Q1,Ōtaki,-2,NaN,A,..,-3,false\n\
    2024-01-01,2024-Q1,01,0,INF,,#N/A,9007199254740993,\n\
    2024-01-01,2024-Q1,$,0,,M,$41,,\n\
    2024-01-01,2024-Q1,$24,0,1e-300,P,$20,,\n\
    2024-01-01,2024-Q1,\"NZ: North, South\",0,0.1,A,\"x: y\",,\n\
    2024-04-01,2024-Q2,\"two\nlines\",0,3,A,\"tab\t, line\n\",,\n\
    2024-04-01,2024-Q2,#N/A,0,4,A,NaN,,\n\
    2024-04-01,2024-Q2, ,0,5,A, ,,\n";

fn odd() -> Value {
    let field = |name: &str, kind: &str| json!({ "name": name, "type": kind });
    json!({
        "name": "odd",
        "licenses": [{ "name": "CC-BY-4.0" }],
        "sources": [{ "title": "Test agency", "path": "https://example.org/odd" }],
        "resources": [{ "path": "odd.csv", "schema": {
            "fields": [
                field("date", "date"), field("period", "string"), field("region", "string"),
                field("age", "string"), field("value", "number"), field("obs_status", "string"),
                field("note", "string"), field("amount", "integer"), field("checked", "boolean"),
            ],
            "primaryKey": ["date", "region", "age"],
        } }],
        "yearbook": {
            "namespace": "tests", "date_filter_column": "date", "dimensions": ["region"],
            "value_columns": ["value"],
            "status": { "obs_status": { "of": ["value"], "codes": "sdmx-obs" } },
        },
    })
}

fn server_of_odd() -> CliServer {
    let server = server(&[]);
    server.folder().write("odd/odd.csv", ODD);
    server.folder().write("odd/datapackage.json", &odd().to_string());
    server.folder().run(&["publish", "odd"]).ok();
    server
}

/// A package of the repository: its folder and its descriptor.
fn package(name: &str) -> (String, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets").join(name);
    let text = std::fs::read_to_string(folder.join("datapackage.json")).unwrap();
    (folder.to_str().unwrap().to_owned(), serde_json::from_str(&text).unwrap())
}

#[test]
fn what_is_sent_as_sdmx_csv_is_the_same_snapshot_when_it_is_published_again_contract_7() {
    let server = server_of_odd();
    let sent = body(&server, "/v1/datasets/odd/data?format=sdmx-csv&limit=0", "*/*");
    let reading = json!({
        "source_columns": { "period": "TIME_PERIOD", "value": "OBS_VALUE" },
        "reader_options": { "nulls": "exact" },
    });
    comes_back(&server, &odd(), &sent, "sdmx-csv", &reading);
}

#[test]
fn demo_data_that_is_sent_as_sdmx_csv_comes_back_contract_7() {
    // All rows at once are not sent with geometry.
    let tables = [
        ("us_unemployment_by_industry", Some("value"), 0),
        ("un_urban_agglomerations", None, 1000),
        ("nz_regions_indicators", None, 1000),
    ];
    let packages = tables.map(|(name, ..)| package(name));
    let server = server(&packages.each_ref().map(|(folder, _)| folder.as_str()));
    for ((name, value, limit), (_, descriptor)) in tables.iter().zip(&packages) {
        let has_period = descriptor.to_string().contains("\"period\"");
        let mut columns = json!({});
        if let Some(value) = value {
            columns[value] = json!("OBS_VALUE");
        }
        // A table without times takes what it has for one.
        let time = if has_period { "period" } else { "name" };
        columns[time] = json!("TIME_PERIOD");
        let option = if has_period { "" } else { "&sdmx-csv.time_period=name" };
        let path = format!("/v1/datasets/{name}/data?format=sdmx-csv&limit={limit}{option}");
        let reading = json!({
            "source_columns": columns, "reader_options": { "nulls": "exact" },
        });
        comes_back(&server, descriptor, &body(&server, &path, "*/*"), "sdmx-csv", &reading);
    }
}

#[test]
fn what_the_sdmx_api_sends_as_csv_comes_back_contract_7() {
    let (folder, descriptor) = package("us_unemployment_by_industry");
    let server = server_of_odd();
    server.folder().run(&["publish", &folder]).ok();
    for version in ["1.0.0", "2.0.0"] {
        let accept = format!("application/vnd.sdmx.data+csv;version={version}");
        let sent = body(&server, "/api/sdmx/2.1/data/ODD", &accept);
        assert!(sent.contains("New$20Zealand,1$2E5,2024-Q1,1.5,"), "{sent}");
        let reading = json!({
            "source_columns": {
                "date": "TIME_PERIOD", "period": "TIME_PERIOD", "value": "OBS_VALUE",
            },
            "reader_options": { "nulls": "exact", "escaped": "REGION AGE OBS_STATUS" },
        });
        comes_back(&server, &odd(), &sent, "sdmx-csv", &reading);
        let sent = body(&server, "/api/sdmx/2.1/data/US_UNEMPLOYMENT_BY_INDUSTRY", &accept);
        let reading = json!({
            "source_columns": {
                "date": "TIME_PERIOD", "period": "TIME_PERIOD", "measure": "MEASURE_",
                "value": "OBS_VALUE",
            },
            "reader_options": { "nulls": "exact", "escaped": "INDUSTRY MEASURE_" },
        });
        comes_back(&server, &descriptor, &sent, "sdmx-csv", &reading);
    }
}

#[test]
fn what_is_sent_as_sdmx_ml_is_the_same_snapshot_when_it_is_published_again_contract_7() {
    let tables = ["us_unemployment_by_industry", "us_personal_income"].map(package);
    let server = server_of_odd();
    for (folder, _) in &tables {
        server.folder().run(&["publish", folder]).ok();
    }
    let time = json!({ "date": "TIME_PERIOD", "period": "TIME_PERIOD" });
    let with = |column: &str, id: &str| {
        let mut columns = time.clone();
        columns[column] = json!(id);
        columns
    };
    let reading = |columns: Value, escaped: &str| {
        json!({
            "source_columns": columns,
            "reader_options": { "nulls": "exact", "escaped": escaped, "optional": "OBS_VALUE" },
        })
    };
    let mut industries = with("measure", "MEASURE_");
    industries["value"] = json!("OBS_VALUE");
    let [(_, unemployment), (_, income)] = &tables;
    let odd = odd();
    for (descriptor, reading) in [
        (&odd, reading(with("value", "OBS_VALUE"), "REGION AGE OBS_STATUS")),
        (unemployment, reading(industries, "INDUSTRY MEASURE_")),
        (income, reading(with("income_per_capita", "OBS_VALUE"), "AREA_CODE")),
    ] {
        let name = descriptor["name"].as_str().unwrap();
        for options in ["", "&sdmx-ml.version=3.0", "&sdmx-ml.layout=series"] {
            let path = format!("/v1/datasets/{name}/data?format=sdmx-ml&limit=0{options}");
            comes_back(&server, descriptor, &body(&server, &path, "*/*"), "sdmx-ml", &reading);
        }
        let path = format!("/api/sdmx/3.0/data/dataflow/*/{}", name.to_uppercase());
        comes_back(&server, descriptor, &body(&server, &path, "*/*"), "sdmx-ml", &reading);
    }
}

/// The examples of a chapter of the page about readers, each as the members of an object.
fn examples(chapter: &str) -> Vec<Value> {
    let page = include_str!("../../../../docs/publishing.md");
    let text = page.split("\n## ").find(|text| text.starts_with(chapter)).unwrap();
    let blocks = text.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(&format!("{{{block}}}")).unwrap()).collect()
}

#[test]
fn flags_and_labels_of_a_file_are_what_the_package_says_contract_7() {
    let [example, own, of_json] = &examples("Flags and labels of a file")[..] else {
        panic!("three examples");
    };
    let mut agency = own.clone();
    agency["source_columns"] = json!({
        "date": "TIME_PERIOD", "ref_area": "geo", "area_name": "OBS_VALUE", "obs_flag": "OBS_FLAG",
    });
    let mut cube = own.clone();
    cube["source_columns"] = of_json["source_columns"].clone();
    cube["labels"] = example["yearbook"]["labels"].clone();
    let server = server(&[]);
    for (name, format, text, yearbook, flag, label, refused) in [
        (
            "sent_with_labels",
            "sdmx-csv",
            "STRUCTURE,STRUCTURE_ID,ACTION,REF_AREA:Area,TIME_PERIOD:Time,OBS_VALUE:Value,OBS_STATUS:Flag\n\
             dataflow,T:C(1.0),I,NZ: New Zealand,2024,12.5,P: Provisional\n",
            &example["yearbook"],
            "obs_status",
            json!(["New Zealand", "Provisional value"]),
            "Q: Missing",
        ),
        (
            "of_an_agency",
            "sdmx-csv",
            "DATAFLOW,LAST UPDATE,freq,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG\nESTAT:X(1.0),,A,NZ,2024,12.5,p\n",
            &agency,
            "obs_flag",
            json!([null, "Provisional"]),
            "c",
        ),
        (
            "cube",
            "json-stat",
            r#"{"version":"2.0","class":"dataset","id":["geo","time"],"size":[1,1],"value":[12.5],"status":["p"],
                "dimension":{"geo":{"category":{"index":["NZ"],"label":{"NZ":"New Zealand"}}},
                "time":{"category":{"index":["2024"]}}}}"#,
            &cube,
            "obs_flag",
            json!(["New Zealand", "Provisional"]),
            "c",
        ),
    ] {
        let mut schema = example["schema"].clone();
        schema["fields"][4]["name"] = json!(flag);
        let mut yearbook = yearbook.clone();
        yearbook["namespace"] = json!("tests");
        yearbook["value_columns"] = json!(["obs_value"]);
        let descriptor = json!({
            "name": name,
            "licenses": [{ "name": "CC-BY-4.0" }],
            "sources": [{ "title": "Test agency", "path": "https://example.org/flags" }],
            "resources": [{ "path": "file", "format": format, "schema": schema }],
            "yearbook": yearbook,
        });
        let folder = server.folder();
        folder.write(&format!("{name}/datapackage.json"), &descriptor.to_string());
        folder.write(&format!("{name}/file"), text);
        folder.run(&["publish", name]).ok();
        let path = format!("/v1/datasets/{name}/values?columns=ref_area,{flag}");
        let values: Value = serde_json::from_str(&body(&server, &path, "*/*")).unwrap();
        let labels = values["columns"].as_array().unwrap().iter();
        let labels: Vec<&Value> = labels.map(|column| &column["values"][0]["label"]).collect();
        assert_eq!(json!(labels), label, "{values}");
        let secret = text.replace("P: Provisional", refused).replace(",p\n", ",c\n");
        folder.write(&format!("{name}/file"), &secret.replace("\"p\"", "\"c\""));
        let said = folder.run(&["publish", name]).failed(1);
        assert!(said.contains("obs_value") && !said.contains("12.5"), "{said}");
    }
}
