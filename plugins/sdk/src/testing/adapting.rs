//! Running an adapter natively, as the host would.

use crate::Adapter;
use crate::adapter::{Fact, Reply, Request, driver};

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
