//! The adapter as a host serves it, with the bytes of its own format.

use serde_json::Value;
use yearbook_ogc::{Features, Ogc};
use yearbook_sdk::Adapter as _;
use yearbook_sdk::adapter::{
    Document, Example, Fact, Framing, Problem, Question, Refusal, Reply, Request, Rows, Segment,
};
use yearbook_sdk::testing::sample::SampleCatalogue;
use yearbook_sdk::testing::{adapting, encode};

/// Answer to a request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media_type: String,
    pub(crate) location: Option<String>,
    pub(crate) next: Option<String>,
    pub(crate) body: Value,
}

pub(crate) const BASE: &str = "https://data.example.org/api/ogc";

/// Answers a GET of an address below the mount.
pub(crate) fn get(address: &str) -> Answer {
    answer(Example::get(address, 0).request)
}

/// The same with an `Accept`.
pub(crate) fn get_as(address: &str, accept: &str) -> Answer {
    answer(Example::get(address, 0).header("accept", accept).request)
}

/// The same with an `Accept-Language`.
pub(crate) fn get_in(address: &str, language: &str) -> Answer {
    answer(Example::get(address, 0).header("accept-language", language).request)
}

fn answer(request: Request) -> Answer {
    let request = Request { base: BASE.to_owned(), ..request };
    let catalogue = SampleCatalogue::new();
    let (reply, facts) = ask(&request, |question| catalogue.answer(question));
    match reply {
        Reply::Ask(_) => panic!("more than four calls"),
        Reply::Document(document) => whole(document, None),
        Reply::Rows(rows) => match catalogue.rows(&rows.selection) {
            Ok(_) => send(&catalogue, &request, &facts, &rows),
            Err(refusal) => whole(Ogc::refuse(&request, &refusal), None),
        },
    }
}

/// Runs the calls of a request.
pub(crate) fn ask(request: &Request, tell: impl Fn(&Question) -> Fact) -> (Reply, Vec<Fact>) {
    let mut facts = Vec::new();
    for _ in 0..4 {
        match adapting::call::<Ogc>(request, facts.clone()) {
            Reply::Ask(questions) => facts.extend(questions.iter().map(&tell)),
            reply => return (reply, facts),
        }
    }
    (Reply::Ask(Vec::new()), facts)
}

/// Rows with what stands around them, the first bytes of another format alone.
fn send(catalogue: &SampleCatalogue, request: &Request, facts: &[Fact], rows: &Rows) -> Answer {
    let table = catalogue.rows(&rows.selection).unwrap();
    let wrapping = match Ogc::frame(request, facts, &table.known) {
        Framing::Wrap(wrapping) => wrapping,
        Framing::Instead(document) => {
            assert_eq!(table.known.rows, Some(0), "rows are replaced");
            return whole(document, None);
        }
    };
    let next = wrapping.links.iter().find(|link| link.rel == "next");
    let next = next.map(|link| link.href.clone());
    if rows.format.is_some() {
        let document = Document::new(200, rows.format.clone().unwrap(), "null");
        return whole(document, next);
    }
    let options: Vec<_> = rows
        .options
        .iter()
        .map(|(name, value)| (name.as_str(), yearbook_sdk::Value::Text(value.clone())))
        .collect();
    let mut body = wrapping.before;
    body.extend(encode::<Features>(&adapting::test_table(&table), &options).unwrap());
    for segment in wrapping.after {
        match segment {
            Segment::Bytes(bytes) => body.extend(bytes),
            Segment::RowCount => body.extend(table.rows.len().to_string().into_bytes()),
        }
    }
    whole(Document::new(200, rows.media_type.clone().unwrap(), body), next)
}

fn whole(document: Document, next: Option<String>) -> Answer {
    let Document { status, media_type, location, body, .. } = document;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Answer { status, media_type, location, next, body }
}

/// The answer to a refusal of the host.
pub(crate) fn refused(address: &str, status: u16, code: &str) -> Answer {
    let request = Example::get(address, 0).request;
    let refusal = Refusal { code: code.to_owned(), ..Refusal::new(status, "a sentence") };
    whole(Ogc::refuse(&request, &refusal), None)
}

/// Status of the answer to a refusal of the host for problems at these parameters.
pub(crate) fn invalid(address: &str, names: &[&str]) -> u16 {
    let problem = |name: &&str| Problem {
        place: vec!["query".to_owned(), (*name).to_owned()],
        sentence: "a sentence".to_owned(),
    };
    let problems = names.iter().map(problem).collect();
    let refusal = Refusal { problems, ..Refusal::new(422, "") };
    Ogc::refuse(&Example::get(address, 0).request, &refusal).status
}

impl Answer {
    /// Addresses of the links of a relation.
    pub(crate) fn links(&self, rel: &str) -> Vec<&str> {
        links_in(&self.body, rel)
    }

    /// Ids of its features.
    pub(crate) fn ids(&self) -> Vec<Value> {
        let features = self.body["features"].as_array().unwrap();
        features.iter().map(|feature| feature["id"].clone()).collect()
    }
}

/// Addresses of the links of a relation, all of which say their type.
pub(crate) fn links_in<'a>(document: &'a Value, rel: &str) -> Vec<&'a str> {
    let links = document["links"].as_array().unwrap();
    for link in links {
        assert!(link["type"].is_string() && link["rel"].is_string(), "{link}");
    }
    let found = links.iter().filter(|link| link["rel"] == rel);
    found.map(|link| link["href"].as_str().unwrap()).collect()
}
