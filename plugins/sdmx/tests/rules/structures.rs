//! The rules of docs/spec/sdmx.md for structures and availability, over the sample catalogue.

use yearbook_sdk::adapter::{Dataset, Example, Fact, Question, Refusal, Reply};

use crate::catalogue::{document, harvest, longer_key, reply, reply_over, rows, text};

#[test]
fn availability_without_a_condition_is_free_contract_19() {
    let asked = |address: &str| {
        let (reply, asked) = reply(&Example::get(address, 0).request);
        assert!(matches!(reply, Reply::Document(document) if document.status == 200));
        let is_read = |question: &Question| match question {
            Question::Count(_) => true,
            Question::Values(query) => !query.selection.conditions.is_empty(),
            _ => false,
        };
        asked.iter().filter(|question| is_read(question)).count()
    };
    assert_eq!(asked("/2.1/availableconstraint/HARVEST_LONG"), 0);
    assert_eq!(asked("/3.0/availability/dataflow/*/HARVEST_LONG/*/*?references=all"), 0);
    assert_eq!(asked("/2.1/availableconstraint/HARVEST_LONG/north"), 2);
    let one = text(&document("/2.1/availableconstraint/HARVEST_LONG/all/all/REGION"));
    assert!(one.contains("<com:Value>south</com:Value>") && !one.contains("TimeRange"), "{one}");
}

#[test]
fn tables_without_a_key_are_no_dataflows_contract_19() {
    let list = text(&document("/2.1/dataflow/all"));
    assert!(list.contains("id=\"HARVEST_LONG\"") && !list.contains("id=\"CODES\""));
    let missing = document("/2.1/data/CODES");
    assert_eq!(missing.status, 404);
    assert!(text(&missing).contains("no primary key"), "{}", text(&missing));
}

#[test]
fn an_agency_is_a_namespace_or_the_service_contract_19() {
    for agency in ["all", "TESTS", "YEARBOOK", "ECB+TESTS"] {
        let address = format!("/2.1/dataflow/{agency}/HARVEST_LONG/latest");
        assert_eq!(document(&address).status, 200, "{agency}");
    }
    for address in ["/2.1/dataflow/ALL/HARVEST_LONG/LATEST", "/2.1/codelist/ALL/ALL/ALL/ALL"] {
        assert_eq!(document(address).status, 200, "{address}");
    }
    let newest = rows("/2.1/data/TESTS,HARVEST_LONG,LATEST/north/ALL");
    assert_eq!(newest.selection.conditions.len(), 1);
    assert_eq!(document("/2.1/dataflow/ECB/HARVEST_LONG/latest").status, 404);
    assert_eq!(document("/2.1/dataflow/TESTS/HARVEST_LONG/1.1").status, 404);
    let scheme = text(&document("/2.1/agencyscheme/SDMX/AGENCIES"));
    assert!(scheme.contains("<str:Agency id=\"TESTS\">"), "{scheme}");
}

#[test]
fn tables_without_stored_codes_are_no_dataflows_contract_19() {
    let region = |distinct| {
        move |dataset: &mut Dataset| {
            let mut columns = dataset.columns.iter_mut();
            columns.find(|column| column.name == "region").unwrap().distinct = distinct;
        }
    };
    let changes = [("not stored", region(None)), ("more than 10,000", region(Some(10_001)))];
    for (what, change) in changes {
        for (address, status) in [
            ("/2.1/dataflow/all", 200),
            ("/2.1/codelist/all", 200),
            ("/2.1/data/HARVEST_LONG", 404),
            ("/2.1/codelist/all/HARVEST_LONG-REGION", 404),
            ("/2.1/availableconstraint/HARVEST_LONG", 404),
            ("/3.0/structure/dataflow/*/HARVEST_LONG", 204),
        ] {
            let (reply, asked) = reply_over(&Example::get(address, 0).request, harvest(change));
            let Reply::Document(document) = reply else { panic!("{address} has rows") };
            assert_eq!(document.status, status, "{what}: {address}");
            let body = text(&document);
            assert!(!body.contains("id=\"HARVEST_LONG"), "{what}: {address}: {body}");
            assert_eq!(status == 404, body.contains("has no codelist"), "{what}: {address}");
            let is_asked = |question: &Question| match question {
                Question::Values(query) => query.selection.dataset == "harvest_long",
                _ => false,
            };
            assert!(!asked.iter().any(is_asked), "{what}: {address}");
        }
    }
    let (reply, _) =
        reply_over(&Example::get("/2.1/dataflow/all", 0).request, harvest(region(Some(10_000))));
    let Reply::Document(list) = reply else { panic!("a list has rows") };
    assert!(text(&list).contains("id=\"HARVEST_LONG\""), "{}", text(&list));
}

#[test]
fn an_id_is_found_among_structures_of_any_kind_contract_19() {
    for address in ["/2.1/structure/all/HARVEST_LONG", "/3.0/structure/*/*/HARVEST_LONG"] {
        let found = text(&document(address));
        assert!(found.contains("<str:Dataflow id=\"HARVEST_LONG\""), "{address}: {found}");
        assert!(!found.contains("str:Codelist ") && !found.contains("AgencyScheme"), "{found}");
    }
    let found = text(&document("/2.1/structure/all/HARVEST_LONG-REGION"));
    assert!(found.contains("id=\"HARVEST_LONG-REGION\""), "{found}");
    assert!(!found.contains("HARVEST_LONG-FINAL") && !found.contains("str:Dataflow "), "{found}");
    assert_eq!(document("/2.1/structure/all/NOTHING").status, 404);
}

#[test]
fn several_kinds_are_referred_to_at_once_contract_19() {
    for address in [
        "/3.0/availability/dataflow/*/HARVEST_LONG?references=codelist,datastructure,valuelist",
        "/3.0/structure/dataflow/*/HARVEST_LONG?references=codelist,datastructure,valuelist",
    ] {
        let message = text(&document(address));
        let has = |part: &str| message.contains(part);
        assert!(has("<str:Codelist ") && has("<str:DataStructure "), "{address}: {message}");
        assert!(!has("<str:ConceptScheme "), "{address}: {message}");
    }
    // There is one in 2.1.
    let several = "references=codelist,datastructure";
    for place in ["availableconstraint/HARVEST_LONG", "datastructure/all/HARVEST_LONG"] {
        assert_eq!(document(&format!("/2.1/{place}?{several}")).status, 400, "{place}");
    }
    for none in ["/3.0/availability/dataflow/*/HARVEST_LONG", "/3.0/structure/dataflow/*"] {
        assert_eq!(document(&format!("{none}?references=valuelist")).status, 200, "{none}");
        assert_eq!(document(&format!("{none}?references=codelist,x")).status, 400, "{none}");
    }
}

#[test]
fn lists_that_are_not_whole_say_so_contract_19() {
    const JSON: &str = "application/vnd.sdmx.structure+json;version=2.0.0";
    for (place, partial) in [
        ("codelist/*/HARVEST_LONG-REGION/1.0/north", 1),
        ("codelist/*/HARVEST_LONG-REGION/1.0", 0),
        ("codelist/*/HARVEST_LONG-REGION/1.0/north?detail=allstubs", 0),
        ("conceptscheme/*/HARVEST_LONG/1.0/REGION", 1),
        ("conceptscheme/*/HARVEST_LONG", 0),
        // Of what is referred to there are all items.
        ("conceptscheme/*/HARVEST_LONG/1.0/REGION?references=codelist", 1),
        ("agencyscheme/SDMX/AGENCIES/1.0/TESTS", 1),
        ("agencyscheme", 0),
        ("dataflow/*/HARVEST_LONG/1.0/north", 0),
    ] {
        let has = |message: &str, mark: &str| message.matches(mark).count();
        let old = format!("/2.1/{}", place.replace('*', "all"));
        assert_eq!(has(&text(&document(&old)), "isPartial=\"true\""), partial, "{old}");
        let new = format!("/3.0/structure/{place}");
        let message = text(&document(&new));
        assert_eq!(has(&message, "isPartial=\"true\""), partial, "{new}: {message}");
        let request = Example::get(&new, 0).header("accept", JSON).request;
        let Reply::Document(json) = reply(&request).0 else { panic!("{new} has rows") };
        assert_eq!(has(&text(&json), "\"isPartial\":true"), partial, "{new}");
    }
    let one = "/2.1/conceptscheme/all/HARVEST_LONG/1.0/REGION?references=codelist";
    let items = text(&document(one));
    assert!(items.contains("<str:Code id=\"north\""), "{items}");
    assert!(!items.contains("<str:Concept id=\"FINAL\""), "{items}");
}

#[test]
fn codelists_under_a_condition_are_partial_contract_19() {
    for (place, partial) in [
        ("HARVEST_LONG/north?references=all", 1),
        ("HARVEST_LONG?references=all", 0),
        ("PRICES_WIDE?references=all&startPeriod=2025", 0),
        ("HARVEST_LONG?references=all&asOf=2026-06-30", 1),
    ] {
        let message = text(&document(&format!("/2.1/availableconstraint/{place}")));
        let lists = message.matches("<str:Codelist ").count();
        assert!(lists > 0, "{place}: {message}");
        let found = message.matches("isPartial=\"true\"").count();
        assert_eq!(found, partial * lists, "{place}: {message}");
    }
}

#[test]
fn a_dataflow_that_the_host_has_no_room_to_tell_is_not_left_out_contract_19() {
    for (address, status) in [
        ("/2.1/dataflow/all/HARVEST_LONG+PRICES_WIDE", 413),
        ("/3.0/structure/dataflow/*/HARVEST_LONG", 413),
        ("/2.1/data/HARVEST_LONG", 413),
        ("/2.1/dataflow/all", 200),
    ] {
        let (reply, _) = reply_over(&Example::get(address, 0).request, |fact| {
            if matches!(fact, Fact::Dataset(dataset) if dataset.name == "harvest_long") {
                *fact = Fact::Refused(Refusal::new(413, "ask for less"));
            }
        });
        let Reply::Document(document) = reply else { panic!("{address} has rows") };
        assert_eq!(document.status, status, "{address}");
    }
}

#[test]
fn more_names_than_a_query_has_are_400_contract_19() {
    let names = |count: usize| (0..count).map(|at| format!("FLOW_{at}")).collect::<Vec<_>>();
    for (count, status) in [(24, 404), (25, 400)] {
        let named = document(&format!("/2.1/dataflow/all/{}", names(count).join("+")));
        assert_eq!(named.status, status, "{count}");
        assert_eq!(text(&named).contains("at most 24 dataflows"), status == 400, "{count}");
    }
    let address = format!("/3.0/structure/dataflow/*/{}", names(25).join(","));
    assert_eq!(document(&address).status, 400);
}

#[test]
fn values_of_many_columns_are_asked_for_in_parts_contract_19() {
    let change = harvest(longer_key(20));
    for address in
        ["/2.1/codelist/all/HARVEST_LONG-PART_19", "/2.1/availableconstraint/HARVEST_LONG"]
    {
        // The sample catalogue has no such columns, and refuses what it is asked of them.
        let (reply, asked) = reply_over(&Example::get(address, 0).request, |fact| match fact {
            Fact::Refused(_) => *fact = Fact::Values(Vec::new()),
            fact => change(fact),
        });
        assert!(matches!(reply, Reply::Document(document) if document.status == 200), "{address}");
        let columns = asked.iter().filter_map(|question| match question {
            Question::Values(query) => Some(query.columns.len()),
            _ => None,
        });
        assert_eq!(columns.collect::<Vec<_>>(), [16, 5], "{address}");
    }
}
