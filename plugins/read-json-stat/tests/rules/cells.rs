//! Categories, values and statuses of cubes: their order, numbers as they are written, and names of
//! columns that two parts of a file have.

use yearbook_read_json_stat::JsonStatReader;
use yearbook_sdk::Value;
use yearbook_sdk::reader::{ColumnRequest, RequestedType};
use yearbook_sdk::testing::reading::{read, request};

use crate::{cube, refusal, table};

/// A cube of one dimension, the sexes, with these categories.
fn sexes(category: &str, size: usize, value: &str) -> String {
    format!(
        r#"{{"class":"dataset","id":["sex"],"size":[{size}],"value":{value},"dimension":{{"sex":{{"category":{{{category}}}}}}}}}"#
    )
}

#[test]
fn categories_without_an_index_are_in_the_order_of_the_file_contract_7() {
    let labels = r#""label":{"T":"Total","M":"Men","F":"Women"}"#;
    for (index, codes) in [
        ("", ["T", "M", "F"]),
        (r#","index":["M","F","T"]"#, ["M", "F", "T"]),
        (r#","index":{"T":2,"F":0,"M":1}"#, ["F", "M", "T"]),
    ] {
        let rows = table(&sexes(&format!("{labels}{index}"), 3, "[300,100,200]"), &[]);
        assert_eq!(rows.column("sex"), codes.map(Some), "{index}");
        assert_eq!(rows.column("value"), [Some("300"), Some("100"), Some("200")]);
        let label = |code: &str| match code {
            "T" => "Total",
            "M" => "Men",
            _ => "Women",
        };
        assert_eq!(rows.column("sex label"), codes.map(|code| Some(label(code))), "{index}");
    }
}

#[test]
fn what_stands_twice_is_refused_contract_7() {
    let twice = |category: &str| refusal(&sexes(category, 2, "[1,2]"));
    let place = "$.dimension.sex.category:";
    assert_eq!(twice(r#""index":["T","T"]"#), format!("{place} has the code \"T\" twice"));
    assert_eq!(twice(r#""index":{"T":0,"T":1}"#), format!("{place} has the code \"T\" twice"));
    assert_eq!(
        twice(r#""index":["T","M"],"label":{"T":"Total","T":"All"}"#),
        format!("{place} labels \"T\" twice, first as \"Total\"")
    );
    for (member, at) in [
        (r#""value":[1,2,3,4,5,6],"#, "$.value"),
        (r#""id":["geo","time"],"#, "$.id"),
        (r#""size":[2,3],"#, "$.size"),
        (r#""status":"p","status":"e","#, "$.status"),
        (r#""status":{"0":"p","0":"e"},"#, "$.status.0"),
        (r#""dimension":{"geo":{"label":"x","label":"y"}},"#, "$.dimension.geo.label"),
        (r#""dimension":{"geo":{"label":"x"},"geo":{}},"#, "$.dimension.geo"),
    ] {
        let refused = refusal(&cube("[1,2,3,4,5,6]", member));
        assert!(refused.contains(&format!("{at}: is there twice")), "{refused}");
    }
}

#[test]
fn a_status_for_all_cells_is_a_text_or_an_array_of_one_contract_7() {
    for (status, expected) in [
        (r#""p""#, [Some("p"); 6]),
        (r#"["p"]"#, [Some("p"); 6]),
        (r#"["p",null,"e",null,null,1]"#, [Some("p"), None, Some("e"), None, None, Some("1")]),
        (r#"{"0":"p"}"#, [Some("p"), None, None, None, None, None]),
    ] {
        let text = cube("[1,2,3,4,5,6]", &format!(r#""status":{status},"#));
        assert_eq!(table(&text, &[]).column("status"), expected, "{status}");
    }
    let nulls = "[null,null,null,null,null,null]";
    for none in ["[null]", nulls, "[]", "{}", r#"{"2":null}"#, "null"] {
        let text = cube("[1,2,3,4,5,6]", &format!(r#""status":{none},"#));
        for requests in [&[][..], &[request("status", RequestedType::Text)]] {
            assert_eq!(table(&text, requests).column("status"), [None; 6], "{none}");
        }
    }
    let text = cube("[1,2,3,4,5,6]", "");
    assert!(table(&text, &[]).columns.iter().all(|column| column.name != "status"));
    let status = [request("status", RequestedType::Text)];
    let refused = read::<JsonStatReader>(text.as_bytes(), &status, &[]).unwrap_err().to_string();
    assert!(refused.contains("the file has no column \"status\""), "{refused}");
}

#[test]
fn numbers_are_read_as_they_are_written_contract_7() {
    let numbers = ["9007199254740993", "12345678901234567890", "1.50", "-0.0", "1e5", "0.10"];
    for value in [
        format!("[{}]", numbers.join(",")),
        format!(
            "{{{}}}",
            numbers
                .iter()
                .enumerate()
                .map(|(at, number)| format!("\"{at}\":{number}"))
                .collect::<Vec<_>>()
                .join(",")
        ),
    ] {
        let rows = table(&cube(&value, ""), &[request("value", RequestedType::Text)]);
        assert_eq!(rows.column("value"), numbers.map(Some));
    }
    let whole = |value: &str| {
        let integer = [request("value", RequestedType::Integer)];
        read::<JsonStatReader>(cube(value, "").as_bytes(), &integer, &[])
    };
    let rows = whole("[9007199254740993,-9223372036854775808,3.0,1e+05,-0,120e-1]").unwrap();
    assert_eq!(
        rows.column("value"),
        ["9007199254740993", "-9223372036854775808", "3", "100000", "0", "12"].map(Some)
    );
    for number in ["12345678901234567890", "1.5", "0.99999999999999999999"] {
        let refused = whole(&format!("[{number},2,3,4,5,6]")).unwrap_err().to_string();
        let expected = format!("$.value, cell 0: {number} is no whole number of 64 bits; declare");
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[test]
fn what_a_publisher_calls_missing_is_no_value_contract_7() {
    let text = cube(r#"[1,":","..",-9999,5,null]"#, "");
    assert!(refusal(&text).starts_with("$.value, cell 1: \":\" is not a number"));
    let read = |options: &[(&str, &str)]| {
        let options: Vec<(&str, Value)> =
            options.iter().map(|(name, value)| (*name, Value::Text((*value).to_owned()))).collect();
        read::<JsonStatReader>(text.as_bytes(), &[], &options).unwrap()
    };
    let missing = ("missing_values", ": .. -9999");
    assert_eq!(read(&[missing]).column("value"), [Some("1"), Some("5")]);
    assert_eq!(
        read(&[missing, ("missing", "keep")]).column("value"),
        [Some("1"), None, None, None, Some("5"), None]
    );
}

#[test]
fn a_dimension_called_value_or_status_is_named_by_its_path_contract_7() {
    let text = cube("[1,2,3,4,5,6]", r#""status":"p","#)
        .replace("\"geo\"", "\"status\"")
        .replace("\"time\"", "\"value\"");
    let read = |source: Option<&str>, name: &str| {
        let request = ColumnRequest {
            name: name.to_owned(),
            source: source.map(str::to_owned),
            requested_type: RequestedType::Text,
        };
        let read = read::<JsonStatReader>(text.as_bytes(), &[request], &[]);
        read.map(|table| table.column(name)[0].unwrap().to_owned())
    };
    for (name, expected) in
        [("status", "$.dimension.status, $.status"), ("value", "$.dimension.value, $.value")]
    {
        for source in [None, Some(name)] {
            let refused = read(source, name).unwrap_err().to_string();
            let expected = format!(
                "{name}: 2 columns of the file fit it; name the one that is meant in `yearbook.source_columns`: {expected}"
            );
            assert_eq!(refused, expected);
        }
    }
    for (source, expected) in [
        ("$.dimension.status", "NZ"),
        ("status label", "New Zealand"),
        ("$.status", "p"),
        ("$.dimension.value", "2022"),
        ("$.value", "1"),
    ] {
        assert_eq!(read(Some(source), "x").as_deref(), Ok(expected), "{source}");
    }
    let all = table(&text, &[]);
    let names: Vec<&str> = all.columns.iter().map(|column| column.name.as_str()).collect();
    let expected =
        ["$.dimension.status", "$.dimension.value", "status label", "$.value", "$.status"];
    assert_eq!(names, expected);
    assert_eq!(all.column("$.dimension.value")[0], Some("2022"));
    assert_eq!(all.column("$.value")[0], Some("1"));
}

/// Agencies send the units of the whole table with a part of it.
#[test]
fn the_unit_of_the_value_is_that_of_the_category_that_is_there() {
    let text = r#"{"class":"dataset","id":["m"],"size":[1],"role":{"metric":["m"]},"value":[7],
        "dimension":{"m":{"category":{"index":["POP"],"unit":{"GDP":{"base":"EUR"},"POP":{"base":"persons"}}}}}}"#;
    let value = table(text, &[]).columns.pop().unwrap();
    assert_eq!((value.name.as_str(), value.unit.as_deref()), ("value", Some("persons")));
}
