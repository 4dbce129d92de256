//! The trial of an adapter: its examples and requests that no client of its API sends, each twice,
//! over a catalogue that has nothing; and refusals of every status. The statuses of its examples
//! hold over a sample catalogue, so they are not compared. The sandbox checks what the answers
//! hold.

use std::sync::Arc;

use yearbook_sandbox::adapter::{Method, Reply, Request};
use yearbook_sandbox::catalogue::{Fact, Problem, Question, Refusal};
use yearbook_sandbox::{AdapterAnswer, AdapterCall, AdapterInput, PluginAdapter};

use super::report::ReportBuilder;

/// Most calls of `answer` that ask.
const MOST_ASKS: usize = 3;
/// Refusals of the host, with their codes.
const REFUSALS: [(u16, &str); 11] = [
    (400, "bad_request"),
    (401, "invalid_key"),
    (403, "no_derivatives"),
    (404, "not_found"),
    (406, "not_acceptable"),
    (410, "snapshot_gone"),
    (413, "too_many_rows"),
    (422, "validation_error"),
    (429, "rate_limited"),
    (500, "internal_error"),
    (503, "busy"),
];

pub(super) fn check(adapter: &PluginAdapter, tally: &mut ReportBuilder) {
    let examples = &adapter.description().examples;
    for (at, example) in examples.iter().enumerate() {
        let place = format!("example {}", at + 1);
        check_request(adapter, &place, example.request.clone(), tally);
    }
    for (place, request) in odd_requests(adapter) {
        check_request(adapter, place, request, tally);
    }
    let Some(example) = examples.first() else { return };
    for (status, code) in REFUSALS {
        let sentence = "\"<&>\\ \u{1f}Ōtautahi\n]]>".to_owned();
        let problem = Problem { place: vec!["query".into(), "where.region".into()], sentence };
        let refusal = Refusal {
            status,
            code: code.into(),
            problems: vec![problem],
            retry_after: (status == 429).then_some(1),
        };
        let request = with_base(example.request.clone());
        call(adapter, &format!("refusal {status}"), request, AdapterCall::Refuse(refusal), tally);
    }
}

/// Requests within the rules of the interface that no client of an API sends.
fn odd_requests(adapter: &PluginAdapter) -> Vec<(&'static str, Request)> {
    let empty = Request {
        method: Method::Get,
        base: String::new(),
        path: Vec::new(),
        query: Vec::new(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    let odd = ["", ".", "..", "%2F", "\0", "'; --", "<script>", "Ōtautahi", "\u{202e}"];
    let odd = odd.map(str::to_owned);
    let pairs = odd.iter().cycle().zip(odd.iter().rev().cycle());
    let query = pairs.take(256).map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut requests = vec![
        ("a request without a path", empty.clone()),
        ("a path of odd segments", Request { path: odd.to_vec(), ..empty.clone() }),
        ("a long segment", Request { path: vec!["a".repeat(8 << 10)], ..empty.clone() }),
        ("256 odd parameters", Request { query, ..empty.clone() }),
    ];
    if adapter.description().posts {
        for (place, body) in [
            ("a body that is no UTF-8", b"\xff\xfe\0".repeat(1_000)),
            ("a deep body", b"[".repeat(64 << 10)),
            ("no body", Vec::new()),
        ] {
            requests.push((place, Request { method: Method::Post, body, ..empty.clone() }));
        }
    }
    requests
}

fn with_base(request: Request) -> Arc<Request> {
    Arc::new(Request { base: "https://data.example/api/adapter".to_owned(), ..request })
}

/// Asks until there is an answer, and once more.
fn check_request(
    adapter: &PluginAdapter,
    place: &str,
    request: Request,
    tally: &mut ReportBuilder,
) {
    let request = with_base(request);
    let mut facts = Vec::new();
    for asked in 0..=MOST_ASKS {
        let answer = || AdapterCall::Answer(Arc::new(facts.clone()));
        let Some(made) = call(adapter, place, Arc::clone(&request), answer(), tally) else {
            return;
        };
        let Some(again) = call(adapter, place, Arc::clone(&request), answer(), tally) else {
            return;
        };
        if made != again {
            return tally.find(
                place,
                "the same request has another answer the second time".to_owned(),
                "leave out whatever depends on memory addresses, hash order or what came before",
            );
        }
        let AdapterAnswer::Reply(Reply::Ask(questions)) = made else { return };
        if asked == MOST_ASKS {
            return tally.find(
                place,
                format!("it asks {} times", MOST_ASKS + 1),
                "ask together what can be asked together: a request has four calls",
            );
        }
        facts.extend(questions.iter().map(fact));
    }
}

/// The answer of a catalogue that has nothing.
fn fact(question: &Question) -> Fact {
    match question {
        Question::Datasets(_) => Fact::Datasets((Vec::new(), 0, None)),
        Question::Formats => Fact::Formats(Vec::new()),
        _ => Fact::Refused(Refusal {
            status: 404,
            code: "dataset_not_found".into(),
            problems: vec![Problem {
                place: Vec::new(),
                sentence: "there is no such dataset".into(),
            }],
            retry_after: None,
        }),
    }
}

fn call(
    adapter: &PluginAdapter,
    place: &str,
    request: Arc<Request>,
    call: AdapterCall,
    tally: &mut ReportBuilder,
) -> Option<AdapterAnswer> {
    match adapter.trial(&AdapterInput { request, call }) {
        Ok((answer, usage)) => {
            tally.record_usage(usage);
            Some(answer)
        }
        Err(failed) => {
            tally.find_failure(place, failed);
            None
        }
    }
}
