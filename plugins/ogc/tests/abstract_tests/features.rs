//! Features Part 1 and 3: items, one feature, queryables.

use geojson::FeatureCollection;
use serde_json::json;
use yearbook_sdk::adapter::{Dataset, Example, Fact, Question, Reply, Rows};
use yearbook_sdk::testing::sample::SampleCatalogue;

use super::service::{BASE, ask, get, get_as};

const ITEMS: &str = "/collections/places/items";
const GEOJSON: &str = "application/geo+json";

fn names(query: &str) -> Vec<serde_json::Value> {
    let answer = get(&format!("{ITEMS}?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer.ids()
}

/// `/conf/core/fc-op`, `fc-response`, `fc-links`, `fc-timeStamp`, `fc-numberMatched`,
/// `fc-numberReturned`, `crs84`, `/conf/geojson/content`.
#[test]
fn items_are_a_feature_collection_contract_18() {
    let items = get(ITEMS);
    assert_eq!((items.status, items.media_type.as_str()), (200, GEOJSON));
    let read: FeatureCollection = serde_json::from_value(items.body.clone()).unwrap();
    assert_eq!(read.features.len(), 4);
    assert_eq!(
        (&items.body["numberMatched"], &items.body["numberReturned"]),
        (&json!(4), &json!(4))
    );
    // A time of its own would be another body each time.
    assert!(items.body.get("timeStamp").is_none());
    assert_eq!(items.links("self"), [format!("{BASE}{ITEMS}")]);
    let alternates = items.links("alternate");
    for f in ["html", "csv", "arrow", "parquet"] {
        assert!(alternates.contains(&&*format!("{BASE}{ITEMS}?f={f}")), "{f}: {alternates:?}");
    }
    assert!(items.links("next").is_empty());
    let first = &items.body["features"][0];
    assert_eq!(first["geometry"], json!({ "type": "Point", "coordinates": [174.8, -36.8] }));
    assert_eq!(first["properties"], json!({ "name": "Auckland", "date": "2024-01-01" }));
    assert_eq!(items.body["features"][1]["geometry"], json!(null));
}

/// `/conf/core/fc-limit-response`.
#[test]
fn a_limit_is_kept_and_pages_join_to_the_whole_contract_18() {
    let whole = get(ITEMS).ids();
    let mut address = format!("{ITEMS}?limit=3");
    let mut seen = Vec::new();
    for size in [3, 1] {
        let page = get(&address);
        assert_eq!(page.ids().len(), size);
        assert_eq!(page.body["numberReturned"], size);
        seen.extend(page.ids());
        let next = page.links("next");
        assert_eq!(page.next.as_deref(), next.first().copied(), "the header `Link`");
        let Some(next) = next.first() else { break };
        address = next.strip_prefix(BASE).unwrap().to_owned();
        assert!(address.contains("limit=3&cursor="), "{address}");
    }
    assert_eq!(seen, whole);
    assert_eq!(names("limit=10001").len(), 4, "more than the maximum is the maximum");
    assert_eq!(names("limit=99999999999999999999999").len(), 4);
}

/// `/conf/core/fc-bbox-response`, but that what has no geometry matches no box.
#[test]
fn a_box_selects_what_touches_it_across_180_degrees_too_contract_18() {
    assert_eq!(names("bbox=174,-37,175,-36"), ["Auckland"]);
    assert_eq!(names("bbox=174,-50,-170,0"), ["Auckland", "Waitangi"]);
    assert_eq!(names("bbox=-180,-90,180,90"), ["Auckland", "Invercargill", "Waitangi"]);
    assert_eq!(names("bbox=174,-37,-5,175,-36,5"), ["Auckland"], "heights count for nothing");
    assert!(names("bbox=0,0,10,10").is_empty());
    // Under a condition it is known how many match where all of them are on the page.
    let matched = |query: &str| get(&format!("{ITEMS}?{query}")).body.get("numberMatched").cloned();
    assert_eq!(matched("bbox=0,0,10,10"), Some(json!(0)));
    assert_eq!(matched("bbox=174,-50,-170,0"), Some(json!(2)));
    assert_eq!(matched("bbox=174,-50,-170,0&limit=1"), None);
}

/// `/conf/core/fc-time-response`.
#[test]
fn a_time_selects_the_days_that_it_meets_contract_18() {
    for (datetime, count) in [
        ("2024-01-01", 4),
        ("2024-01-01T12:00:00Z", 4),
        ("2024-01-02T00:00:00Z", 0),
        ("2024-01-02T01:00:00%2B02:00", 4),
        ("2023-12-31T00:00:00Z/2024-01-01T00:00:00Z", 4),
        ("2024-01-02T00:00:00Z/2024-02-01T00:00:00Z", 0),
        ("../2024-01-01T00:00:00Z", 4),
        ("/2023-12-31T00:00:00Z", 0),
        ("2024-01-01T00:00:00Z/..", 4),
        ("2024-01-02T00:00:00Z/", 0),
        ("2020-01-01T00:00:00Z/9999-12-31T00:00:00Z", 4),
    ] {
        assert_eq!(names(&format!("datetime={datetime}")).len(), count, "{datetime}");
    }
}

/// `/conf/core/f-op`, `f-success`, `f-links`.
#[test]
fn a_feature_is_found_by_its_key_contract_18() {
    for id in get(ITEMS).ids() {
        let id = id.as_str().unwrap();
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let one = get(&format!("{ITEMS}/{encoded}"));
        assert_eq!((one.status, one.media_type.as_str()), (200, GEOJSON), "{id}");
        let _: geojson::Feature = serde_json::from_value(one.body.clone()).unwrap();
        assert_eq!((&one.body["id"], &one.body["properties"]["name"]), (&json!(id), &json!(id)));
        assert_eq!(one.links("collection"), [format!("{BASE}/collections/places")]);
        assert_eq!(one.links("self").len(), 1);
        assert!(one.links("alternate").len() > 2);
    }
    let missing = get(&format!("{ITEMS}/nowhere"));
    assert_eq!((missing.status, missing.media_type.as_str()), (404, "application/problem+json"));
}

/// `/conf/queryables/get-queryables-op`, `get-queryables-response`,
/// `/conf/queryables-query-parameters/parameters`.
#[test]
fn queryables_are_a_schema_and_parameters_contract_18() {
    let answer = get("/collections/places/queryables");
    assert_eq!((answer.status, answer.media_type.as_str()), (200, "application/schema+json"));
    let schema = answer.body;
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["$id"], format!("{BASE}/collections/places/queryables"));
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]),
        (&json!("object"), &json!(false))
    );
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties["name"]["type"], "string");
    assert_eq!(properties["date"]["format"], "date");
    let geometry = &properties["geometry_wkt"];
    assert!(geometry["format"] == "geometry-any" && geometry.get("type").is_none());
    assert_eq!(names("name=Auckland"), ["Auckland"]);
    assert_eq!(names("name=Auckland&date=2024-01-01&bbox=170,-50,180,0"), ["Auckland"]);
    assert!(names("date=2024-01-02").is_empty());
    assert!(names("name=").is_empty());
}

#[test]
fn other_formats_come_by_name_or_by_accept_contract_18() {
    for f in ["csv", "arrow", "parquet"] {
        let answer = get(&format!("{ITEMS}?limit=2&f={f}"));
        assert_eq!((answer.status, answer.media_type.as_str()), (200, f));
        assert!(answer.next.unwrap().contains("cursor="), "the link is in the header");
    }
    assert_eq!(get_as(ITEMS, "text/csv, application/json;q=0.5").media_type, "csv");
    for f in ["json", "geojson"] {
        assert_eq!(get(&format!("{ITEMS}?f={f}")).media_type, GEOJSON);
    }
}

/// An address stands in every link to it, percent-encoded, and what stands before rows has bounds.
#[test]
fn a_long_address_has_fewer_links_or_is_refused_contract_18() {
    let answer = |value: &str| get(&format!("{ITEMS}?limit=1&bbox=174,-50,-170,0&name={value}"));
    let long = answer(&"%C5%8C".repeat(300));
    assert_eq!((long.status, long.links("self").len()), (200, 1));
    assert!(long.links("alternate").len() > 3);
    let longer = answer(&"%C5%8C".repeat(340));
    assert_eq!((longer.links("self").len(), longer.links("alternate").len()), (1, 0));
    let page = get(&format!("{ITEMS}?limit=1&datetime=2024-01-01T00:00:00.{}Z", "0".repeat(2_000)));
    assert_eq!((page.links("next").len(), page.next), (1, None), "in the body alone");
    assert_eq!(answer(&"%C5%8C".repeat(1_400)).status, 400);
    assert_eq!(get(&format!("{ITEMS}/{}", "a".repeat(9_000))).status, 400);
    assert_eq!(get(&format!("/collections/{}?f=html", "a".repeat(129))).status, 404);
}

/// The rows that a request asks for where `places` has another primary key.
fn rows_with_key(address: &str, key: &[&str]) -> Result<Rows, u16> {
    let catalogue = SampleCatalogue::new();
    let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
    let tell = |question: &Question| match catalogue.answer(question) {
        Fact::Dataset(dataset) => Fact::Dataset(Dataset { primary_key: key.clone(), ..dataset }),
        fact => fact,
    };
    match ask(&Example::get(address, 0).request, tell).0 {
        Reply::Rows(rows) => Ok(rows),
        Reply::Document(document) => Err(document.status),
        Reply::Ask(_) => panic!("more than four calls"),
    }
}

#[test]
fn rows_without_a_key_are_named_by_their_number_contract_18() {
    let option = |rows: &Rows| rows.options[0].clone();
    let all = rows_with_key(ITEMS, &[]).unwrap();
    assert_eq!((option(&all), all.selection.row_numbers), (("id".into(), "_row".into()), true));
    let one = rows_with_key(&format!("{ITEMS}/7"), &[]).unwrap();
    assert_eq!((one.selection.row, one.selection.limit), (Some(7), Some(1)));
    for wrong in ["x", "-1", "1.0", "7/8"] {
        assert_eq!(rows_with_key(&format!("{ITEMS}/{wrong}"), &[]).unwrap_err(), 404, "{wrong}");
    }
    let table = rows_with_key(&format!("{ITEMS}?f=csv"), &[]).unwrap();
    assert!(!table.selection.row_numbers && table.selection.geometry);
}

#[test]
fn a_key_of_several_columns_is_one_id_contract_18() {
    let key = ["name", "date"];
    let all = rows_with_key(ITEMS, &key).unwrap();
    assert_eq!(all.options[0].1, "name,date");
    let values = |address: &str| {
        let rows = rows_with_key(&format!("{ITEMS}/{address}"), &key)?;
        let conditions = rows.selection.conditions.into_iter();
        Ok(conditions.map(|condition| condition.values[0].clone()).collect::<Vec<_>>())
    };
    assert_eq!(values("Auckland,2024-01-01").unwrap(), ["Auckland", "2024-01-01"]);
    assert_eq!(values("a~,b%2Fc,2024-01-01").unwrap(), ["a,b/c", "2024-01-01"]);
    assert_eq!(values("a/b,2024-01-01").unwrap(), ["a/b", "2024-01-01"], "as some clients send it");
    let wrong: Result<_, u16> = values("Auckland");
    assert_eq!(wrong.unwrap_err(), 404);
}
