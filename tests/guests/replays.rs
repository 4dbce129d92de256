//! Failure dumps, replayed natively: what the host wrote of a call, the plugin's own code gets
//! again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, SchemaRef};
use tempfile::TempDir;
use yearbook_domain::query::options::OptionScalar;
use yearbook_releases::write_dump;
use yearbook_sandbox::adapter::{Method, Request};
use yearbook_sandbox::catalogue::Fact;
use yearbook_sandbox::{
    AdapterCall, AdapterInput, FailureDump, Limits, OptionValue, Plugin, Sandbox,
};
use yearbook_sdk::adapter::Reply;
use yearbook_sdk::testing::{AdapterResult, Table, record_batches, replay};
use yearbook_tests::components::{component, sandbox};

const ROWS: usize = 10_000;

/// Months of two series, with nulls; and text that a format must quote.
fn table() -> (SchemaRef, Vec<RecordBatch>) {
    let text = |value: String| Some(value);
    let date = |row: usize| format!("{:04}-{:02}-01", 1900 + row / 24, row / 2 % 12 + 1);
    let table = Table::new()
        .text("date", &(0..ROWS).map(|row| text(date(row))).collect::<Vec<_>>())
        .dictionary(
            "region",
            &(0..ROWS).map(|row| Some(["a,\"b\"", "é"][row % 2])).collect::<Vec<_>>(),
        )
        .numbers(
            "value",
            &(0..ROWS).map(|row| (row % 7 != 3).then_some(row as f64 / 8.0)).collect::<Vec<_>>(),
        )
        .integers("n", &(0..ROWS).map(|row| i64::try_from(row).ok()).collect::<Vec<_>>())
        .booleans(
            "final",
            &(0..ROWS).map(|row| (row % 5 != 1).then_some(row % 2 == 0)).collect::<Vec<_>>(),
        )
        .about("date", "yearbook.role", "date")
        .about("date", "yearbook.type", "date")
        .about("region", "yearbook.role", "dimension")
        .about("value", "yearbook.role", "value")
        .metadata("yearbook.series", "[\"region\"]");
    record_batches(&table).unwrap()
}

/// A sandbox in which no call may return the result of so many rows.
fn cramped() -> Arc<Sandbox> {
    sandbox(Limits { output_bytes_per_call: 32 << 10, ..Limits::default() })
}

fn written(dump: Option<Box<FailureDump>>, folder: &Path) -> PathBuf {
    write_dump(&dump.unwrap(), folder).unwrap()
}

#[test]
fn a_dump_of_a_format_is_replayed_natively_contract_16() {
    let (folder, (schema, batches)) = (TempDir::new().unwrap(), table());
    let load = |sandbox: Arc<Sandbox>| sandbox.load_encoder(&component("csv")).unwrap();
    let failed = load(cramped()).trial(&schema, &[], &batches, false).unwrap_err();
    let whole = load(sandbox(Limits::default())).trial(&schema, &[], &batches, false).unwrap();
    let dump = replay(written(failed.dump, folder.path()));
    assert_eq!(dump.encoder::<yearbook_csv::CsvEncoder>().unwrap(), whole.parts[0]);
}

#[test]
fn a_dump_of_a_transform_is_replayed_natively_contract_16() {
    let (folder, (schema, batches)) = (TempDir::new().unwrap(), table());
    let trial = |sandbox: Arc<Sandbox>| {
        let Plugin::Transform(growth) = sandbox.load(&component("growth")).unwrap() else {
            panic!("growth is a transform");
        };
        let unit = OptionScalar::Text("month".to_owned());
        let chosen = [OptionValue { name: "unit".to_owned(), value: unit }];
        growth.trial(&schema, &chosen, |_| None, &batches)
    };
    let failed = trial(cramped()).unwrap_err();
    let whole = trial(sandbox(Limits::default())).unwrap();
    let dump = replay(written(failed.dump, folder.path()));
    let grown = dump.transform::<yearbook_growth::Growth>().unwrap().numbers("value");
    let column = |batch: &RecordBatch| -> Vec<Option<f64>> {
        batch.column_by_name("value").unwrap().as_primitive::<Float64Type>().iter().collect()
    };
    assert_eq!(grown, whole.batches.iter().flat_map(column).collect::<Vec<_>>()[..grown.len()]);
    assert!(grown.iter().flatten().count() > 100);
}

#[test]
fn a_dump_of_an_adapter_is_replayed_natively_contract_17() {
    let folder = TempDir::new().unwrap();
    let adapter = sandbox(Limits::default()).load_adapter(&component("evil-adapter")).unwrap();
    let request = Request {
        method: Method::Get,
        base: "https://data.example.org/api/evil".to_owned(),
        path: vec!["header".to_owned()],
        query: vec![("q".to_owned(), "é".to_owned())],
        headers: Vec::new(),
        body: b"\xff".to_vec(),
    };
    let call = AdapterCall::Answer(Arc::new(vec![Fact::Formats(Vec::new())]));
    let input = AdapterInput { request: Arc::new(request), call };
    let failed = adapter.trial(&input).unwrap_err();
    let dump = replay(written(failed.dump, folder.path()));
    let made = dump.adapter::<yearbook_evil_adapter::EvilAdapter>();
    let AdapterResult::Reply(Reply::Document(document)) = made else { panic!("{made:?}") };
    assert_eq!(document.media_type, "text/plain\r\nSet-Cookie: a=b");
}
