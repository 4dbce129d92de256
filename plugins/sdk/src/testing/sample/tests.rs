//! Answers of the sample catalogue.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::Value;
use crate::adapter::{Operator, Pick, Version};
use crate::testing::project::HARD;

fn rows(selection: &Selection) -> Vec<Vec<Option<Value>>> {
    SampleCatalogue::new().rows(selection).unwrap().rows
}

fn refusal(selection: &Selection) -> (u16, String) {
    let refused = SampleCatalogue::new().rows(selection).unwrap_err();
    (refused.status, refused.problems[0].place.join("."))
}

fn select_all(dataset: &str) -> Selection {
    Selection { limit: Some(0), ..Selection::new(dataset) }
}

fn page(query: &DatasetQuery) -> Vec<String> {
    let (datasets, ..) = SampleCatalogue::new().datasets(query).unwrap();
    datasets.into_iter().map(|dataset| dataset.name).collect()
}

#[test]
fn datasets_are_searched_and_paged_contract_17() {
    let all = DatasetQuery::page(10);
    assert_eq!(page(&all), ["codes", "harvest_long", "places", "prices_wide"]);
    let of = |query: DatasetQuery| page(&query);
    assert_eq!(
        of(DatasetQuery { search: Some("HARVEST".into()), ..all.clone() }),
        ["harvest_long"]
    );
    assert_eq!(of(DatasetQuery { spatial: Some(true), ..all.clone() }), ["places"]);
    assert!(of(DatasetQuery { namespace: Some("x".into()), ..all.clone() }).is_empty());
    let near = |west, east| {
        let bbox = BoundingBox { west, south: -50.0, east, north: -30.0 };
        of(DatasetQuery { bbox: Some(bbox), ..all.clone() })
    };
    assert_eq!((near(-180.0, -177.0).len(), near(0.0, 10.0).len()), (1, 0));
    let catalogue = SampleCatalogue::new();
    let first = catalogue.datasets(&DatasetQuery { limit: 3, ..all.clone() }).unwrap();
    assert_eq!((first.0.len(), first.1, first.0[1].editions.len()), (3, 4, 1));
    let last = catalogue.datasets(&DatasetQuery { after: first.2, ..all.clone() }).unwrap();
    assert_eq!((last.0.len(), last.2), (1, None));
    assert_eq!(catalogue.datasets(&DatasetQuery { limit: 0, ..all }).unwrap_err().status, 422);
}

#[test]
fn rows_are_selected_as_on_v1_contract_17() {
    let harvest = || select_all("harvest_long");
    assert_eq!(rows(&Selection::new("harvest_long")).len(), 72);
    let mut selection = harvest();
    selection.condition("region", Operator::NotEqual, ["north"]).equal("final", "true");
    assert_eq!(rows(&selection).len(), 46);
    selection.condition("value", Operator::Ge, ["8"]);
    assert_eq!(rows(&selection).len(), 1);
    let mut selection = harvest();
    selection.condition::<String>("value", Operator::IsNull, []);
    assert_eq!(rows(&selection).len(), 5);
    let mut selection = harvest();
    selection.condition("region", Operator::Contains, ["OUT"]);
    assert_eq!(rows(&selection).len(), 24);
    let dates = |start: &str, end: &str| {
        let (start, end) = (Some(start.to_owned()), Some(end.to_owned()));
        rows(&Selection { start, end, ..harvest() }).len()
    };
    assert_eq!((dates("2025", "2025"), dates("2024-02", "2024-03-01")), (36, 6));
    let last = rows(&Selection { pick: Pick::Last(2), ..harvest() });
    assert_eq!((last.len(), &last[0][1]), (6, &Some(Value::Text("2025-11".into()))));
    assert_eq!(rows(&Selection { search: Some("NOR".into()), ..harvest() }).len(), 24);

    let mut selection =
        Selection { row_numbers: true, limit: Some(2), skip: 1, ..select_all("codes") };
    selection.sort("count", true);
    let codes = rows(&selection);
    let hard = Some(Value::Text(HARD.into()));
    assert_eq!(codes[1], [hard, Some(Value::Integer(-1)), Some(Value::Integer(2))]);
    assert_eq!(rows(&Selection { row: Some(3), ..select_all("codes") }).len(), 1);

    let across = BoundingBox { west: 174.0, south: -50.0, east: -170.0, north: 0.0 };
    let places = rows(&Selection { bbox: Some(across), geometry: true, ..select_all("places") });
    assert_eq!((places.len(), places[0].len()), (2, 3));
    assert_eq!(rows(&select_all("places"))[0].len(), 2);
    let revised = rows(&Selection { version: Version::Revisions, ..select_all("codes") });
    assert_eq!((revised.len(), revised[0].len()), (4, 4));
    let since = Version::ChangesSince("2026-06-15".into());
    assert!(rows(&Selection { version: since, ..select_all("codes") }).is_empty());
}

#[test]
fn what_is_wrong_with_a_selection_is_refused_contract_17() {
    let mut selection = select_all("harvest_long");
    selection.equal("region", "north").equal("value", "much");
    assert_eq!(refusal(&selection), (422, "query.where.value".into()));
    let text = |text: &str| Some(text.to_owned());
    for (selection, status, place) in [
        (Selection { start: text("soon"), ..select_all("harvest_long") }, 422, "query.start"),
        (Selection { end: text("2024"), ..select_all("codes") }, 422, "query.end"),
        (
            Selection { columns: Some(vec!["x".into()]), ..select_all("codes") },
            422,
            "query.columns",
        ),
        (Selection { cursor: text("x"), ..select_all("codes") }, 422, "query.cursor"),
        (Selection { cursor: text("row/1"), skip: 1, ..select_all("codes") }, 422, "query.skip"),
        (Selection { skip: 1_000_001, ..select_all("codes") }, 422, "query.skip"),
        (Selection { pick: Pick::First(1), ..select_all("codes") }, 422, "query.first"),
        (Selection { pick: Pick::Last(0), ..select_all("harvest_long") }, 422, "query.last"),
        (
            Selection { version: Version::AsOf("now".into()), ..select_all("codes") },
            422,
            "query.as_of",
        ),
        (Selection { version: Version::Snapshot("x".into()), ..select_all("codes") }, 404, ""),
    ] {
        assert_eq!(refusal(&selection), (status, place.to_owned()), "{selection:?}");
    }
}

#[test]
fn values_are_counted_and_paged_contract_17() {
    let catalogue = SampleCatalogue::new();
    let query = ValueQuery { limit: 2, ..ValueQuery::new(select_all("harvest_long"), ["region"]) };
    let first = catalogue.values(&query).unwrap().remove(0);
    assert_eq!((first.distinct, first.values.len(), &first.values[1].rows), (Some(3), 2, &24));
    assert_eq!(first.values[0].first.as_deref(), Some("2024-01-01"));
    let second = catalogue.values(&ValueQuery { after: first.next, ..query.clone() }).unwrap();
    assert_eq!((second[0].values[0].code.value.as_str(), &second[0].next), ("south", &None));
    let nulls = catalogue.values(&ValueQuery { columns: vec!["value".into()], ..query }).unwrap();
    assert_eq!(nulls[0].nulls, 5);
}
