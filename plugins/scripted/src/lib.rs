//! An adapter that does what its request says, for the host's tests; never installed with the
//! product. Parameters of the query hold replies, framing and refusal as JSON, in the types of the
//! interface. The first segment of the path names what no JSON can say.

use wit::exports::yearbook::plugin::adapter::{
    Description, Document, Example, Fact, Framing, Guest, Known, Method, Refusal, Reply, Request,
    Wrapping,
};

/// The types of the interface.
#[cfg_attr(
    target_family = "wasm",
    expect(unsafe_code, reason = "generated code crosses the component's boundary")
)]
mod wit {
    wit_bindgen::generate!({
        path: "../../wit/1.2.0",
        world: "adapter-plugin",
        generate_all,
        additional_derives: [serde::Deserialize, serde::Serialize],
    });

    // Natively the names of exports are none for a linker.
    #[cfg(target_family = "wasm")]
    use super::Scripted;
    #[cfg(target_family = "wasm")]
    export!(Scripted);
}

/// The adapter.
#[derive(Debug)]
pub struct Scripted;

impl Guest for Scripted {
    fn describe() -> Description {
        let request = Request {
            method: Method::Get,
            base: String::new(),
            path: vec!["request".to_owned()],
            query: Vec::new(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        Description {
            name: "scripted".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: "Scripted".to_owned(),
            docs: "Does what its request says. For tests.".to_owned(),
            posts: true,
            plus_is_space: true,
            headers: vec!["x-scripted".to_owned()],
            key_parameter: Some("api_key".to_owned()),
            examples: vec![Example { request, status: 200 }],
        }
    }

    /// Parameter `replies`: the replies in order. Path `request` answers with the request, `facts`
    /// with all facts once `replies` are used up; `trap` and `spin` fail.
    fn answer(request: Request, facts: Vec<Fact>) -> Reply {
        let first = request.path.first().map(String::as_str);
        if matches!(first, Some("trap")) {
            trap();
        }
        if matches!(first, Some("spin")) {
            loop {
                std::hint::black_box(());
            }
        }
        if matches!(first, Some("request")) {
            return Reply::Document(json(200, &request));
        }
        let mut left = facts.len();
        for reply in parsed::<Vec<Reply>>(&request, "replies").unwrap_or_default() {
            match &reply {
                Reply::Ask(asked) if left >= asked.len() && left > 0 => left -= asked.len(),
                _ => return reply,
            }
        }
        Reply::Document(json(200, &facts))
    }

    /// Parameter `framing`; without it nothing stands around the rows. Path `known`: what is known
    /// stands before them.
    fn frame(request: Request, _: Vec<Fact>, known: Known) -> Framing {
        if request.path.first().is_some_and(|first| first == "known") {
            let before = serde_json::to_vec(&known).unwrap_or_default();
            return Framing::Wrap(Wrapping { before, after: Vec::new(), links: Vec::new() });
        }
        let none = Wrapping { before: Vec::new(), after: Vec::new(), links: Vec::new() };
        parsed(&request, "framing").unwrap_or(Framing::Wrap(none))
    }

    /// Parameter `refusal`: the document, or `trap`. Without it the refusal is the body.
    fn refuse(request: Request, refusal: Refusal) -> Document {
        if value(&request, "refusal") == Some("trap") {
            trap();
        }
        parsed(&request, "refusal").unwrap_or_else(|| json(refusal.status, &refusal))
    }
}

/// Fails.
fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort()
}

fn value<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.query.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn parsed<T: serde::de::DeserializeOwned>(request: &Request, name: &str) -> Option<T> {
    serde_json::from_str(value(request, name)?).ok()
}

fn json(status: u16, body: &impl serde::Serialize) -> Document {
    Document {
        status,
        media_type: "application/json".to_owned(),
        language: None,
        location: None,
        links: Vec::new(),
        body: serde_json::to_vec(body).unwrap_or_default(),
    }
}
