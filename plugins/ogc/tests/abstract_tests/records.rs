//! Records: the collection of all datasets.

use serde_json::{Value, json};
use yearbook_sdk::adapter::{Dataset, DatasetQuery, Example, Fact, Question, Refusal, Reply};
use yearbook_sdk::testing::sample::SampleCatalogue;

use super::service::{BASE, ask, get, links_in};

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
    let places = links_in(of(2), "items");
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

/// Terms and ids are no list of the host's, so their pages go on by number.
#[test]
fn records_of_terms_and_ids_are_paged_contract_18() {
    for (query, kept) in [
        ("q=places,codes&type=dataset", "q=places%2Ccodes&type=dataset"),
        ("ids=places,nothing,codes", "ids=places%2Cnothing%2Ccodes"),
    ] {
        let first = get(&format!("{ITEMS}?limit=1&{query}"));
        assert_eq!((first.ids(), &first.body["numberMatched"]), (vec![json!("places")], &json!(2)));
        assert_eq!(first.links("next"), [format!("{BASE}{ITEMS}?limit=1&{kept}&offset=1")]);
        let second = get(first.links("next")[0].strip_prefix(BASE).unwrap());
        assert_eq!((second.ids(), second.links("next").len()), (vec![json!("codes")], 0));
    }
    let ids = ["places"; 11].join(",");
    let eleven = get(&format!("{ITEMS}?ids={ids}"));
    assert_eq!((eleven.ids().len(), eleven.links("next").len()), (10, 1));
    // The last page ends where no number leads further.
    assert_eq!(get(&format!("{ITEMS}?offset=2999&limit=1000")).status, 200);
    assert_eq!(get(&format!("{ITEMS}?offset=3000&limit=1")).status, 400);
}

/// Of a term the host tells 1,000 datasets, whose lists may have the same ones behind.
#[test]
fn matches_are_counted_where_all_are_known_contract_18() {
    let query = DatasetQuery { columns: false, ..DatasetQuery::page(1) };
    let told = SampleCatalogue::new().answer(&Question::Datasets(query));
    let Fact::Datasets((sample, ..)) = told else { panic!("{told:?}") };
    let sample = &sample[0];
    let host = |all: u32| {
        move |question: &Question| {
            // One term alone comes with the formats.
            let Question::Datasets(query) = question else { return Fact::Formats(Vec::new()) };
            let term = query.search.clone().unwrap();
            let of = |at: u32| Dataset { name: format!("{term}{at}"), ..sample.clone() };
            let next = (query.limit < all).then(|| query.limit.to_string());
            Fact::Datasets(((0..all.min(query.limit)).map(of).collect(), all.into(), next))
        }
    };
    let page = |query: &str, all: u32| {
        let request = Example::get(&format!("{ITEMS}?{query}"), 0).request;
        let (reply, _) = ask(&request, host(all));
        let Reply::Document(document) = reply else { panic!("{reply:?}") };
        let body: Value = serde_json::from_slice(&document.body).unwrap();
        let has_next = !links_in(&body, "next").is_empty();
        (body["numberReturned"].as_u64(), body["numberMatched"].as_u64(), has_next)
    };
    assert_eq!(page("q=a,b", 600), (Some(10), Some(1_200), true));
    assert_eq!(page("q=a,b&limit=1000&offset=1000", 600), (Some(200), Some(1_200), false));
    assert_eq!(page("q=a,b&limit=1000&offset=1000", 1_000), (Some(1_000), Some(2_000), false));
    assert_eq!(page("q=a,b&limit=1000", 1_001), (Some(1_000), None, true));
    assert_eq!(page("q=a", 1_001), (Some(10), Some(1_001), true));
    // No number leads beyond 3,000.
    assert_eq!(page("q=a,b,c,d&offset=2990", 1_000), (Some(10), Some(4_000), false));
}

/// A record that the host has no room to tell of is there all the same.
#[test]
fn no_record_that_is_named_is_left_out_for_want_of_room_contract_18() {
    let catalogue = SampleCatalogue::new();
    let request = Example::get(&format!("{ITEMS}?ids=codes,nothing,places"), 0).request;
    let (reply, _) = ask(&request, |question| match question {
        Question::Dataset((name, _)) if name == "places" => {
            Fact::Refused(Refusal::new(413, "ask for less"))
        }
        question => catalogue.answer(question),
    });
    let Reply::Document(document) = reply else { panic!("{reply:?}") };
    let body: Value = serde_json::from_slice(&document.body).unwrap();
    assert_eq!(document.status, 413, "{body}");
    assert!(body["detail"].as_str().unwrap().contains("name fewer ids"), "{body}");
}
