//! Formats and how they are asked for (contract-3-accept).

use std::fmt::Write as _;

use arrow::array::AsArray as _;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, harvest, parks};

#[tokio::test]
async fn format_wins_over_accept_and_accept_over_json_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let (json, csv) = ("application/json", "text/csv; charset=utf-8; header=present");
    let (arrow, parquet) =
        ("application/vnd.apache.arrow.stream", "application/vnd.apache.parquet");
    // (query, accept, content type, file name's extension)
    let cases = [
        ("", "*/*", json, ""),
        ("", "text/csv", csv, "csv"),
        ("", "text/html;q=0.9, text/csv;q=0.1", csv, "csv"),
        ("", "application/vnd.apache.arrow.stream", arrow, "arrow"),
        ("", "application/vnd.apache.parquet, application/json;q=0.5", parquet, "parquet"),
        ("format=json", "text/csv", json, ""),
        ("format=csv", "image/png", csv, "csv"),
        ("format=arrow", "*/*", arrow, "arrow"),
        ("format=parquet", "*/*", parquet, "parquet"),
    ];
    for (query, accept, content_type, extension) in cases {
        for method in ["GET", "HEAD"] {
            let reply = app
                .ask(method, &format!("/v1/datasets/harvest/data?{query}"))
                .key(&key)
                .header("accept", accept)
                .send()
                .await;
            assert_eq!(reply.header("content-type"), content_type, "{query} {accept}");
            let disposition = reply.header("content-disposition");
            if extension.is_empty() {
                assert_eq!(disposition, "", "{query} {accept}");
            } else {
                assert!(
                    disposition.starts_with("attachment; filename=\"harvest."),
                    "{disposition}"
                );
            }
        }
    }
    let none =
        app.get("/v1/datasets/harvest/data").key(&key).header("accept", "image/png").send().await;
    assert_eq!(none.outcome(), (406, "not_acceptable".to_owned()));
    assert!(none.text().contains(arrow), "it says what there is: {}", none.text());
}

#[tokio::test]
async fn options_reach_the_encoder_and_wrong_ones_are_422() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let get = async |query: &str| {
        app.get(&format!("/v1/datasets/harvest/data?limit=1&{query}")).key(&key).send().await
    };
    assert_eq!(
        get("format=csv&csv.delimiter=;").await.text().lines().next(),
        Some("date;region;value;final")
    );
    assert_eq!(get("format=csv&csv.delimiter=long").await.problems().len(), 1);
    assert_eq!(get("format=csv&csv.unknown=1").await.status, 200);
    let enveloped = get("envelope=true").await.json();
    assert!(enveloped["data"].is_array() && enveloped["data_sources"].is_array(), "{enveloped}");
    assert!(
        get("envelope=true&format=csv").await.text().starts_with("date,"),
        "ignored outside JSON"
    );
}

#[tokio::test]
async fn csv_for_spreadsheets_is_asked_for_contract_3() {
    let app = TestApp::start().await;
    let rows = "date,region,value,final\n2020-01-01,=1+1,-5,true\n2020-01-02,north,-5,true\n";
    app.publish(&harvest().with_rows(rows)).await;
    let key = app.key(Plan::Enterprise).await;
    let get = async |query: &str| {
        let path = format!("/v1/datasets/harvest/data?format=csv&columns=region,value{query}");
        app.get(&path).key(&key).send().await.text()
    };
    let plain = "region,value\n=1+1,-5.0\nnorth,-5.0\n";
    assert_eq!(get("").await, plain);
    assert_eq!(get("&csv.bom=true").await, format!("\u{feff}{plain}"));
    assert_eq!(get("&csv.escape_formulas=true").await, plain.replace("=1", "'=1"));
    let described = app.get("/openapi.json").send().await.json();
    let data = described["paths"]["/v1/datasets/{name}/data"]["get"]["parameters"].to_string();
    assert!(data.contains("csv.bom") && data.contains("csv.escape_formulas"), "{data}");
}

#[tokio::test]
async fn empty_results_are_whole_documents_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let get = async |format: &str| {
        app.get(&format!("/v1/datasets/harvest/data?start=2099-01-01&format={format}"))
            .key(&key)
            .send()
            .await
    };
    assert_eq!(get("json").await.text(), "[]");
    assert_eq!(get("csv").await.text(), "date,region,value,final\n");
    assert!(get("parquet").await.body.ends_with(b"PAR1"));
    assert!(!get("arrow").await.body.is_empty());
}

#[tokio::test]
async fn coordinates_of_geoparquet_are_the_numbers_of_the_text_contract_3() {
    let app = TestApp::start().await;
    app.load("geoparquet");
    // Any number of digits behind the point, in sixteen bytes and in more, and what is written in
    // more than digits.
    let digits = "9081726354453627180918273645";
    let mut rows = "park,area,geometry_wkt\n".to_owned();
    for length in 0..=20 {
        let fraction = format!(".{}", &digits[length % 7..length % 7 + length]);
        let fraction = if length > 0 { fraction.as_str() } else { "" };
        let wholes = ["0", "-0", "7", "-8", "12", "-89"];
        let mut numbers = wholes.map(|whole| format!("{whole}{fraction}")).to_vec();
        numbers.extend(["1e1", "-2.5E-3"].map(str::to_owned));
        let mut line: Vec<String> = numbers.iter().map(|x| format!("{x} {}", numbers[3])).collect();
        line.push(format!("-179{fraction} {}", numbers[5]));
        let _ =
            writeln!(rows, "line {length},{length},\"MULTILINESTRING (({}))\"", line.join(", "));
        for (index, number) in numbers.iter().enumerate() {
            // There are less than sixteen bytes behind the second one.
            let _ =
                writeln!(rows, "point {length} {index},{length},MULTIPOINT (({number} {number}))");
        }
    }
    app.publish(&parks().with_rows(&rows)).await;
    let key = app.key(Plan::Enterprise).await;
    let data = "/v1/datasets/parks/data?limit=1000&columns=geometry_wkt";
    let texts = app.get(data).key(&key).send().await.json();
    let file = app.get(&format!("{data}&format=geoparquet")).key(&key).send().await;
    let batches = ParquetRecordBatchReaderBuilder::try_new(file.body.clone()).unwrap();
    let mut expected = texts.as_array().unwrap().iter();
    for batch in batches.build().unwrap() {
        let batch = batch.unwrap();
        for found in batch.column(0).as_binary::<i32>().iter().flatten() {
            let text = expected.next().unwrap()["geometry_wkt"].as_str().unwrap();
            let numbers = text.split(|byte: char| {
                byte.is_ascii_uppercase() && byte != 'E' || "(), ".contains(byte)
            });
            let numbers = numbers.filter_map(|number| number.parse::<f64>().ok());
            let numbers: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
            assert!(numbers.len() >= 16 && found.ends_with(&numbers), "{text}");
            // Byte order, kind and number of parts, and of the part; a point has no number.
            let head = if text.starts_with("MULTIPOINT") { 14 } else { 18 };
            assert_eq!(found.len() - numbers.len(), head, "{text}");
        }
    }
    assert_eq!(expected.next(), None);
}
