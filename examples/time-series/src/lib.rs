//! The API of a well-known time-series service over the datasets of Yearbook, so that its clients
//! read them once they are told another address: Python's `fredapi`, for one. XML alone.

mod observations;
mod requests;
mod search;
mod series;
mod xml;

use yearbook_sdk::Adapter;
use yearbook_sdk::adapter::{
    AdapterDescription, Document, Example, Fact, Framing, Host, Known, Refusal, Reply, Request,
    Step, Wrapping,
};

pub use crate::observations::Observations;
use crate::xml::bad_request;

yearbook_sdk::export_adapter!(TimeSeries);
yearbook_sdk::export_encoder!(Observations);

/// The adapter.
pub struct TimeSeries;

impl Adapter for TimeSeries {
    fn describe() -> AdapterDescription {
        AdapterDescription {
            name: "time-series",
            version: env!("CARGO_PKG_VERSION"),
            title: "Time series",
            docs: "Series by id (`DATASET.VALUE`), with growth, lower frequencies and a search.",
            posts: false,
            plus_is_space: true,
            headers: Vec::new(),
            key_parameter: Some("api_key"),
            examples: vec![
                Example::get("/series/observations?series_id=harvest_long.north", 200),
                Example::get("/series/observations", 400),
                Example::get("/series?series_id=nothing", 400),
                Example::get("/series/search?search_text=harvest", 200),
                Example::get("/categories", 404),
            ],
        }
    }

    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        if request.parameter("file_type").is_some_and(|kind| kind != "xml") {
            return Err(bad_request("Variable file_type can only be xml here."));
        }
        match request.segments()[..] {
            ["series"] => requests::information(request, host),
            ["series", "observations"] => requests::observations(request, host),
            ["series", "vintagedates"] => requests::vintage_dates(request, host),
            ["series", "search"] => search::series(request, host),
            _ => Ok(xml::error(404, "Not Found. There is no such request.").into()),
        }
    }

    fn frame(request: &Request, _: &[Fact], known: &Known) -> Framing {
        let wrapping = Wrapping::bytes(requests::opening(request, known), "</observations>\n");
        // Clients of this API go on by `offset`; the host wants to be told that rows remain.
        match known.rows.filter(|_| known.truncated) {
            Some(rows) => wrapping.link("next", requests::next(request, rows)).into(),
            None => wrapping.into(),
        }
    }

    /// A fault of the request is 400 here, a series that does not exist too.
    fn refuse(_: &Request, refusal: &Refusal) -> Document {
        match refusal.status {
            404 | 410 | 413 | 422 => {
                xml::error(400, &format!("Bad Request. {}", refusal.sentence()))
            }
            status => xml::error(status, &refusal.sentence()),
        }
    }
}
