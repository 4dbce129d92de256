//! The rules of docs/spec/sdmx.md, over the sample catalogue.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::Value;
use yearbook_sdk::adapter::{
    Document, Example, Fact, Operator, Pick, Question, Reply, Request, Rows,
};
use yearbook_sdk::testing::sample::SampleCatalogue;
use yearbook_sdk::testing::{adapting, encode};
use yearbook_sdmx::{Csv, Sdmx};

const CSV2: &str = "application/vnd.sdmx.data+csv;version=2.0.0";

/// The adapter's answer, and the questions that it asked before.
fn reply(request: &Request) -> (Reply, Vec<Question>) {
    let (catalogue, mut facts, mut asked) = (SampleCatalogue::new(), Vec::new(), Vec::new());
    for _ in 0..4 {
        match adapting::call::<Sdmx>(request, facts.clone()) {
            Reply::Ask(questions) => {
                facts.extend(questions.iter().map(|question| tell(&catalogue, question)));
                asked.extend(questions);
            }
            reply => return (reply, asked),
        }
    }
    panic!("more than four calls");
}

/// The sample catalogue has no format that writes SDMX-ML; a host has.
fn tell(catalogue: &SampleCatalogue, question: &Question) -> Fact {
    match (question, catalogue.answer(question)) {
        (Question::Formats, Fact::Formats(mut formats)) => {
            let mut format = formats[0].clone();
            format.name = "sdmx-ml".to_owned();
            formats.push(format);
            Fact::Formats(formats)
        }
        (_, fact) => fact,
    }
}

fn rows_as(address: &str, accept: &str) -> Rows {
    let request = Example::get(address, 0).header("accept", accept).request;
    match reply(&request).0 {
        Reply::Rows(rows) => rows,
        Reply::Document(document) => panic!("{address}: {}", text(&document)),
        Reply::Ask(_) => unreachable!(),
    }
}

fn rows(address: &str) -> Rows {
    rows_as(address, "*/*")
}

fn document(address: &str) -> Document {
    match reply(&Example::get(address, 0).request).0 {
        Reply::Document(document) => document,
        _ => panic!("{address} has rows"),
    }
}

fn text(document: &Document) -> String {
    String::from_utf8(document.body.clone()).unwrap()
}

fn option<'a>(rows: &'a Rows, name: &str) -> &'a str {
    &rows.options.iter().find(|(option, _)| option == name).unwrap().1
}

#[test]
fn an_adapter_holds_its_interface_contract_17() {
    adapting::check::<Sdmx>();
}

#[test]
fn keys_periods_and_numbers_become_a_selection_contract_19() {
    let address = "/2.1/data/TESTS,HARVEST_LONG,1.0/north+south/TESTS/?startPeriod=2024-Q2\
                   &endPeriod=2024-M11&lastNObservations=2";
    let rows = rows(address);
    let selection = rows.selection;
    assert_eq!(selection.conditions[0].column, "region");
    assert_eq!(selection.conditions[0].values, ["north", "south"]);
    assert_eq!(selection.start.as_deref(), Some("2024-04-01"));
    assert_eq!(selection.end.as_deref(), Some("2024-11-30"));
    // As many rows as were counted: two series of two.
    assert_eq!((selection.pick, selection.limit), (Pick::Last(2), Some(4)));
}

#[test]
fn filters_of_components_are_conditions_contract_19() {
    let address = "/3.0/data/dataflow/TESTS/HARVEST_LONG/+/*?c[REGION]=ne:north+ne:south\
                   &c[TIME_PERIOD]=ge:2024-02+lt:2024-Q4&c[OBS_VALUE]=gt:1.5&c[FINAL]=true";
    let selection = rows(address).selection;
    let of = |column: &str| -> Vec<_> {
        let conditions = selection.conditions.iter().filter(|one| one.column == column);
        conditions.map(|one| (one.operator, one.values.join(","))).collect()
    };
    assert_eq!(
        of("region"),
        [(Operator::NotEqual, "north".to_owned()), (Operator::NotEqual, "south".to_owned())]
    );
    assert_eq!(selection.start.as_deref(), Some("2024-02-01"));
    assert_eq!(of("date"), [(Operator::Lt, "2024-10-01".to_owned())]);
    assert_eq!(of("value"), [(Operator::Gt, "1.5".to_owned())]);
    assert_eq!(of("final"), [(Operator::Equal, "true".to_owned())]);
}

#[test]
fn columns_of_a_wide_table_are_measures_contract_19() {
    let one = rows("/2.1/data/PRICES_WIDE/no");
    assert_eq!(one.selection.columns.as_deref().unwrap(), ["date", "no"]);
    assert_eq!(option(&one, "wide"), "true");
    assert!(one.selection.conditions.is_empty());
    assert_eq!(document("/2.1/data/PRICES_WIDE/gold").status, 404);
    let both = rows("/2.1/data/PRICES_WIDE/cpi+no");
    assert_eq!(both.selection.columns.unwrap().len(), 3);
}

#[test]
fn rows_come_in_series_until_they_are_many_contract_19() {
    let series = rows("/2.1/data/HARVEST_LONG");
    let sort = [("region".to_owned(), false), ("date".to_owned(), false)];
    assert_eq!((&*series.selection.sort, option(&series, "layout")), (&sort[..], "series"));
    let flat = rows("/2.1/data/HARVEST_LONG?dimensionAtObservation=AllDimensions");
    assert_eq!((flat.selection.sort.len(), option(&flat, "layout")), (0, "flat"));
    let request = Example::get("/2.1/data/HARVEST_LONG/north", 0).request;
    let facts = |rows| {
        let (catalogue, mut facts) = (SampleCatalogue::new(), Vec::new());
        loop {
            match adapting::call::<Sdmx>(&request, facts.clone()) {
                Reply::Ask(questions) => {
                    facts.extend(questions.iter().map(|question| match question {
                        Question::Count(_) => Fact::Count((rows, Some(1))),
                        question => tell(&catalogue, question),
                    }))
                }
                Reply::Rows(rows) => return option(&rows, "layout").to_owned(),
                Reply::Document(document) => return document.status.to_string(),
            }
        }
    };
    assert_eq!([facts(10_000), facts(10_001), facts(0)], ["series", "flat", "404"]);
}

#[test]
fn details_leave_columns_out_contract_19() {
    let columns = |address: &str| rows(address).selection.columns.unwrap();
    assert_eq!(columns("/2.1/data/HARVEST_LONG"), ["date", "period", "region", "value", "final"]);
    let only = rows("/2.1/data/HARVEST_LONG?detail=serieskeysonly");
    assert_eq!((only.selection.pick, option(&only, "detail")), (Pick::Last(1), "serieskeysonly"));
    let data = ["date", "period", "region", "value"];
    assert_eq!(columns("/2.1/data/HARVEST_LONG?detail=dataonly"), data);
    assert_eq!(columns("/3.0/data/dataflow/*/HARVEST_LONG?attributes=none"), data);
}

#[test]
fn csv_has_the_ids_of_structures_contract_19() {
    let body = |address: &str, accept: &str| {
        let rows = rows_as(address, accept);
        let table = SampleCatalogue::new().rows(&rows.selection).unwrap();
        let options: Vec<_> = rows
            .options
            .iter()
            .map(|(name, text)| {
                let value = match &**text {
                    "true" | "false" => Value::Boolean(text == "true"),
                    text => Value::Text(text.to_owned()),
                };
                (&**name, value)
            })
            .collect();
        let bytes = encode::<Csv>(&adapting::test_table(&table), &options).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let text = body("/2.1/data/HARVEST_LONG/south?endPeriod=2024-01", CSV2);
    assert_eq!(
        text,
        "STRUCTURE,STRUCTURE_ID,ACTION,REGION,TIME_PERIOD,OBS_VALUE,FINAL\n\
         dataflow,TESTS:HARVEST_LONG(1.0),I,south,2024-01,2.5,true\n"
    );
    let wide = body("/2.1/data/PRICES_WIDE?endPeriod=2024-01", "text/csv");
    assert_eq!(
        wide,
        "DATAFLOW,MEASURE,TIME_PERIOD,OBS_VALUE\n\
         TESTS:PRICES_WIDE(1.0),cpi,2024-01-01,1000.0\n\
         TESTS:PRICES_WIDE(1.0),no,2024-01-01,0\n"
    );
    let keys = body("/2.1/data/HARVEST_LONG/south?detail=serieskeysonly", CSV2);
    assert_eq!(
        keys,
        "STRUCTURE,STRUCTURE_ID,ACTION,REGION\ndataflow,TESTS:HARVEST_LONG(1.0),I,south\n"
    );
}

#[test]
fn availability_without_a_condition_is_free_contract_19() {
    let asked = |address: &str| {
        let (reply, asked) = reply(&Example::get(address, 0).request);
        assert!(matches!(reply, Reply::Document(document) if document.status == 200));
        let is_read = |question: &Question| match question {
            Question::Count(_) => true,
            Question::Values(query) => !query.selection.conditions.is_empty(),
            _ => false,
        };
        asked.iter().filter(|question| is_read(question)).count()
    };
    assert_eq!(asked("/2.1/availableconstraint/HARVEST_LONG"), 0);
    assert_eq!(asked("/3.0/availability/dataflow/*/HARVEST_LONG/*/*?references=all"), 0);
    assert_eq!(asked("/2.1/availableconstraint/HARVEST_LONG/north"), 2);
    let one = text(&document("/2.1/availableconstraint/HARVEST_LONG/all/all/REGION"));
    assert!(one.contains("<com:Value>south</com:Value>") && !one.contains("TimeRange"), "{one}");
}

#[test]
fn tables_without_a_key_are_no_dataflows_contract_19() {
    let list = text(&document("/2.1/dataflow/all"));
    assert!(list.contains("id=\"HARVEST_LONG\"") && !list.contains("id=\"CODES\""));
    let missing = document("/2.1/data/CODES");
    assert_eq!(missing.status, 404);
    assert!(text(&missing).contains("no primary key"), "{}", text(&missing));
}

#[test]
fn an_agency_is_a_namespace_or_the_service_contract_19() {
    for agency in ["all", "TESTS", "YEARBOOK", "ECB+TESTS"] {
        let address = format!("/2.1/dataflow/{agency}/HARVEST_LONG/latest");
        assert_eq!(document(&address).status, 200, "{agency}");
    }
    assert_eq!(document("/2.1/dataflow/ECB/HARVEST_LONG/latest").status, 404);
    assert_eq!(document("/2.1/dataflow/TESTS/HARVEST_LONG/1.1").status, 404);
    let scheme = text(&document("/2.1/agencyscheme/SDMX/AGENCIES"));
    assert!(scheme.contains("<str:Agency id=\"TESTS\">"), "{scheme}");
}

#[test]
fn what_changed_since_is_all_of_a_dataflow_or_nothing_contract_19() {
    assert_eq!(document("/2.1/data/HARVEST_LONG?updatedAfter=2026-07-01T09:00:00").status, 404);
    let all = rows("/2.1/data/HARVEST_LONG?updatedAfter=2026-06-30T09:00:00Z");
    assert!(all.selection.conditions.is_empty());
    assert_eq!(document("/2.1/data/HARVEST_LONG?updatedAfter=soon").status, 400);
}
