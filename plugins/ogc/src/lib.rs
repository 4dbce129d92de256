//! OGC API Features, Records and Tiles over datasets (contract-18): a dataset with geometry is a
//! collection of features, in tiles too, and all datasets are the records of the collection
//! `catalogue`.

mod collections;
mod features;
mod items;
mod landing;
mod links;
mod negotiation;
mod openapi;
mod parameters;
mod problem;
mod queryables;
mod records;
mod tile_format;
mod tile_matrix;
mod tiles;

use yearbook_sdk::Adapter;
use yearbook_sdk::adapter::{
    AdapterDescription, Document, Example, Fact, Framing, Host, Known, Refusal, Reply, Request,
    Step, Wrapping,
};

pub use crate::features::Features;

yearbook_sdk::export_adapter!(Ogc);
yearbook_sdk::export_encoder!(Features);

/// The adapter.
pub struct Ogc;

impl Adapter for Ogc {
    fn describe() -> AdapterDescription {
        let examples = [
            ("/", 200),
            ("/conformance", 200),
            ("/api", 200),
            ("/collections", 200),
            ("/collections/places", 200),
            ("/collections/places/queryables", 200),
            ("/collections/places/items?limit=2", 200),
            ("/collections/places/items?bbox=174,-50,-170,0&datetime=2024-01-01T00:00:00Z/..", 200),
            ("/collections/places/items?name=Auckland&f=csv", 200),
            ("/collections/places/items/Auckland", 200),
            ("/collections/places/items/nowhere", 404),
            ("/collections/places/items?limit=0", 400),
            ("/collections/places/items?colour=red", 400),
            ("/collections/places?f=html", 303),
            ("/collections/codes", 404),
            ("/collections/catalogue/items?q=harvest", 200),
            ("/collections/catalogue/items/codes", 200),
            // Where the format is not installed, as in the sample catalogue.
            ("/collections/places/tiles/WebMercatorQuad/0/0/0", 404),
            ("/tileMatrixSets", 404),
            ("/tiles", 404),
        ];
        AdapterDescription {
            name: "ogc",
            version: env!("CARGO_PKG_VERSION"),
            title: "OGC API Features, Records and Tiles",
            docs: "Datasets with geometry as collections of features and as vector tiles, and all datasets as records, for GDAL, QGIS, OWSLib, geopandas and maps.",
            posts: false,
            plus_is_space: true,
            headers: Vec::new(),
            key_parameter: None,
            examples: examples.map(|(address, status)| Example::get(address, status)).into(),
        }
    }

    fn answer(request: &Request, host: &mut Host) -> Step<Reply> {
        match request.segments()[..] {
            [] => landing::root(request, host),
            ["conformance"] => landing::conformance(request, host),
            ["api"] => openapi::show(request, host),
            ["collections"] => collections::list(request, host),
            ["collections", id] => collections::show(request, host, id),
            ["collections", id, "queryables"] => queryables::show(request, host, id),
            ["collections", records::COLLECTION, "items"] => records::list(request, host),
            ["collections", records::COLLECTION, "items", name] => {
                records::show(request, host, name)
            }
            ["collections", id, "items"] => items::list(request, host, id),
            // Not every client encodes a slash in an id.
            ["collections", id, "items", ref feature @ ..] => {
                items::show(request, host, id, &feature.join("/"))
            }
            ["collections", id, "tiles"] => tiles::list(request, host, id),
            ["collections", id, "tiles", tile_matrix::ID] => tiles::show(request, host, id),
            ["collections", id, "tiles", tile_matrix::ID, zoom, row, column] => {
                tiles::tile(request, host, id, [zoom, row, column])
            }
            ["tileMatrixSets"] => tile_matrix::list(request, host),
            ["tileMatrixSets", tile_matrix::ID] => tile_matrix::show(request, host),
            _ => Err(problem::not_found("there is no such resource; see the landing page")),
        }
    }

    fn frame(request: &Request, facts: &[Fact], known: &Known) -> Framing {
        match request.segments()[..] {
            // Nothing may stand around a tile.
            [_, _, "tiles", ..] => Wrapping::bytes("", "").into(),
            _ => items::frame(request, facts, known),
        }
    }

    fn refuse(request: &Request, refusal: &Refusal) -> Document {
        problem::document(request, refusal)
    }
}
