//! The trait behind an adapter: another API's requests in; questions, documents and rows out.
//!
//! The types of requests, facts and replies are those of `wit/1.2.0/{adapter,catalogue}.wit`,
//! generated from there.

mod asked;
mod document;
pub(crate) mod driver;
mod host;
mod request;
mod selection;
mod told;
#[doc(hidden)]
pub mod world;

pub use asked::{Asked, Counted, DatasetPage};
pub use host::{Host, Step, Stop};
pub use told::{Round, Told};
pub use world::exports::yearbook::plugin::adapter::{
    Document, Example, Framing, Link, Method, Reply, Request, Rows, Segment, Wrapping,
};
pub use world::yearbook::plugin::catalogue::{
    Applied, BoundingBox, Cited, Column, ColumnType, ColumnValues, Condition, Credit, Dataset,
    DatasetQuery, Edition, Fact, Format, Known, Observed, Operator, Pick, Problem, Question,
    Refusal, Selection, Table, ValueQuery, Version,
};
pub use world::yearbook::plugin::statistics::{Code, Unit};

/// Another API: requests below `/api/{name}/` in; questions to the host, and a document or rows,
/// out. Every call is a new instance: what a call leaves behind reaches no other.
///
/// ```
#[doc = include_str!("testing/example_adapter.txt")]
/// use yearbook_sdk::adapter::{Adapter, Example, Host, Reply};
///
/// let request = Example::get("/", 200).request;
/// let reply = Tables::answer(&request, &mut Host::new(Vec::new()));
/// assert!(reply.is_err(), "it asks for the datasets first");
/// ```
pub trait Adapter: 'static {
    /// Says what the adapter is. Called once when the plugin is loaded.
    fn describe() -> AdapterDescription;

    /// Answers a request. `?` on a question to the host ends the call where the host has not been
    /// asked yet; then it is called again with the answer. A request has at most 4 calls, 64
    /// questions and 4 reads, so ask together what can be asked together ([`Host::ask`]).
    ///
    /// # Errors
    /// [`Stop`].
    fn answer(request: &Request, host: &mut Host) -> Step<Reply>;

    /// Bytes around the rows of a reply, once it is known how many there are; or a document in
    /// their place where `known.rows` is 0. `facts` are those of the last call of
    /// [`Adapter::answer`].
    fn frame(_request: &Request, _facts: &[Fact], _known: &Known) -> Framing {
        Wrapping::bytes("", "").into()
    }

    /// Writes a refusal as this API reports failures. 401, 402, 403, 429 and 500 to 599 keep their
    /// status; the others may have another of the same class, or 200.
    fn refuse(request: &Request, refusal: &Refusal) -> Document;
}

/// Description of an adapter; must be the same every time. The rules for each field stand in
/// `wit/1.2.0/adapter.wit`, and the host checks them when the plugin is installed.
///
/// ```
#[doc = include_str!("testing/example_adapter.txt")]
/// use yearbook_sdk::adapter::Adapter;
///
/// assert_eq!(Tables::describe().name, "tables");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AdapterDescription {
    /// Name in its address, `/api/{name}/`: `[a-z][a-z0-9-]*`, at most 32 bytes.
    pub name: &'static str,
    /// The plugin's own version, semantic versioning.
    pub version: &'static str,
    /// Name for people, 1 to 64 bytes of printable ASCII.
    pub title: &'static str,
    /// A paragraph for the documentation.
    pub docs: &'static str,
    /// Set where POST is taken; else the host refuses it with 405.
    pub posts: bool,
    /// Set where `+` in the query is a space, as forms write it.
    pub plus_is_space: bool,
    /// At most 8 further request headers, in lower case; none with credentials.
    pub headers: Vec<&'static str>,
    /// Query parameter that holds the key, for clients that can send nothing else.
    pub key_parameter: Option<&'static str>,
    /// 1 to 32 requests with their status over the sample catalogue of the test kit.
    pub examples: Vec<Example>,
}
