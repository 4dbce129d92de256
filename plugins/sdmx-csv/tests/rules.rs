//! The rules of SDMX-CSV 2.0, as far as the columns of a dataset meet them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value};
use yearbook_sdmx_csv::SdmxCsvEncoder;

fn table() -> Table {
    Table::new()
        .text("day", &[Some("2020-03-31"), Some("2020-06-30")])
        .text("quarter", &[Some("2020-Q1"), Some("2020-Q2")])
        .dictionary("region", &[Some("a,b"), None])
        .numbers("jobs", &[Some(1.5), None])
        .text("flag", &[Some(""), Some("p")])
        .about("day", "yearbook.role", "date")
        .about("quarter", "yearbook.role", "period")
        .about("region", "yearbook.role", "dimension")
        .about("jobs", "yearbook.role", "value")
        .metadata("yearbook.namespace", "stats")
        .metadata("yearbook.dataset", "labour")
}

fn text(table: &Table, options: &[(&str, &str)]) -> Result<String, Error> {
    let options: Vec<_> =
        options.iter().map(|(name, value)| (*name, Value::Text((*value).to_owned()))).collect();
    encode::<SdmxCsvEncoder>(table, &options).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn conforms() {
    conformance::check::<SdmxCsvEncoder>(|bytes| {
        let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
        assert_eq!(
            reader.headers().unwrap().iter().take(3).collect::<Vec<_>>(),
            ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
        );
        reader.records().filter(|record| &record.as_ref().unwrap()[0] == "dataflow").count()
    });
}

#[test]
fn structure_time_and_value_stand_under_their_names() {
    let expected = "STRUCTURE,STRUCTURE_ID,ACTION,day,TIME_PERIOD,region,OBS_VALUE,flag\n\
                    dataflow,stats:labour(1.0),I,2020-03-31,2020-Q1,\"a,b\",1.5,\"\"\n\
                    dataflow,stats:labour(1.0),I,2020-06-30,2020-Q2,,,p\n";
    assert_eq!(text(&table(), &[]).unwrap(), expected);
}

#[test]
fn parameters_say_what_columns_cannot() {
    let options = [
        ("structure_id", "OECD:MEI(4.0)"),
        ("structure", "datastructure"),
        ("action", "R"),
        ("time_period", "day"),
        ("obs_value", "flag"),
    ];
    let text = text(&table(), &options).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "STRUCTURE,STRUCTURE_ID,ACTION,TIME_PERIOD,quarter,region,jobs,OBS_VALUE");
    assert_eq!(lines[1], "datastructure,OECD:MEI(4.0),R,2020-03-31,2020-Q1,\"a,b\",1.5,\"\"");
}

#[test]
fn columns_of_a_wide_table_are_measures_under_their_own_names() {
    let wide = table().numbers("hours", &[None, None]).about("hours", "yearbook.role", "value");
    let text = text(&wide, &[]).unwrap();
    assert!(
        text.starts_with("STRUCTURE,STRUCTURE_ID,ACTION,day,TIME_PERIOD,region,jobs,flag,hours\n"),
        "{text}"
    );
}

#[test]
fn what_is_missing_or_misnamed_is_declined_with_what_to_do() {
    let no_time = Table::new().numbers("a", &[]).about("a", "yearbook.role", "value");
    assert!(
        matches!(text(&no_time, &[]), Err(Error::UnsupportedSchema(said)) if said.contains("sdmx-csv.time_period"))
    );
    let no_value = Table::new().text("a", &[None::<&str>; 0]).about("a", "yearbook.role", "date");
    assert!(
        matches!(text(&no_value, &[]), Err(Error::UnsupportedSchema(said)) if said.contains("sdmx-csv.obs_value"))
    );
    for options in [
        ("structure_id", "MEI"),
        ("structure_id", "a:b(1.0),x"),
        ("time_period", "nope"),
        ("obs_value", "nope"),
        ("obs_value", "quarter"),
    ] {
        assert!(matches!(text(&table(), &[options]), Err(Error::InvalidOption(_))), "{options:?}");
    }
}
