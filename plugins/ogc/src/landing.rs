//! Landing page and conformance.

use serde_json::json;
use yearbook_sdk::adapter::{Asked, Document, Host, Reply, Request, Step};

use crate::links::{self, HTML, JSON, OPENAPI, link};
use crate::{negotiation, parameters, records, tile_format};

/// Conformance classes of this API. HTML is a redirection to the catalogue's pages.
const CLASSES: [&str; 11] = [
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
    "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html",
    "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables",
    "http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables-query-parameters",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-collection",
    "http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/json",
];

/// Conformance classes that tiles add.
const TILE_CLASSES: [&str; 5] = [
    "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tileset",
    "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tilesets-list",
    "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/geodata-tilesets",
    "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/mvt",
];

/// The landing page.
pub(crate) fn root(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, JSON, "/")?;
    let address = |segments: &[&str]| links::below(request, segments);
    let mut links = links::own(request, JSON);
    links.extend([
        link("service-desc", address(&["api"]), OPENAPI),
        link("service-doc", format!("{}?f=html", address(&["api"])), HTML),
        link("conformance", address(&["conformance"]), JSON),
        link("data", address(&["collections"]), JSON),
        link(
            "http://www.opengis.net/def/rel/ogc/1.0/ogc-catalog",
            address(&["collections", records::COLLECTION]),
            JSON,
        ),
    ]);
    if tile_format::is_among(&host.ask(Asked::formats())?) {
        links.push(link(tile_format::TILING_SCHEMES, address(&["tileMatrixSets"]), JSON));
    }
    let document = json!({
        "title": "Datasets with geometry",
        "description": "Datasets with geometry as collections of features, and all datasets as the records of one collection.",
        "links": links,
    });
    Ok(Document::json(200, &document).into())
}

/// `/conformance`.
pub(crate) fn conformance(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, JSON, "/")?;
    let mut classes = CLASSES.to_vec();
    if tile_format::is_among(&host.ask(Asked::formats())?) {
        classes.extend(TILE_CLASSES);
    }
    let document = json!({ "links": links::own(request, JSON), "conformsTo": classes });
    Ok(Document::json(200, &document).into())
}
