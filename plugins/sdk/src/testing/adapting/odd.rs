//! Requests that no client of an API sends, and refusals that a host may make.

use crate::adapter::{Method, Problem, Refusal, Request};

/// Statuses of a host's refusals, with their codes.
const REFUSALS: [(u16, &str); 11] = [
    (400, "bad_request"),
    (401, "key_invalid"),
    (403, "no_derivatives"),
    (404, "no_such_dataset"),
    (406, "not_acceptable"),
    (410, "snapshot_gone"),
    (413, "unbounded_pull"),
    (422, "invalid_parameters"),
    (429, "slow_down"),
    (500, "internal"),
    (503, "busy"),
];

pub(super) fn refusals() -> impl Iterator<Item = Refusal> {
    REFUSALS.into_iter().map(|(status, code)| {
        let sentence = "\"<&>\\ \u{1f}Ōtautahi\n]]>".to_owned();
        let problem = Problem { place: vec!["query".into(), "where.region".into()], sentence };
        let (code, retry_after) = (code.to_owned(), (status == 429).then_some(1));
        Refusal { status, code, problems: vec![problem], retry_after }
    })
}

/// Requests within the rules of the interface, each with a name.
pub(super) fn requests(posts: bool) -> Vec<(&'static str, Request)> {
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
    if posts {
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
