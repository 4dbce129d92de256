//! Rules of SDMX-CSV, read natively; the files are written to the field guide of the format.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_read_sdmx_csv::SdmxCsvReader;
use yearbook_sdk::Value;
use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{check, read, read_in_chunks, request};

const HEAD: &str = "STRUCTURE,STRUCTURE_ID,ACTION,FREQ,REF_AREA,TIME_PERIOD,OBS_VALUE,OBS_STATUS\n";

fn file(rows: &[&str]) -> String {
    let lead = "dataflow,TESTS:CROPS(1.0),I,";
    rows.iter().fold(HEAD.to_owned(), |file, row| format!("{file}{lead}{row}\n"))
}

fn refusal(file: &str, requests: &[ColumnRequest]) -> String {
    read::<SdmxCsvReader>(file.as_bytes(), requests, &[]).unwrap_err().to_string()
}

fn from(name: &str, source: &str, requested_type: RequestedType) -> ColumnRequest {
    ColumnRequest { name: name.to_owned(), source: Some(source.to_owned()), requested_type }
}

#[test]
fn it_holds_what_every_reader_must() {
    check::<SdmxCsvReader>();
}

#[test]
fn a_file_that_other_software_wrote_is_a_table_contract_7() {
    let text = include_str!("../../../tests/fixtures/agencies/ember_carbon_intensity.csv");
    let requests = [
        from("date", "YEAR", RequestedType::Date),
        request("country", RequestedType::Text),
        request("obs_value", RequestedType::Number),
        request("comment", RequestedType::Text),
    ];
    let table = read::<SdmxCsvReader>(text.as_bytes(), &requests, &[]).unwrap();
    assert_eq!(table.rows.len(), 120);
    let row = |at: usize| table.rows[at].iter().map(Option::as_deref).collect::<Vec<_>>();
    assert_eq!(row(0), [Some("2000-01-01"), Some("China"), Some("783.31"), None]);
    assert_eq!(row(21), [Some("2021-01-01"), Some("China"), Some("599"), Some("FOO")]);
    assert_eq!(row(119)[..2], [Some("2023-01-01"), Some("World")]);
}

#[test]
fn periods_of_every_form_become_dates_and_codes_contract_7() {
    let text = file(&[
        "A,NZ,2023,1,A",
        "Q,NZ,2024-Q1,2,A",
        "M,NZ,2024-M02,3,A",
        "A,NZ,2024-01-01/P1Y,4,A",
    ]);
    let requests = [
        from("date", "TIME_PERIOD", RequestedType::Date),
        from("period", "TIME_PERIOD", RequestedType::Period),
        request("obs_value", RequestedType::Number),
    ];
    let table = read::<SdmxCsvReader>(text.as_bytes(), &requests, &[]).unwrap();
    assert_eq!(
        table.column("date").into_iter().flatten().collect::<Vec<_>>(),
        ["2023-01-01", "2024-01-01", "2024-02-01", "2024-01-01"]
    );
    assert_eq!(
        table.column("period").into_iter().flatten().collect::<Vec<_>>(),
        ["2023", "2024-Q1", "2024-02", "2024"]
    );
    let last = [("period_date", Value::Text("last".to_owned()))];
    let table = read::<SdmxCsvReader>(text.as_bytes(), &requests[..1], &last).unwrap();
    assert_eq!(table.column("date")[2], Some("2024-02-29"));
}

#[test]
fn codes_and_labels_of_both_are_columns_of_their_own() {
    let text = "STRUCTURE[;],STRUCTURE_ID,ACTION,REF_AREA:Reference area,TIME_PERIOD:Time,OBS_VALUE:Value,NOTE[]:Notes\n\
        dataflow,T:C(1.0): Crops,I,NZ: New Zealand: all of it,2024,1,\n\
        dataflow,T:C(1.0): Crops,I,AU,2024,2,a;b\n";
    let requests = [
        request("ref_area", RequestedType::Text),
        from("name", "REF_AREA label", RequestedType::Text),
        request("note", RequestedType::Text),
    ];
    let table = read::<SdmxCsvReader>(text.as_bytes(), &requests, &[]).unwrap();
    assert_eq!(table.column("ref_area"), [Some("NZ"), Some("AU")]);
    assert_eq!(table.column("name"), [Some("New Zealand: all of it"), None]);
    assert_eq!(table.column("note"), [None, Some("a;b")]);
    assert_eq!(table.columns[0].description.as_deref(), Some("Reference area"));
}

/// `labels=both` sends values of components without a codelist as they are, and several values of
/// one component in one field.
#[test]
fn text_that_is_no_code_with_its_label_is_taken_whole_or_refused_contract_7() {
    let file = |comment: &str, flags: &str| {
        format!(
            "STRUCTURE[;],STRUCTURE_ID,ACTION,REF_AREA: Reference area,TIME_PERIOD: Time,OBS_VALUE: Value,COMMENT: Comment,FLAG[]: Flags\n\
            dataflow,T:C(1.0): Crops,I,NZ: New Zealand,2024,1,{comment},{flags}\n"
        )
    };
    let text = file("Break in series: see metadata", "A: Value A;B: Value B");
    for (source, whole) in [
        ("COMMENT: Comment", "Break in series: see metadata"),
        ("FLAG[]: Flags", "A: Value A;B: Value B"),
        ("REF_AREA: Reference area", "NZ: New Zealand"),
    ] {
        let requests = [from("text", source, RequestedType::Text)];
        let table = read::<SdmxCsvReader>(text.as_bytes(), &requests, &[]).unwrap();
        assert_eq!(table.column("text"), [Some(whole)], "{source}");
    }
    for (source, spelling) in [
        ("COMMENT", "COMMENT: Comment"),
        ("COMMENT label", "COMMENT: Comment"),
        ("FLAG", "FLAG[]: Flags"),
        ("FLAG label", "FLAG[]: Flags"),
    ] {
        assert_eq!(
            refusal(&text, &[from("text", source, RequestedType::Text)]),
            format!(
                "line 2, text: is not one code with its label; name the whole column in `yearbook.source_columns`: {spelling}"
            )
        );
    }
    let requests = [request("comment", RequestedType::Text), request("flag", RequestedType::Text)];
    for (comment, flags, expected) in [
        ("As before", "A;B", [Some("As before"), Some("A;B")]),
        ("As follows:", "", [Some("As follows:"), None]),
        ("P:", "A", [Some("P"), Some("A")]),
        ("P: ", "A", [Some("P"), Some("A")]),
        (": ", "A", [None, Some("A")]),
        ("Y-15_$@: Young", "A", [Some("Y-15_$@"), Some("A")]),
    ] {
        let text = file(comment, flags);
        let table = read::<SdmxCsvReader>(text.as_bytes(), &requests, &[]).unwrap();
        assert_eq!([table.column("comment")[0], table.column("flag")[0]], expected, "{comment}");
    }
    // Without requests the columns are codes and labels.
    let table = read::<SdmxCsvReader>(file("P", "A").as_bytes(), &[], &[]).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "REF_AREA",
            "REF_AREA label",
            "TIME_PERIOD",
            "OBS_VALUE",
            "COMMENT",
            "COMMENT label",
            "FLAG",
            "FLAG label"
        ]
    );
}

#[test]
fn version_1_delimiters_marks_and_line_ends_are_taken() {
    let text = "\u{feff}DATAFLOW;REF_AREA;TIME_PERIOD;OBS_VALUE\r\nT:C(1.0);NZ;2024;\"1.5\"\r\n\r\nT:C(1.0);\"A\nU\";2025;NaN";
    let requests =
        [request("ref_area", RequestedType::Text), request("obs_value", RequestedType::Number)];
    for bytes in [1, 2, 3, 1000] {
        let table =
            read_in_chunks::<SdmxCsvReader>(text.as_bytes(), bytes, &requests, &[]).unwrap();
        assert_eq!(table.column("ref_area"), [Some("NZ"), Some("A\nU")]);
        assert_eq!(table.column("obs_value"), [Some("1.5"), None]);
    }
}

#[test]
fn what_a_publisher_calls_missing_is_null_contract_7() {
    let text = file(&["A,NZ,2023,#N/A,#N/A", "A,NZ,2024,..,A"]);
    let requests =
        [request("obs_value", RequestedType::Integer), request("obs_status", RequestedType::Text)];
    let refused = refusal(&text, &requests);
    assert!(refused.starts_with("line 3, obs_value: is not an integer"), "{refused}");
    let table = |missing: &str| {
        let chosen = [("missing_values", Value::Text(missing.to_owned()))];
        read::<SdmxCsvReader>(text.as_bytes(), &requests, &chosen).unwrap()
    };
    let read = table("#N/A ..");
    assert_eq!(read.column("obs_value"), [None, None]);
    assert_eq!(read.column("obs_status"), [None, Some("A")]);
}

/// Ids as [`yearbook_sdmx_model::encode`] makes them, and text that looks like one.
#[test]
fn ids_and_nulls_come_back_as_they_were_written_contract_7() {
    let text =
        file(&["$,New$20Zealand,2023,NaN,$20", "\"\",$C5$8Ctaki,2024,,\"\"", ",$24,2024,-0,#N/A"]);
    let requests = [
        request("freq", RequestedType::Text),
        request("ref_area", RequestedType::Text),
        request("obs_value", RequestedType::Number),
        request("obs_status", RequestedType::Text),
    ];
    let read_with = |options: &[(&str, &str)]| {
        let options = options.iter().map(|(name, text)| (*name, Value::Text((*text).to_owned())));
        read::<SdmxCsvReader>(text.as_bytes(), &requests, &options.collect::<Vec<_>>())
    };
    let refused = read_with(&[("nulls", "exact"), ("escaped", "FREQ REF_AREA")]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "line 3, freq: is no id that Yearbook writes; leave its column out of the option `escaped`"
    );
    let table = read_with(&[("nulls", "exact"), ("escaped", "REF_AREA")]).unwrap();
    assert_eq!(table.column("freq"), [Some("$"), Some(""), None]);
    assert_eq!(table.column("ref_area"), [Some("New Zealand"), Some("Ōtaki"), Some("$")]);
    assert_eq!(table.column("obs_value"), [Some("NaN"), None, Some("-0")]);
    assert_eq!(table.column("obs_status"), [Some("$20"), Some(""), Some("#N/A")]);
    let table = read_with(&[("escaped", "FREQ")]).unwrap();
    assert_eq!(table.column("freq"), [Some(""), None, None]);
    assert_eq!(table.column("obs_status"), [Some("$20"), None, None]);
    for (options, expected) in [
        (
            &[("escaped", "REF_AREA AREA")][..],
            "line 1, AREA: stands in the option `escaped` and is no component of the file",
        ),
        (&[("nulls", "exact"), ("missing_values", "..")], "`missing_values` lists what is null"),
    ] {
        let refused = read_with(options).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}

/// A header of `labels=name`, where the name of UNIT_MEASURE is the id of another component.
#[test]
fn a_column_whose_name_another_one_has_is_named_with_its_place_contract_7() {
    let text = "STRUCTURE,STRUCTURE_ID,STRUCTURE_NAME,ACTION,UNIT_MEASURE,UNIT,UNIT,Unit name,OBS_VALUE,OBS_VALUE\n\
        dataflow,T:C(1.0),Crops,I,T,Tonnes,NZ,New Zealand,1.5,\n";
    let read = |source| {
        read::<SdmxCsvReader>(text.as_bytes(), &[from("unit", source, RequestedType::Text)], &[])
    };
    assert_eq!(
        read("UNIT").unwrap_err().to_string(),
        "line 1, unit: 2 columns of the file fit it; name the one that is meant in `yearbook.source_columns`: UNIT (column 6), UNIT (column 7)"
    );
    for (source, value) in [
        ("UNIT (column 6)", "Tonnes"),
        ("UNIT (column 7)", "NZ"),
        ("UNIT_MEASURE", "T"),
        ("OBS_VALUE (column 9)", "1.5"),
    ] {
        assert_eq!(read(source).unwrap().column("unit"), [Some(value)], "{source}");
    }
}

/// Headers as agencies send them; the figures are made up.
#[test]
fn columns_of_agencies_have_their_roles() {
    use Role::{Attribute, Dimension, Period, Value};
    for (text, expected) in [
        (
            "DATAFLOW,LAST UPDATE,freq,unit,geo,TIME_PERIOD,OBS_VALUE,OBS_FLAG,CONF_STATUS\n\
             ESTAT:MADE_UP(1.0),22/05/26 11:00:00,A,PC,NZ,2021,12.5,p,\n",
            vec![
                ("LAST UPDATE", Attribute, Some("22/05/26 11:00:00")),
                ("freq", Dimension, Some("A")),
                ("unit", Dimension, Some("PC")),
                ("geo", Dimension, Some("NZ")),
                ("TIME_PERIOD", Period, Some("2021")),
                ("OBS_VALUE", Value, Some("12.5")),
                ("OBS_FLAG", Attribute, Some("p")),
                ("CONF_STATUS", Attribute, None),
            ],
        ),
        (
            "DATAFLOW,REF_AREA,FREQ,MEASURE,TIME_PERIOD,OBS_VALUE,OBS_STATUS,UNIT_MULT,BASE_PER,DECIMALS\n\
             OECD.SDD:DSD_MADE@DF_UP(1.0),NZL,A,CPI,1998,-0.8,A,0,,1\n",
            vec![
                ("REF_AREA", Dimension, Some("NZL")),
                ("FREQ", Dimension, Some("A")),
                ("MEASURE", Dimension, Some("CPI")),
                ("TIME_PERIOD", Period, Some("1998")),
                ("OBS_VALUE", Value, Some("-0.8")),
                ("OBS_STATUS", Attribute, Some("A")),
                ("UNIT_MULT", Attribute, Some("0")),
                ("BASE_PER", Attribute, None),
                ("DECIMALS", Attribute, Some("1")),
            ],
        ),
    ] {
        let table = read::<SdmxCsvReader>(text.as_bytes(), &[], &[]).unwrap();
        let found = table.columns.iter().map(|column| {
            (column.name.as_str(), column.role.unwrap(), table.column(&column.name)[0])
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_row_without_any_component_is_an_empty_answer() {
    let text = file(&[",,,,"]);
    let table = read::<SdmxCsvReader>(text.as_bytes(), &[], &[]).unwrap();
    assert!(table.rows.is_empty() && table.columns.len() == 5);
}

#[test]
fn sdmx_csv_is_refused_with_line_and_column_contract_7() {
    let value = [request("obs_value", RequestedType::Number)];
    let good = "A,NZ,2023,1,A";
    for (text, requests, expected) in [
        (
            file(&[good, "A,NZ,2024,many,A"]),
            &value[..],
            "line 3, obs_value: is not a number; declare",
        ),
        (file(&[good, "A,NZ,2024"]), &value, "line 3: has 6 fields where the header has 8"),
        (file(&[good, "A,NZ,\"2024,1,A"]), &value, "line 3: has a quote that is not closed"),
        (
            file(&[good, "A,\"NZ\"x,2024,1,A"]),
            &value,
            "line 3: has something behind a closing quote",
        ),
        (file(&[good]).replace(",I,", ",D,"), &value, "line 2, ACTION: deletes observations"),
        (file(&[good]).replace(",I,", ",X,"), &value, "line 2, ACTION: \"X\" is none of"),
        (
            file(&[good]) + "dataflow,TESTS:OTHER(1.0),I,A,NZ,2024,1,A\n",
            &value,
            "line 3, STRUCTURE_ID: ",
        ),
        ("a,b\n1,2\n".to_owned(), &value, "line 1: the first column is \"a\""),
        (String::new(), &value, "line 1: the file is empty"),
        (
            file(&[good]),
            &[request("price", RequestedType::Number)][..],
            "line 1, price: the file has no column \"price\"",
        ),
    ] {
        let refused = refusal(&text, requests);
        assert!(refused.starts_with(expected), "{refused}");
    }
    let weeks = [from("period", "TIME_PERIOD", RequestedType::Period)];
    let refused = refusal(&file(&["W,NZ,2024-W05,1,A"]), &weeks);
    assert!(refused.starts_with("line 2, period: has no code"), "{refused}");
    let no_text = [HEAD.as_bytes(), b"dataflow,T:C(1.0),I,A,\xff,2024,1,A\n"].concat();
    let area = [request("ref_area", RequestedType::Text)];
    let refused = read::<SdmxCsvReader>(&no_text, &area, &[]).unwrap_err().to_string();
    assert!(refused.starts_with("line 2, ref_area: is not UTF-8"), "{refused}");
}

/// The value of an observation may be secret.
#[test]
fn no_refusal_repeats_a_value_contract_7() {
    use RequestedType::{Boolean, Date, Integer, Number, Period};
    let text = file(&["A,NZ,2023,\"98765,4\",Q"]);
    for requested_type in [Boolean, Date, Integer, Number, Period] {
        let refused = refusal(&text, &[request("obs_value", requested_type)]);
        assert!(refused.starts_with("line 2, obs_value: is no"), "{refused}");
        assert!(!refused.contains("98765"), "{refused}");
    }
    let requests = [request("price", Number)];
    for text in [text.replace('\n', "\r"), text.trim_end().replace('\n', "\r")] {
        for requests in [&requests[..], &[]] {
            for bytes in [1, 7, 1000] {
                let read = read_in_chunks::<SdmxCsvReader>(text.as_bytes(), bytes, requests, &[]);
                assert_eq!(
                    read.unwrap_err().to_string(),
                    "line 1: has a carriage return without a line feed; save the file with lines that end in LF or CRLF"
                );
            }
        }
    }
    let escaped = [("escaped", Value::Text("OBS_VALUE".to_owned()))];
    let read = read::<SdmxCsvReader>(text.as_bytes(), &[request("obs_value", Number)], &escaped);
    let refused = read.unwrap_err().to_string();
    assert!(refused.starts_with("line 2, obs_value: is no id that"), "{refused}");
}

#[test]
fn periods_of_other_reporting_years_are_refused_contract_7() {
    let requests = [from("date", "TIME_PERIOD", RequestedType::Date)];
    let text = |start: &str, period: &str| {
        format!(
            "DATAFLOW,TIME_PERIOD,OBS_VALUE,REPORTING_YEAR_START_DAY\nT:C(1.0),{period},1,{start}\n"
        )
    };
    for (start, period, date) in [
        ("--01-01", "2024-Q1", "2024-01-01"),
        ("", "2024-Q1", "2024-01-01"),
        ("--07-01", "2024-08", "2024-08-01"),
    ] {
        let text = text(start, period);
        let table = read::<SdmxCsvReader>(text.as_bytes(), &requests, &[]).unwrap();
        assert_eq!(table.column("date"), [Some(date)]);
    }
    for period in ["2024-Q1", "2024-S2", "2024-M01"] {
        let refused = refusal(&text("--07-01", period), &requests);
        assert!(refused.starts_with("line 2, date: is a period of a reporting year"), "{refused}");
    }
}

#[test]
fn sdmx_csv_in_utf_16_is_named_contract_7() {
    let text = file(&["A,NZ,2023,1,A"]).replace(',', "\t");
    for text in [
        format!("{}{text}", '\u{feff}'),
        text.clone(),
        text.replace("STRUCTURE\t", "\"STRUCTURE\"\t"),
    ] {
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for file in [little, big] {
            for bytes in [1, 1000] {
                let read = read_in_chunks::<SdmxCsvReader>(&file, bytes, &[], &[]);
                let refused = read.unwrap_err().to_string();
                assert!(refused.starts_with("line 1: is UTF-16, not UTF-8; save"), "{refused}");
            }
        }
    }
}

#[test]
fn a_quote_that_nobody_closes_holds_no_more_than_a_record_may_have() {
    let mut text = file(&["A,NZ,2023,1,A"]).into_bytes();
    text.extend_from_slice(b"dataflow,TESTS:CROPS(1.0),I,\"");
    text.resize(20 << 20, b'\n');
    let refused = read::<SdmxCsvReader>(&text, &[], &[]).unwrap_err().to_string();
    assert!(refused.starts_with("line 3: begins a record of more than"), "{refused}");
}
