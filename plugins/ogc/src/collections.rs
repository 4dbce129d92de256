//! `/collections`: every dataset with geometry, and the catalogue.

use serde_json::{Value, json};
use yearbook_sdk::adapter::{
    Asked, BoundingBox, Dataset, DatasetPage, DatasetQuery, Document, Host, Reply, Request, Step,
};

use crate::links::{self, GEOJSON, HTML, JSON, SCHEMA, link};
use crate::problem::not_found;
use crate::{negotiation, parameters, records, tile_format};

/// The coordinate reference system of everything: longitude and latitude. Collections do not name
/// it, for it is what the standard means then; clients would ask for it by parameters of Part 2.
pub(crate) const CRS84: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
/// Datasets of one answer of the host, and answers that a request has.
const PAGE: usize = 1_000;
const PAGES: usize = 3;
/// Bytes of a name; no dataset has a longer one.
const LONGEST_NAME: usize = 128;
/// Datasets that one document lists at most.
pub(crate) const MOST_DATASETS: usize = PAGE * PAGES;

/// The datasets of `query`, at most so many, with the number of all and where to go on, and whether
/// they have tiles. Clients want all collections in one document, so all that the host tells are
/// asked for.
pub(crate) fn collect(
    host: &mut Host,
    query: &DatasetQuery,
    most: usize,
) -> Step<(DatasetPage, bool)> {
    let mut found = DatasetPage { datasets: Vec::new(), total: 0, next: query.after.clone() };
    let (mut page, mut has_tiles) = (PAGE, false);
    for _ in 0..PAGES {
        let limit = (most - found.datasets.len()).min(page).try_into().unwrap_or(u32::MAX);
        let asked = DatasetQuery { limit, after: found.next.clone(), ..query.clone() };
        // Both at once, for a request has few calls.
        let (told, formats) = host.ask((Asked::datasets(asked).or_refusal(), Asked::formats()))?;
        has_tiles = tile_format::is_among(&formats);
        match told {
            Ok(told) => {
                found.datasets.extend(told.datasets);
                (found.total, found.next) = (told.total, told.next);
                if found.next.is_none() || found.datasets.len() >= most {
                    break;
                }
            }
            // More than the host tells in one request.
            Err(refusal) if refusal.status == 413 && found.datasets.is_empty() => page /= 8,
            Err(refusal) if refusal.status == 413 => break,
            Err(refusal) => return Err(refusal.into()),
        }
    }
    Ok((found, has_tiles))
}

/// `/collections`.
pub(crate) fn list(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| ["f", "after"].contains(&name))?;
    negotiation::page(request, JSON, "/")?;
    let after = request.parameter("after").map(str::to_owned);
    let all = DatasetQuery {
        spatial: Some(true),
        columns: false,
        language: negotiation::language(request),
        after,
        ..DatasetQuery::page(1)
    };
    let (found, has_tiles) = collect(host, &all, MOST_DATASETS)?;
    let datasets = found.datasets.iter();
    let mut collections: Vec<Value> =
        datasets.map(|dataset| collection(request, dataset, has_tiles)).collect();
    let mut links = links::own(request, JSON);
    match &found.next {
        Some(next) => links.push(link("next", request.address_with("after", next), JSON)),
        None => collections.push(records::collection(request)),
    }
    let document = json!({ "links": links, "collections": collections });
    Ok(Document::json(200, &document).into())
}

/// `/collections/{id}`.
pub(crate) fn show(request: &Request, host: &mut Host, id: &str) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    let is_catalogue = id == records::COLLECTION;
    let path = if is_catalogue { "/".to_owned() } else { page_of(id)? };
    negotiation::page(request, JSON, &path)?;
    let document = if is_catalogue {
        records::collection(request)
    } else {
        let asked = (negotiation::dataset(request, id), Asked::formats());
        let (dataset, formats) = host.ask(asked)?;
        let dataset = negotiation::in_language(request, host, spatial(id, dataset)?)?;
        collection(request, &dataset, tile_format::is_among(&formats))
    };
    Ok(Document::json(200, &document).into())
}

/// The page of a dataset.
///
/// # Errors
/// 404 for what is no name of one, so that a typing error is this API's own.
pub(crate) fn page_of(id: &str) -> Step<String> {
    let is_name = |byte: u8| byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let begins = id.starts_with(|first: char| first.is_ascii_lowercase());
    if !begins || !id.bytes().all(is_name) || id.len() > LONGEST_NAME {
        return Err(no_collection(id));
    }
    Ok(format!("/datasets/{id}"))
}

/// A dataset that is a collection: one with geometry.
///
/// # Errors
/// 404 for others.
pub(crate) fn spatial(id: &str, dataset: Dataset) -> Step<Dataset> {
    let is_spatial = dataset.columns.iter().any(|column| column.role == "geometry");
    if is_spatial { Ok(dataset) } else { Err(no_collection(id)) }
}

fn no_collection(id: &str) -> yearbook_sdk::adapter::Stop {
    not_found(format!(
        "there is no collection '{id}'; a dataset without geometry is a record of `{}` alone",
        records::COLLECTION
    ))
}

fn collection(request: &Request, dataset: &Dataset, has_tiles: bool) -> Value {
    let Dataset { name, title, description, credit, .. } = dataset;
    let address = |segments: &[&str]| links::below(request, segments);
    let own = address(&["collections", name]);
    let items = address(&["collections", name, "items"]);
    let mut links = vec![
        link("self", &own, JSON),
        link("alternate", format!("{own}?f=html"), HTML),
        link("items", &items, GEOJSON),
        link("items", format!("{items}?f=html"), HTML),
        link(QUERYABLES, address(&["collections", name, "queryables"]), SCHEMA),
        link("describedby", format!("{}/v1/datasets/{name}", links::service(request)), JSON),
    ];
    if has_tiles {
        links.push(link(tile_format::TILESETS, address(&["collections", name, "tiles"]), JSON));
    }
    if let Some(licence) = &credit.licence_url {
        links.push(link("license", licence, HTML));
    }
    let mut collection = json!({
        "id": name,
        "title": title.as_ref().unwrap_or(name),
        "description": description.as_deref().unwrap_or_default(),
        "attribution": credit.attribution,
        "itemType": "feature",
        "links": links,
    });
    if let Some(extent) = extent(dataset) {
        collection["extent"] = extent;
    }
    collection
}

/// Relation of the link to queryables.
pub(crate) const QUERYABLES: &str = "http://www.opengis.net/def/rel/ogc/1.0/queryables";

/// Place and time of the rows of a dataset.
fn extent(dataset: &Dataset) -> Option<Value> {
    let bbox = dataset.bbox.map(|BoundingBox { west, south, east, north }| {
        // The first box is of all. Clients take one that begins in the east for one that does not.
        let boxes = if west > east {
            vec![
                [-180.0, south, 180.0, north],
                [west, south, 180.0, north],
                [-180.0, south, east, north],
            ]
        } else {
            vec![[west, south, east, north]]
        };
        json!({ "bbox": boxes, "crs": CRS84 })
    });
    let dates = dataset.dates.as_ref().map(|(first, last)| {
        let times = [format!("{first}T00:00:00Z"), format!("{last}T23:59:59Z")];
        let gregorian = "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian";
        json!({ "interval": [times], "trs": gregorian })
    });
    let parts = [("spatial", bbox), ("temporal", dates)];
    let parts = parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?)));
    let extent: serde_json::Map<String, Value> = parts.collect();
    (!extent.is_empty()).then_some(Value::Object(extent))
}
