//! The rules of docs/spec/sdmx.md, over the sample catalogue.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalogue;
mod counts;
mod structures;

use yearbook_sdk::Value;
use yearbook_sdk::adapter::{
    Column, ColumnType, Dataset, Example, Fact, Operator, Pick, Question, Reply, Version,
};
use yearbook_sdk::testing::sample::SampleCatalogue;
use yearbook_sdk::testing::{adapting, encode};
use yearbook_sdmx::{Csv, Sdmx};

use self::catalogue::{
    answer, document, harvest, longer_key, option, reply_over, rows, rows_as, selected,
};

const CSV2: &str = "application/vnd.sdmx.data+csv;version=2.0.0";

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
    assert_eq!(of("region"), [(Operator::NotEqual, "north,south".to_owned())]);
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
                        question => answer(&catalogue, question),
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
    for levels in ["none", "msd,dataset,series"] {
        let address = format!("/3.0/data/dataflow/*/HARVEST_LONG?attributes={levels}");
        assert_eq!(columns(&address), data, "{levels}");
    }
    let all = columns("/3.0/data/dataflow/*/HARVEST_LONG?attributes=series,obs");
    assert_eq!(all.len(), data.len() + 1);
}

#[test]
fn no_observations_are_left_out_by_an_offset_of_0_contract_19() {
    let place = "/3.0/data/dataflow/*/HARVEST_LONG";
    for (offset, skip) in [("0", 0), ("2", 2)] {
        assert_eq!(rows(&format!("{place}?offset={offset}")).selection.skip, skip);
    }
    assert_eq!(rows("/3.0/data/dataflow/*/PRICES_WIDE?offset=0").selection.skip, 0);
    assert_eq!(document("/3.0/data/dataflow/*/PRICES_WIDE?offset=1").status, 501);
    for wrong in ["offset=-1", "offset=x", "limit=0"] {
        assert_eq!(document(&format!("{place}?{wrong}")).status, 400, "{wrong}");
    }
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
fn what_changed_since_is_all_of_a_dataflow_or_nothing_contract_19() {
    assert_eq!(document("/2.1/data/HARVEST_LONG?updatedAfter=2026-07-01T09:00:00").status, 404);
    let all = rows("/2.1/data/HARVEST_LONG?updatedAfter=2026-06-30T09:00:00Z");
    assert!(all.selection.conditions.is_empty());
    let earlier = rows("/2.1/data/HARVEST_LONG?updatedAfter=2026-07-01T21:59:59+13:00");
    assert!(earlier.selection.conditions.is_empty());
    for wrong in ["soon", "aéé…", "2026-06-30Tsoon", "2026-06-30T09"] {
        let address = format!("/2.1/data/HARVEST_LONG?updatedAfter={wrong}");
        assert_eq!(document(&address).status, 400, "{wrong}");
    }
}

#[test]
fn data_is_that_of_a_time_contract_21() {
    for (sent, time) in [
        ("2026-06-30", "2026-06-30"),
        ("2026-06-30T09:00:00Z", "2026-06-30T09:00:00Z"),
        ("2026-06-30T09:00:00.25+13:00", "2026-06-30T09:00:00.25+13:00"),
        ("2026-06-30T09:00:00-03:30", "2026-06-30T09:00:00-03:30"),
        // `xs:dateTime` may leave the offset out.
        ("2026-06-30T09:00:00", "2026-06-30T09:00:00Z"),
    ] {
        for address in ["/2.1/data/HARVEST_LONG?asOf=", "/3.0/data/dataflow/*/HARVEST_LONG?asOf="] {
            let request = Example::get(&format!("{address}{sent}"), 0).request;
            let (reply, asked) = catalogue::reply(&request);
            let Reply::Rows(rows) = reply else { panic!("{sent}") };
            assert_eq!(rows.selection.version, Version::AsOf(time.to_owned()), "{sent}");
            // How many rows the newest version has says nothing.
            let counted = asked.iter().find_map(|question| match question {
                Question::Count(selection) => Some(&selection.version),
                _ => None,
            });
            assert_eq!(counted, Some(&rows.selection.version), "{sent}");
            assert_eq!(rows.selection.limit, Some(72), "{sent}");
        }
    }
    for (query, status) in [
        ("asOf=soon", 400),
        ("asOf=", 400),
        ("asOf=2026-06-30T09", 400),
        ("asOf=2026-06-30&updatedAfter=2026-01-01", 501),
    ] {
        assert_eq!(document(&format!("/2.1/data/HARVEST_LONG?{query}")).status, status, "{query}");
    }
    let of_then = "/2.1/availableconstraint/HARVEST_LONG?asOf=2026-06-30";
    let (_, asked) = catalogue::reply(&Example::get(of_then, 0).request);
    let versions = asked.iter().filter_map(|question| match question {
        Question::Count(selection) => Some(&selection.version),
        Question::Values(query) => Some(&query.selection.version),
        _ => None,
    });
    let versions: Vec<_> = versions.collect();
    assert_eq!(versions, [&Version::AsOf("2026-06-30".to_owned()); 2]);
}

#[test]
fn key_and_filters_hold_together_contract_19() {
    let of = |query: &str| {
        let address = format!("/3.0/data/dataflow/*/HARVEST_LONG/*/{query}");
        rows(&address).selection.conditions.swap_remove(0).values
    };
    assert_eq!(of("north+south?c[REGION]=south,east"), ["south"]);
    assert_eq!(of("*?c[REGION]=south,north&c[REGION]=north"), ["north"]);
    assert_eq!(of("*?c[OBS_VALUE]=gt:1+gt:2"), ["2"]);
    assert_eq!(of("*?c[OBS_VALUE]=lt:9&c[OBS_VALUE]=lt:10"), ["9"]);
    assert_eq!(of("*?c[TIME_PERIOD]=gt:2024-03+gt:2024-02"), ["2024-03-31"]);
    for (query, status) in [
        ("north?c[REGION]=south", 204),
        ("*?c[REGION]=north+south", 204),
        ("*?c[REGION]=co:o+co:u", 501),
        ("*?c[OBS_VALUE]=gt:much+gt:10", 400),
    ] {
        let address = format!("/3.0/data/dataflow/*/HARVEST_LONG/*/{query}");
        assert_eq!(document(&address).status, status, "{query}");
    }
}

#[test]
fn parameters_mean_the_same_in_any_order_contract_19() {
    for query in ["detail=nodata&firstNObservations=2", "firstNObservations=2&detail=nodata"] {
        let only = rows(&format!("/2.1/data/HARVEST_LONG?{query}"));
        assert_eq!(only.selection.pick, Pick::Last(1), "{query}");
    }
    for query in ["startPeriod=2024-06&endPeriod=2024-05", "endPeriod=2024-05&startPeriod=2024-06"]
    {
        assert_eq!(document(&format!("/2.1/data/HARVEST_LONG?{query}")).status, 404, "{query}");
    }
}

#[test]
fn without_time_in_the_key_each_row_is_a_series_contract_19() {
    let pick = |query: &str| {
        let address = format!("/2.1/data/HARVEST_LONG?{query}");
        let change = |dataset: &mut Dataset| dataset.primary_key = vec!["region".to_owned()];
        selected(&address, change).selection.pick
    };
    assert_eq!(pick("detail=serieskeysonly"), Pick::All);
    assert_eq!(pick("lastNObservations=1"), Pick::All);
}

#[test]
fn what_speaks_of_time_needs_time_contract_19() {
    let undated = harvest(|dataset| {
        dataset.columns.retain(|column| column.name != "date" && column.name != "period");
        dataset.primary_key = vec!["region".to_owned()];
    });
    for name in ["startPeriod=2024", "endPeriod=2024", "firstNObservations=1"] {
        let request = Example::get(&format!("/2.1/data/HARVEST_LONG?{name}"), 0).request;
        let (reply, _) = reply_over(&request, &undated);
        assert!(matches!(reply, Reply::Document(document) if document.status == 400), "{name}");
    }
}

#[test]
fn what_a_row_has_several_of_is_compared_for_one_measure_contract_19() {
    let change = |fact: &mut Fact| {
        let Fact::Dataset(dataset) = fact else { return };
        for (name, of) in [("no_status", Some("no")), ("cpi_status", Some("cpi")), ("note", None)] {
            let column = dataset.columns.iter().find(|column| column.name == "cpi").unwrap();
            dataset.columns.push(Column {
                name: name.to_owned(),
                type_: ColumnType::Text,
                role: "status".to_owned(),
                of: of.map(str::to_owned),
                distinct: Some(2),
                ..column.clone()
            });
        }
    };
    let condition = |query: &str| {
        let address = format!("/3.0/data/dataflow/TESTS/PRICES_WIDE/+/{query}");
        // The sample catalogue has no such columns, and refuses to count what they select.
        let (reply, asked) = reply_over(&Example::get(&address, 0).request, change);
        let counted = asked.iter().find_map(|question| match question {
            Question::Count(selection) => Some(selection.conditions[0].column.clone()),
            _ => None,
        });
        match reply {
            Reply::Document(document) => counted.ok_or(document.status),
            _ => Ok(counted.unwrap()),
        }
    };
    assert_eq!(condition("no?c[OBS_STATUS]=P"), Ok("no_status".to_owned()));
    assert_eq!(condition("*?c[OBS_STATUS]=P&c[MEASURE]=cpi"), Ok("cpi_status".to_owned()));
    assert_eq!(condition("cpi?c[OBS_VALUE]=gt:1"), Ok("cpi".to_owned()));
    for query in ["*?c[OBS_STATUS]=P", "cpi+no?c[OBS_STATUS]=P", "*?c[OBS_VALUE]=gt:1"] {
        assert_eq!(condition(query), Err(501), "{query}");
    }
    assert_eq!(condition("no?c[NOTE]=P"), Err(501), "nobody tells of which columns it speaks");
}

#[test]
fn longer_keys_than_an_order_takes_come_flat_contract_19() {
    let layout = |more: usize| {
        let rows = selected("/2.1/data/HARVEST_LONG", longer_key(more));
        (rows.selection.sort.len(), option(&rows, "layout").to_owned())
    };
    assert_eq!([layout(6), layout(7)], [(8, "series".to_owned()), (0, "flat".to_owned())]);
}
