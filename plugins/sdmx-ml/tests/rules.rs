//! Rules of the format: structure-specific data of SDMX-ML, read back by `quick-xml`. The official
//! schemas and other people's readers are tried in `tests/external/adapters`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use yearbook_sdk::testing::{Table, conformance, encode, encode_apart, encode_parts};
use yearbook_sdk::{Error, Value};
use yearbook_sdmx_ml::SdmxMlEncoder;

/// Prices of two regions: quarters, a financial year, a flag, and a name that is no id.
fn prices() -> Table {
    Table::new()
        .text("date", &["2024-01-01", "2024-04-01", "2024-07-01"].map(Some))
        .about("date", "yearbook.type", "date")
        .about("date", "yearbook.role", "date")
        .dictionary("period", &[Some("2024-Q1"), None, Some("2024/25")])
        .about("period", "yearbook.role", "period")
        .dictionary("region", &["north", "north", "South & West"].map(Some))
        .about("region", "yearbook.role", "dimension")
        .text("note", &[Some("a \"b\""), None, Some("")])
        .about("note", "yearbook.role", "attribute")
        .numbers("price", &[Some(1.5), None, Some(f64::NAN)])
        .about("price", "yearbook.role", "value")
        .text("price_status", &[Some("P"), None, Some("e*")])
        .about("price_status", "yearbook.role", "status")
        .about("price_status", "yearbook.of", r#"["price"]"#)
        .text("outline", &[Some("POINT (1 2)"), None, None])
        .about("outline", "yearbook.role", "geometry")
        .integers("row", &[Some(0), Some(1), Some(2)])
        .metadata("yearbook.dataset", "prices")
        .metadata("yearbook.namespace", "stats_nz")
        .metadata("yearbook.snapshot_id", "01J")
        .metadata("yearbook.published_at", "2024-10-01T12:00:00+00:00")
        .metadata("yearbook.primary_key", r#"["date","region"]"#)
}

/// The same with a second column of values, which has no flag.
fn wide() -> Table {
    prices().integers("sales", &[Some(9_007_199_254_740_993), Some(2), None]).about(
        "sales",
        "yearbook.role",
        "value",
    )
}

fn message(table: &Table, options: &[(&str, &str)]) -> String {
    let options: Vec<_> = options
        .iter()
        .map(|(name, value)| {
            let boolean = value.parse().ok().map(Value::Boolean);
            (*name, boolean.unwrap_or_else(|| Value::Text((*value).to_owned())))
        })
        .collect();
    String::from_utf8(encode::<SdmxMlEncoder>(table, &options).unwrap()).unwrap()
}

/// Elements of a message with their attributes, those of the header without.
fn elements(message: &str) -> Vec<String> {
    let mut reader = Reader::from_str(message);
    let mut elements = Vec::new();
    let text = |element: &BytesStart<'_>| {
        let mut text = String::from_utf8(element.name().as_ref().to_vec()).unwrap();
        for attribute in element.attributes() {
            let attribute = attribute.unwrap();
            let name = str::from_utf8(attribute.key.as_ref()).unwrap().to_owned();
            let value = String::from_utf8(attribute.value.to_vec()).unwrap();
            let value = quick_xml::escape::unescape(&value).unwrap().into_owned();
            text.push_str(&format!(" {name}={value}"));
        }
        text
    };
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return elements,
            Event::Start(element) | Event::Empty(element) => elements.push(text(&element)),
            _ => {}
        }
    }
}

/// Observations and series.
fn data(table: &Table, options: &[(&str, &str)]) -> Vec<String> {
    let all = elements(&message(table, options));
    let is_data = |text: &String| text.starts_with("Obs") || text.starts_with("Series");
    all.into_iter().filter(is_data).collect()
}

#[test]
fn it_holds_what_every_format_must() {
    conformance::check::<SdmxMlEncoder>(|body| {
        let all = elements(str::from_utf8(body).unwrap());
        all.iter().filter(|text| text.starts_with("Obs")).count()
    });
}

#[test]
fn a_row_is_an_observation_with_key_time_value_and_attributes_contract_19() {
    assert_eq!(
        data(&prices(), &[]),
        [
            "Obs REGION=north TIME_PERIOD=2024-Q1 OBS_VALUE=1.5 NOTE=a \"b\" OBS_STATUS=P",
            "Obs REGION=north TIME_PERIOD=2024-04-01",
            "Obs REGION=South$20$26$20West TIME_PERIOD=2024-07-01 OBS_VALUE=NaN NOTE= OBS_STATUS=e$2A",
        ]
    );
}

#[test]
fn a_column_of_values_of_a_wide_table_is_a_code_of_measure_contract_19() {
    let first = "Obs REGION=north MEASURE=price TIME_PERIOD=2024-Q1 OBS_VALUE=1.5 NOTE=a \"b\" OBS_STATUS=P";
    let rows = data(&wide(), &[]);
    assert_eq!(rows.len(), 6);
    let second = "Obs REGION=north MEASURE=sales TIME_PERIOD=2024-Q1 OBS_VALUE=9007199254740993 NOTE=a \"b\"";
    assert_eq!(rows[..2], [first, second], "the flag speaks of prices alone");
    assert_eq!(data(&prices(), &[("wide", "true")])[0], first, "one of several is asked for");
}

#[test]
fn rows_in_the_order_of_series_stand_in_series_contract_19() {
    let series = &[("layout", "series")];
    assert_eq!(
        data(&prices(), series),
        [
            "Series REGION=north",
            "Obs TIME_PERIOD=2024-Q1 OBS_VALUE=1.5 NOTE=a \"b\" OBS_STATUS=P",
            "Obs TIME_PERIOD=2024-04-01",
            "Series REGION=South$20$26$20West",
            "Obs TIME_PERIOD=2024-07-01 OBS_VALUE=NaN NOTE= OBS_STATUS=e$2A",
        ]
    );
    let of_wide = data(&wide(), &[("layout", "series"), ("detail", "dataonly")]);
    assert_eq!(
        of_wide[..6],
        [
            "Series REGION=north MEASURE=price",
            "Obs TIME_PERIOD=2024-Q1 OBS_VALUE=1.5",
            "Obs TIME_PERIOD=2024-04-01",
            "Series REGION=north MEASURE=sales",
            "Obs TIME_PERIOD=2024-Q1 OBS_VALUE=9007199254740993",
            "Obs TIME_PERIOD=2024-04-01 OBS_VALUE=2",
        ]
    );
    assert!(message(&prices(), series).contains(r#"dimensionAtObservation="TIME_PERIOD""#));
}

#[test]
fn details_are_those_of_sdmx_rest_contract_19() {
    let data_only = data(&prices(), &[("detail", "dataonly")]);
    assert_eq!(data_only[0], "Obs REGION=north TIME_PERIOD=2024-Q1 OBS_VALUE=1.5");
    for detail in ["serieskeysonly", "nodata"] {
        let keys = data(&wide(), &[("detail", detail)]);
        assert_eq!(
            keys,
            [
                "Series REGION=north MEASURE=price",
                "Series REGION=north MEASURE=sales",
                "Series REGION=South$20$26$20West MEASURE=price",
                "Series REGION=South$20$26$20West MEASURE=sales",
            ]
        );
    }
}

#[test]
fn without_dates_there_are_no_series_contract_19() {
    let table = Table::new()
        .integers("age", &[Some(10), Some(-9)])
        .about("age", "yearbook.role", "key")
        .booleans("final", &[Some(true), Some(false)])
        .about("final", "yearbook.role", "key")
        .numbers("weight", &[Some(0.5), Some(2.0)])
        .about("weight", "yearbook.role", "key")
        .numbers("people", &[Some(1e300), Some(f64::NEG_INFINITY)])
        .about("people", "yearbook.role", "value")
        .metadata("yearbook.primary_key", r#"["age","final","weight"]"#);
    let made = message(&table, &[("layout", "series")]);
    assert!(made.contains(r#"dimensionAtObservation="AllDimensions""#));
    let rows = [
        "Obs AGE=10 FINAL=true WEIGHT=0$2E5 OBS_VALUE=1e+300",
        "Obs AGE=-9 FINAL=false WEIGHT=2$2E0 OBS_VALUE=-INF",
    ];
    assert_eq!(data(&table, &[("layout", "series")]), rows);
    let keys = data(&table, &[("detail", "serieskeysonly")]);
    assert_eq!(keys[0], "Obs AGE=10 FINAL=true WEIGHT=0$2E5");
}

#[test]
fn the_header_names_flow_and_time_of_publication_contract_19() {
    let head = message(&prices(), &[]);
    let reference = r#"<Ref agencyID="STATS_NZ" id="PRICES" version="1.0" class="Dataflow"/>"#;
    for part in [
        "schemas/v2_1/message",
        "<mes:ID>prices-01J</mes:ID>",
        "<mes:Test>false</mes:Test>",
        "<mes:Prepared>2024-10-01T12:00:00+00:00</mes:Prepared>",
        reference,
        r#"ss:dataScope="DataStructure""#,
    ] {
        assert!(head.contains(part), "{part} in {head}");
    }
    let third = message(&prices(), &[("version", "3.0"), ("structure", "STATS_NZ:PRICES(1.3)")]);
    for part in [
        "schemas/v3_0/message",
        "<com:StructureUsage>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=STATS_NZ:PRICES(1.3)<",
    ] {
        assert!(third.contains(part), "{part} in {third}");
    }
    assert_eq!(data(&prices(), &[("version", "3.0")]), data(&prices(), &[]));
}

#[test]
fn parts_do_not_depend_on_each_other() {
    let table = wide().batches_of(1);
    let one = encode_parts::<SdmxMlEncoder>(&table, &[]).unwrap();
    assert_eq!(encode_apart::<SdmxMlEncoder>(&table, &[]).unwrap(), one);
    assert_eq!(one.response(Some(b"")), encode::<SdmxMlEncoder>(&wide(), &[]).unwrap());
}

#[test]
fn what_is_no_dataflow_is_declined_with_what_to_do_contract_9() {
    let refusal = |table: &Table| match encode::<SdmxMlEncoder>(table, &[]).unwrap_err() {
        Error::UnsupportedSchema(sentence) => sentence,
        other => panic!("{other:?}"),
    };
    let keyless = Table::new().numbers("value", &[Some(1.0)]);
    assert!(refusal(&keyless).contains("no primary key"));
    let cut = keyless.metadata("yearbook.primary_key", r#"["date"]"#);
    assert!(refusal(&cut).contains("name `date` in `columns` too"));
    let structure = [("structure", Value::Text("PRICES".to_owned()))];
    let other = encode::<SdmxMlEncoder>(&prices(), &structure).unwrap_err();
    assert!(matches!(other, Error::InvalidOption(sentence) if sentence.contains("AGENCY:ID")));
}
