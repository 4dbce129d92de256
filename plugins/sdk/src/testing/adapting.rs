//! Runs an adapter natively as the host would, over the sample catalogue, and checks it against the
//! list of things that every adapter must hold.

mod odd;
mod rows;
mod trial;

use std::panic::{AssertUnwindSafe, catch_unwind};

#[doc(hidden)]
pub use self::rows::test_table;
#[doc(hidden)]
pub use self::trial::{AdapterTrial, try_adapter};

use crate::Adapter;
use crate::adapter::{
    Document, Fact, Framing, Known, Method, Refusal, Reply, Request, Table, driver,
};

/// One call with the facts that earlier calls of this request asked for: what the adapter wants
/// next, or its answer.
///
/// ```
#[doc = include_str!("example_adapter.txt")]
/// use yearbook_sdk::adapter::{Example, Reply};
/// use yearbook_sdk::testing::adapting;
///
/// let request = Example::get("/harvest_long", 200).request;
/// let first = adapting::call::<Tables>(&request, Vec::new());
/// assert!(matches!(first, Reply::Ask(questions) if questions.len() == 1));
/// ```
#[must_use]
pub fn call<A: Adapter>(request: &Request, facts: Vec<Fact>) -> Reply {
    driver::answer::<A>(request, facts)
}

/// The answer to a request over [the sample catalogue](super::sample::SampleCatalogue), whose
/// address is `https://data.example.org/api/NAME`. Rows come as JSON, whatever the format: an array
/// of objects.
///
/// ```
#[doc = include_str!("example_adapter.txt")]
/// use yearbook_sdk::adapter::Example;
/// use yearbook_sdk::testing::adapting;
///
/// let request = Example::get("/", 200).request;
/// let names = adapting::answer::<Tables>(&request);
/// assert!(names.body.starts_with(b"codes\nharvest_long\n"));
/// ```
///
/// # Panics
/// Panics where the adapter breaks a rule of the interface, with a sentence that says which.
#[must_use]
pub fn answer<A: Adapter>(request: &Request) -> Document {
    let mut native = Native::<A>::new();
    let made = trial::answer(&mut native, request);
    native.report();
    made.unwrap_or_else(|| Document::empty(500))
}

/// Tries an adapter over [the sample catalogue](super::sample::SampleCatalogue): each example of
/// its description, whose status must be the one that the description says; requests that no client
/// of its API sends; rows of which there are none, one or nobody knows how many; and refusals of
/// every status. `yearbook plugin check` does the same with the component, and reads JSON and XML.
///
/// ```
#[doc = include_str!("example_adapter.txt")]
/// use yearbook_sdk::testing::adapting;
///
/// adapting::check::<Tables>();
/// ```
///
/// # Panics
/// With all that went wrong, one line each.
pub fn check<A: Adapter>() {
    let mut native = Native::<A>::new();
    let description = A::describe();
    try_adapter(&mut native, &description.examples, description.posts);
    native.report();
}

/// An adapter that is called natively.
struct Native<A> {
    place: String,
    faults: Vec<String>,
    adapter: std::marker::PhantomData<A>,
}

impl<A: Adapter> Native<A> {
    fn new() -> Self {
        Self { place: String::new(), faults: Vec::new(), adapter: std::marker::PhantomData }
    }

    fn report(self) {
        let (name, faults) = (A::describe().name, self.faults.join("\n"));
        assert!(faults.is_empty(), "the adapter {name}:\n{faults}");
    }

    fn call<T>(&mut self, make: impl FnOnce() -> T) -> Option<T> {
        let made = catch_unwind(AssertUnwindSafe(make)).ok();
        if made.is_none() {
            self.find("it panics".to_owned(), "answer every request, if only with a refusal");
        }
        made
    }
}

impl<A: Adapter> AdapterTrial for Native<A> {
    fn name(&self) -> String {
        A::describe().name.to_owned()
    }

    fn begin(&mut self, place: &str) {
        place.clone_into(&mut self.place);
    }

    fn answer(&mut self, request: &Request, facts: &[Fact]) -> Option<Reply> {
        self.call(|| call::<A>(request, facts.to_vec()))
    }

    fn frame(&mut self, request: &Request, facts: &[Fact], known: &Known) -> Option<Framing> {
        self.call(|| A::frame(request, facts, known))
    }

    fn refuse(&mut self, request: &Request, refusal: &Refusal) -> Option<Document> {
        self.call(|| A::refuse(request, refusal))
    }

    fn own_format(&mut self, _: &[(String, String)], rows: &Table) -> Option<(String, Vec<u8>)> {
        Some((String::new(), rows::json(rows)))
    }

    fn find(&mut self, wrong: String, advice: &str) {
        self.faults.push(format!("{}: {wrong} -> {advice}", self.place));
    }
}

/// Returns whether a request may be sent at all: the host refuses a POST that nobody takes.
fn is_taken(request: &Request, posts: bool) -> bool {
    posts || request.method == Method::Get
}

#[cfg(test)]
mod tests;
