//! SDMX REST over datasets (contract-19): a dataset with a key is a dataflow, read in SDMX 2.1
//! below `2.1` and in SDMX 3.0 below `3.0`.

mod availability;
mod conditions;
mod constraint_ml;
mod csv;
mod data;
mod filter;
mod flow;
mod instant;
mod json;
mod message;
mod ml;
mod negotiation;
mod problem;
mod query;
mod selected;
mod structures;
mod xml;

use yearbook_sdk::Adapter;
use yearbook_sdk::adapter::{
    AdapterDescription, Document, Example, Fact, Framing, Host, Known, Refusal, Reply, Request,
    Step,
};

pub use crate::csv::Csv;
use crate::negotiation::Face;

yearbook_sdk::export_adapter!(Sdmx);
yearbook_sdk::export_encoder!(Csv);

/// The adapter.
pub struct Sdmx;

impl Adapter for Sdmx {
    fn describe() -> AdapterDescription {
        let csv = "application/vnd.sdmx.data+csv;version=2.0.0";
        let json = "application/vnd.sdmx.structure+json;version=2.0.0";
        let get = |address, status| Example::get(address, status);
        let examples = vec![
            get("/2.1/dataflow/all/all/latest/", 200),
            get("/2.1/datastructure/TESTS/HARVEST_LONG/1.0?references=children", 200),
            get("/2.1/codelist/all/HARVEST_LONG-REGION", 200),
            get("/2.1/agencyscheme", 200),
            get("/2.1/dataflow/all/NOTHING", 404),
            get("/2.1/categoryscheme/all", 404),
            get("/2.1/availableconstraint/HARVEST_LONG", 200),
            get("/2.1/data/HARVEST_LONG/north?startPeriod=2024-Q2&lastNObservations=2", 200)
                .header("accept", csv),
            get("/2.1/data/HARVEST_LONG/nowhere", 404),
            get("/2.1/data/HARVEST_LONG/a.b.c", 400),
            get("/2.1/data/HARVEST_LONG?asOf=soon", 400),
            get("/2.1/data/HARVEST_LONG?includeHistory=true", 501),
            get("/2.1/data/HARVEST_LONG", 406).header("accept", "application/json"),
            get("/3.0/structure/dataflow?detail=allcompletestubs", 200).header("accept", json),
            get("/3.0/structure/dataflow/*/NOTHING/+", 204),
            get("/3.0/availability/dataflow/*/HARVEST_LONG/1.0?references=all", 200)
                .header("accept", json),
            get("/3.0/data/dataflow/*/HARVEST_LONG/*/north?c[TIME_PERIOD]=ge:2024-03", 200)
                .header("accept", csv),
            get("/3.0/data/dataflow/*/HARVEST_LONG?c[REGION]=nowhere", 204),
            get("/", 404),
        ];
        AdapterDescription {
            name: "sdmx",
            version: env!("CARGO_PKG_VERSION"),
            title: "SDMX REST",
            docs: "Datasets with a key as dataflows, with structures, codelists, availability and data, in SDMX 2.1 and 3.0.",
            posts: false,
            plus_is_space: false,
            headers: Vec::new(),
            key_parameter: Some("api_key"),
            examples,
        }
    }

    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        let segments = request.segments();
        match segments[..] {
            ["2.1", "data", ref path @ ..] => data::v21(request, host, path),
            ["3.0", "data", ref path @ ..] => data::v30(request, host, path),
            ["2.1", "availableconstraint", ref path @ ..] => availability::v21(request, host, path),
            ["3.0", "availability", ref path @ ..] => availability::v30(request, host, path),
            ["2.1", ref path @ ..] => structures::show(Face::V21, request, host, path),
            ["3.0", "structure", ref path @ ..] => structures::show(Face::V30, request, host, path),
            ["3.0", "schema" | "metadata" | "registration", ..] => {
                Err(problem::unsaid("there are structures, availability and data here"))
            }
            _ => Err(problem::not_found(
                "there are `2.1` and `3.0` here, and `structure`, `availability` and `data` below `3.0`",
            )),
        }
    }

    fn frame(request: &Request, facts: &[Fact], known: &Known) -> Framing {
        data::frame(request, facts, known)
    }

    fn refuse(request: &Request, refusal: &Refusal) -> Document {
        problem::document(request, refusal)
    }
}
