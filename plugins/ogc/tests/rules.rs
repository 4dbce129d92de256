//! The format of the adapter: ids of features, and layouts.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use yearbook_geojson_writer::id_parts;
use yearbook_ogc::Features;
use yearbook_sdk::testing::{Table, conformance, encode};
use yearbook_sdk::{Error, Value as OptionValue};

fn encoded(table: &Table, id: &str, layout: &str) -> String {
    let option = |text: &str| OptionValue::Text(text.to_owned());
    let options = [("id", option(id)), ("layout", option(layout))];
    String::from_utf8(encode::<Features>(table, &options).unwrap()).unwrap()
}

fn ids(table: &Table, id: &str) -> Vec<Value> {
    let features: Value = serde_json::from_str(&encoded(table, id, "array")).unwrap();
    features.as_array().unwrap().iter().map(|feature| feature["id"].clone()).collect()
}

fn table() -> Table {
    Table::new()
        .dictionary("region", &[Some("a,b"), Some("~"), Some("Ōtautahi")])
        .integers("_row", &[Some(0), Some(1), Some(12)])
        .text("shape", &[Some("POINT (1 2)"), None, Some("POINT (3 4)")])
        .integers("year", &[Some(2020), Some(2021), Some(-1)])
        .numbers("value", &[Some(1.0), Some(-0.5), Some(1e21)])
        .booleans("final", &[Some(true), Some(false), None])
        .about("shape", "yearbook.role", "geometry")
}

#[test]
fn conforms() {
    conformance::check::<Features>(|bytes| {
        serde_json::from_slice::<Vec<geojson::Feature>>(bytes).unwrap().len()
    });
}

#[test]
fn an_id_is_the_primary_key_and_an_integer_where_that_is_one_contract_18() {
    assert_eq!(ids(&table(), "year"), [json!(2020), json!(2021), json!(-1)]);
    assert_eq!(ids(&table(), "region"), ["a,b", "~", "Ōtautahi"]);
    assert_eq!(ids(&table(), "value"), ["1.0", "-0.5", "1e+21"]);
    assert_eq!(ids(&table(), "region,year"), ["a~,b,2020", "~~,2021", "Ōtautahi,-1"]);
    assert_eq!(ids(&table(), "final,region"), ["true,a~,b", "false,~~", ",Ōtautahi"]);
    assert_eq!(ids(&table(), ""), [json!(null), json!(null), json!(null)]);
    let long = ["long ".repeat(100), "words ".repeat(100)];
    let long = long.each_ref().map(|text| Some(text.as_str()));
    let long = Table::new().text("name", &long).text("shape", &[None::<&str>, None]).about(
        "shape",
        "yearbook.role",
        "geometry",
    );
    assert!(ids(&long, "name")[1].as_str().unwrap().starts_with("words words "));
}

#[test]
fn an_id_leads_back_to_its_key_contract_18() {
    for parts in [["a,b", "2020"], ["~", "~,"], ["", ""], [",~,", "Ō"]] {
        let region = Table::new()
            .text("one", &[Some(parts[0])])
            .text("two", &[Some(parts[1])])
            .text("shape", &[None::<&str>])
            .about("shape", "yearbook.role", "geometry");
        let id = ids(&region, "one,two").remove(0);
        assert_eq!(id_parts(id.as_str().unwrap(), 2).unwrap(), parts);
    }
    assert_eq!(id_parts("a,~b", 1).unwrap(), ["a,~b"]);
    for wrong in ["a", "a,b,c", "a~b,c", "a,b~"] {
        assert_eq!(id_parts(wrong, 2), None, "{wrong}");
    }
}

#[test]
fn a_row_number_is_an_id_and_no_property_contract_18() {
    assert_eq!(ids(&table(), "_row"), [0, 1, 12]);
    let features: Vec<Value> = serde_json::from_str(&encoded(&table(), "_row", "array")).unwrap();
    let properties = json!({ "region": "~", "year": 2021, "value": -0.5, "final": false });
    assert_eq!(features[1]["properties"], properties);
    let none = encode::<Features>(&table(), &[("id", OptionValue::Text("nothing".to_owned()))]);
    assert!(matches!(none, Err(Error::InvalidOption(sentence)) if sentence.contains("nothing")));
}

#[test]
fn members_of_a_feature_stand_without_its_braces_contract_18() {
    let one = Table::new().text("name", &[Some("x")]).text("shape", &[Some("POINT (1 2)")]).about(
        "shape",
        "yearbook.role",
        "geometry",
    );
    assert_eq!(
        encoded(&one, "name", "members"),
        r#","type":"Feature","id":"x","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"x"}"#
    );
}
