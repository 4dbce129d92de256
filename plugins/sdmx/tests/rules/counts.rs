//! The rules of docs/spec/sdmx.md for what is counted before it is sent, over the sample catalogue.

use yearbook_sdk::adapter::{
    Column, Document, Example, Fact, Problem, Question, Refusal, Reply, Version,
};

use crate::catalogue::{harvest, reply, reply_over, text};

/// The versions whose rows and values were counted.
fn counted_versions(asked: &[Question]) -> Vec<&Version> {
    let versions = asked.iter().filter_map(|question| match question {
        Question::Count(selection) => Some(&selection.version),
        Question::Values(query) => Some(&query.selection.version),
        _ => None,
    });
    versions.collect()
}

/// The answer of a host that refuses some questions.
fn document_refused(address: &str, refusal: &Refusal, is_it: fn(&Fact) -> bool) -> Document {
    let (reply, _) = reply_over(&Example::get(address, 0).request, |fact| {
        if is_it(fact) {
            *fact = Fact::Refused(refusal.clone());
        }
    });
    match reply {
        Reply::Document(document) => document,
        _ => panic!("{address} has rows"),
    }
}

#[test]
fn what_is_counted_and_what_is_sent_are_of_one_version_contract_19() {
    let newest = Version::Snapshot("0123456789abcdef0123456789abcdef".to_owned());
    for (address, rows) in [
        ("/2.1/data/HARVEST_LONG", 72),
        ("/2.1/data/HARVEST_LONG/north", 24),
        ("/2.1/data/HARVEST_LONG?startPeriod=2025&lastNObservations=1", 3),
        // Until the day ends, the version of its end may become another.
        ("/3.0/data/dataflow/*/HARVEST_LONG?asOf=2026-07-01", 72),
        ("/2.1/data/HARVEST_LONG?asOf=2026-07-01T09:00:00", 72),
    ] {
        let (reply, asked) = reply(&Example::get(address, 0).request);
        let Reply::Rows(sent) = reply else { panic!("{address} has no rows") };
        let selection = sent.selection;
        assert_eq!((&selection.version, selection.limit), (&newest, Some(rows)), "{address}");
        let counted = counted_versions(&asked);
        assert!(counted.iter().all(|version| **version == newest), "{address}: {counted:?}");
        let times = asked.iter().filter(|question| matches!(question, Question::Citation(_)));
        assert_eq!(times.count(), usize::from(address.contains("asOf")), "{address}");
    }
    let available = "/2.1/availableconstraint/HARVEST_LONG";
    let (_, asked) = reply(&Example::get(&format!("{available}/north"), 0).request);
    assert_eq!(counted_versions(&asked), [&newest; 2]);
    // Of no other are values free.
    let (_, asked) = reply(&Example::get(available, 0).request);
    assert_eq!(counted_versions(&asked), [&Version::Current]);
}

#[test]
fn a_version_that_is_gone_before_it_is_read_is_no_empty_answer_contract_19() {
    for (code, status) in [("snapshot_gone", 422), ("history_gone", 404)] {
        let refusal = Refusal { code: code.to_owned(), ..Refusal::new(410, "it is not kept") };
        let is_count = |fact: &Fact| matches!(fact, Fact::Count(_));
        let document = document_refused("/2.1/data/HARVEST_LONG/north", &refusal, is_count);
        assert_eq!(document.status, status, "{code}");
        assert_eq!(text(&document).contains("ask again"), status == 422, "{code}");
    }
}

#[test]
fn whether_a_time_is_in_the_future_the_host_says_contract_21() {
    let refusal = Refusal::new(422, "as_of must not be after today");
    for place in ["data", "availableconstraint"] {
        let address = format!("/2.1/{place}/HARVEST_LONG?asOf=2100-01-01");
        let is_time = |fact: &Fact| matches!(fact, Fact::Citation(_));
        assert_eq!(document_refused(&address, &refusal, is_time).status, 400, "{place}");
    }
}

#[test]
fn more_codes_than_the_host_takes_are_its_refusal_contract_19() {
    let codes: Vec<String> = (0..4_100).map(|at| format!("C{at}")).collect();
    let (any, listed) = (codes.join("+"), codes.join(","));
    let sentence = "the conditions have 4100 values and may have 1024; ask in several requests";
    let place = vec!["query".to_owned(), "where".to_owned()];
    let problems = vec![Problem { place, sentence: sentence.to_owned() }];
    let refusal = Refusal { problems, ..Refusal::new(422, "") };
    for (place, address) in [
        ("data", format!("/2.1/data/HARVEST_LONG/{any}")),
        ("availability", format!("/2.1/availableconstraint/HARVEST_LONG/{any}")),
        ("data 3.0", format!("/3.0/data/dataflow/*/HARVEST_LONG?c[REGION]={listed}")),
        ("availability 3.0", format!("/3.0/availability/*/*/HARVEST_LONG/*/{any}")),
    ] {
        let is_counted = |fact: &Fact| matches!(fact, Fact::Count(_) | Fact::Values(_));
        let document = document_refused(&address, &refusal, is_counted);
        assert_eq!(document.status, 400, "{place}");
        assert!(text(&document).contains(sentence), "{place}: {}", text(&document));
    }
}

#[test]
fn dates_without_dimensions_are_those_of_rows_contract_19() {
    for flow in ["PRICES_WIDE", "HARVEST_LONG"] {
        let address = format!("/2.1/availableconstraint/{flow}?startPeriod=2024-03");
        let (reply, asked) = reply_over(&Example::get(&address, 0).request, |fact| match fact {
            // A status that few rows have, or dates of which an answer has the first ones.
            Fact::Values(columns) => columns.iter_mut().for_each(|one| one.values.truncate(1)),
            fact => harvest(|dataset| {
                dataset.primary_key = vec!["date".to_owned()];
                let flag = dataset.columns.iter_mut().filter(|column| column.name == "final");
                flag.for_each(|flag| flag.role = "status".to_owned());
            })(fact),
        });
        let Reply::Document(document) = reply else { panic!("{address} has rows") };
        let message = text(&document);
        assert!(message.contains(">2024-03-01<") && message.contains(">2025-12-01<"), "{message}");
        let reads = asked.iter().filter(|question| matches!(question, Question::Rows(_)));
        assert_eq!(reads.count(), 2, "{flow}");
    }
    // With so many statuses that their values are two reads, there is no room for two of rows.
    let address = "/2.1/availableconstraint/HARVEST_LONG?startPeriod=2024-03";
    let (_, asked) = reply_over(
        &Example::get(address, 0).request,
        harvest(|dataset| {
            dataset.primary_key = vec!["date".to_owned()];
            let flag = dataset.columns.iter().find(|column| column.name == "final");
            let flag = Column { role: "status".to_owned(), ..flag.unwrap().clone() };
            dataset.columns.retain(|column| column.name != "final");
            let flags =
                (0..17).map(|number| Column { name: format!("final_{number}"), ..flag.clone() });
            dataset.columns.extend(flags);
        }),
    );
    let is_read = |question: &&Question| {
        matches!(question, Question::Values(_) | Question::Count(_) | Question::Rows(_))
    };
    assert_eq!(asked.iter().filter(is_read).count(), 3, "{asked:?}");
    let (_, asked) = reply(&Example::get("/2.1/availableconstraint/HARVEST_LONG/north", 0).request);
    assert!(!asked.iter().any(|question| matches!(question, Question::Rows(_))), "values tell");
}
