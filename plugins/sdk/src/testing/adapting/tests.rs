//! Adapters that go wrong, tried natively.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::adapter::{AdapterDescription, Example, Host, Rows, Selection, Step, Wrapping};

/// Goes wrong as the first segment of a request says.
struct Odd;

impl Adapter for Odd {
    fn describe() -> AdapterDescription {
        AdapterDescription {
            name: "odd",
            version: "1.0.0",
            title: "Odd",
            docs: "Goes wrong.",
            posts: false,
            plus_is_space: false,
            headers: Vec::new(),
            key_parameter: None,
            examples: vec![
                Example::get("/rows", 200),
                Example::get("/rows", 404),
                Example::get("/ask", 200),
                Example::get("/panic", 200),
                Example::get("/instead", 200),
                Example::post("/", "text/plain", "", 200),
            ],
        }
    }

    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        match request.segments()[..] {
            ["ask"] => loop {
                host.formats()?;
            },
            ["panic"] => panic!("on purpose"),
            _ => {
                let selection = Selection { limit: Some(2), ..Selection::new("harvest_long") };
                Ok(Rows::new(selection, "json").into())
            }
        }
    }

    fn frame(request: &Request, _: &[Fact], known: &Known) -> Framing {
        if request.segments() == ["instead"] {
            return Document::text(200, "").into();
        }
        let next = known.next.as_deref().unwrap_or("none");
        Wrapping::object(&format!("{{\"next\":\"{next}\"}}"), "rows").count("sent").into()
    }

    fn refuse(_: &Request, refusal: &Refusal) -> Document {
        Document::text(if refusal.status == 404 { 501 } else { refusal.status }, "no")
    }
}

#[test]
fn everything_that_is_wrong_is_found_with_its_place_contract_17() {
    let mut odd = Native::<Odd>::new();
    let description = Odd::describe();
    try_adapter(&mut odd, &description.examples, description.posts);
    let expected = [
        "example 2, /rows: its status is 200 where 404 is named",
        "example 3, /ask: it asks 4 times",
        "example 4, /panic: it panics",
        "example 5, /instead: a document in place of rows that there are",
        "example 6, /: it is a POST, which the host refuses",
        "refusal 404: it makes status 501 of a refusal with 404",
    ];
    assert_eq!(odd.faults.len(), expected.len(), "{:#?}", odd.faults);
    for (fault, expected) in odd.faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault}");
    }
}

#[test]
fn rows_stand_in_what_the_adapter_puts_around_them_contract_17() {
    let whole = answer::<Odd>(&Example::get("/rows", 200).request);
    let text = String::from_utf8(whole.body).unwrap();
    assert!(
        text.starts_with(r#"{"next":"row/2","rows":[{"date":"2024-01-01","period":"#),
        "{text}"
    );
    assert!(text.ends_with(r#""value":1.0,"final":true}],"sent":2}"#), "{text}");
    assert_eq!(whole.media_type, "application/json");
}
