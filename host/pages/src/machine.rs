//! Documents of the catalogue for machines (contract-9-machine): schema.org, DCAT-AP, Croissant,
//! Atom, iCalendar, OpenSearch, sitemap and robots, and Signposting links. They are made from the
//! catalog and the preview facts; never from a stored file. Titles are publishers' text and are
//! escaped where they are written.

mod atom;
mod calendar;
mod croissant;
mod dcat;
mod escape;
mod handlers;
mod i_calendar;
mod open_search;
mod robots;
mod schema_org;
mod signposting;
mod sitemap;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodRouter, get};

use crate::PagesState;

pub(crate) use handlers::{dataset_json_ld, json_ld_name};
pub(crate) use schema_org::embedded as embedded_json_ld;
pub(crate) use signposting::links as signposting_links;
pub(crate) use view::{CatalogView, DatasetView};

/// Every document, one a line, `/datasets/{name}.jsonld` apart: a router cannot tell it from the
/// page, which hands it on.
pub(super) fn routes(
    by_address: impl Fn(MethodRouter<Arc<PagesState>>) -> MethodRouter<Arc<PagesState>>,
) -> Router<Arc<PagesState>> {
    Router::new()
        .route("/catalog.jsonld", by_address(get(handlers::catalog_json_ld)))
        .route("/datasets/{name}/croissant.json", by_address(get(handlers::croissant)))
        .route("/calendar.ics", by_address(get(handlers::calendar_ics)))
        .route("/calendar.json", by_address(get(handlers::calendar_json)))
        .route("/calendar/feed.xml", by_address(get(handlers::calendar_feed)))
        .route("/feed.xml", by_address(get(handlers::catalog_feed)))
        .route("/datasets/{name}/feed.xml", by_address(get(handlers::dataset_feed)))
        .route("/opensearch.xml", by_address(get(handlers::open_search)))
        .route("/sitemap.xml", by_address(get(handlers::sitemap)))
        .route("/robots.txt", by_address(get(handlers::robots)))
}
