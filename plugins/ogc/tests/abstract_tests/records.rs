//! Records: the collection of all datasets.

use serde_json::{Value, json};

use super::service::{BASE, get};

const ITEMS: &str = "/collections/catalogue/items";

fn names(query: &str) -> Vec<Value> {
    let answer = get(&format!("{ITEMS}?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer.ids()
}

/// `/conf/record-core/mandatory-properties-record`, `time-interval`, `links`.
#[test]
fn every_dataset_is_a_record_contract_18() {
    let all = get(ITEMS);
    assert_eq!((all.status, all.media_type.as_str()), (200, "application/geo+json"));
    assert_eq!(all.ids(), ["codes", "harvest_long", "places", "prices_wide"]);
    assert_eq!((&all.body["numberMatched"], &all.body["numberReturned"]), (&json!(4), &json!(4)));
    for record in all.body["features"].as_array().unwrap() {
        let id = record["id"].as_str().unwrap();
        assert_eq!(
            (&record["type"], &record["properties"]["type"]),
            (&json!("Feature"), &json!("dataset"))
        );
        assert!(
            record["properties"]["title"].is_string()
                && record["properties"]["updated"].is_string()
        );
        let one = get(&format!("{ITEMS}/{id}"));
        assert_eq!((one.status, &one.body["properties"]), (200, &record["properties"]));
        assert_eq!(one.links("self"), [format!("{BASE}{ITEMS}/{id}")]);
        assert_eq!(one.links("collection"), [format!("{BASE}/collections/catalogue")]);
        let described = format!("https://data.example.org/v1/datasets/{id}");
        assert_eq!(one.links("describedby"), [described]);
    }
    let of = |at: usize| &all.body["features"][at];
    assert_eq!((&of(0)["geometry"], &of(0)["time"]), (&json!(null), &json!(null)));
    assert_eq!(
        of(1)["time"],
        json!({ "interval": ["2024-01-01", "2025-12-01"], "resolution": "P1M" })
    );
    // Across 180° the shape goes all around, as a client reads it that takes corners for the box.
    let shape = &of(2)["geometry"];
    let corners = (&shape["coordinates"][0][0], &shape["coordinates"][0][2]);
    assert_eq!(shape["type"], "Polygon");
    assert_eq!(corners, (&json!([-180.0, -46.5]), &json!([180.0, -36.8])));
    assert_eq!(of(2)["bbox"], json!([168.3, -46.5, -176.5, -36.8]));
    let places = super::service::links_in(of(2), "items");
    assert_eq!(places, [format!("{BASE}/collections/places/items")]);
    assert_eq!(get(&format!("{ITEMS}/nothing")).status, 404);
}

/// `/conf/record-core-query-parameters/…`.
#[test]
fn records_are_searched_and_paged_contract_18() {
    assert_eq!(names("q=HARVEST"), ["harvest_long"]);
    assert_eq!(names("q=places,codes"), ["places", "codes"]);
    assert_eq!(names("q=places,codes,codes&limit=1&offset=1"), ["codes"]);
    assert!(names("q=nothing").is_empty());
    assert_eq!(names("bbox=-180,-50,-170,0"), ["places"]);
    assert_eq!(names("ids=places,nothing,codes,.."), ["places", "codes"]);
    assert!(names("ids=").is_empty());
    assert_eq!(names("type=dataset").len(), 4);
    assert!(names("type=service").is_empty());
    assert_eq!(names("datetime=2025-03-01T00:00:00Z/.."), ["codes", "harvest_long", "prices_wide"]);
    assert_eq!(names("datetime=../2023-12-31"), ["codes"]);
    assert_eq!(names("offset=2&limit=1"), ["places"]);
    let first = get(&format!("{ITEMS}?limit=3"));
    let next = first.links("next");
    let second = get(next[0].strip_prefix(BASE).unwrap());
    assert_eq!(second.ids(), ["prices_wide"]);
    assert!(second.links("next").is_empty());
    for wrong in ["offset=5000", "q=,", "q=a,b,c,d,e,f,g,h,i", "type=service&q=,", "ids=codes&q=a"]
    {
        assert_eq!(get(&format!("{ITEMS}?{wrong}")).status, 400, "{wrong}");
    }
}
