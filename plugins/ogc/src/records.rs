//! The collection of Records: every dataset is a record of it, and no key is needed.

use std::ops::Range;

use serde_json::{Value, json};
use yearbook_sdk::adapter::{
    Asked, BoundingBox, Dataset, DatasetQuery, Document, Host, Refusal, Reply, Request, Step, Unit,
};

use crate::collections::{self, MOST_DATASETS, page_of};
use crate::links::{self, GEOJSON, HTML, JSON, link};
use crate::negotiation;
use crate::parameters::{self, Days};
use crate::problem::bad_request;

/// Its id.
pub(crate) const COLLECTION: &str = "catalogue";
/// Parameters of its items.
pub(crate) const PARAMETERS: [&str; 9] =
    ["limit", "offset", "after", "bbox", "datetime", "q", "type", "ids", "f"];
/// Records of an answer, and ids and terms of a request, at most.
pub(crate) const MOST_RECORDS: u64 = 1_000;
const MOST_IDS: usize = 60;
const MOST_TERMS: usize = 8;

/// Datasets of a page.
struct Found {
    datasets: Vec<Dataset>,
    /// Number of all, where it is known.
    total: Option<u64>,
    /// Parameter that leads to the next page, and its value; `None` where no dataset remains.
    next: Option<(&'static str, String)>,
}

/// The collection.
pub(crate) fn collection(request: &Request) -> Value {
    let own = links::below(request, &["collections", COLLECTION]);
    let items = links::below(request, &["collections", COLLECTION, "items"]);
    json!({
        "id": COLLECTION,
        "title": "Catalogue",
        "description": "Every dataset of this service, those without geometry too.",
        "itemType": "record",
        "type": "Collection",
        "links": [
            link("self", &own, JSON),
            link("alternate", format!("{own}?f=html"), HTML),
            link("items", &items, GEOJSON),
            link("items", format!("{items}?f=html"), HTML),
        ],
    })
}

/// `/collections/catalogue/items`.
pub(crate) fn list(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| PARAMETERS.contains(&name))?;
    negotiation::page(request, GEOJSON, "/")?;
    let days = parameters::datetime(request)?;
    let limit = parameters::limit(request, MOST_RECORDS)?;
    let mut found = find(request, host, limit)?;
    if request.parameter("type").is_some_and(|types| !has(types, "dataset")) {
        found = Found { datasets: Vec::new(), total: Some(0), next: None };
    }
    let records = found.datasets.iter().filter(|dataset| is_within(dataset, &days));
    let records: Vec<Value> = records.map(|dataset| record(request, dataset)).collect();
    let mut links = links::own(request, GEOJSON);
    links.push(link("collection", links::below(request, &["collections", COLLECTION]), JSON));
    if let Some((name, place)) = &found.next {
        let others = request.parameters().filter(|(name, _)| !["after", "offset"].contains(name));
        let next = request.address_of(&request.segments(), others.chain([(*name, &**place)]));
        links.push(link("next", next, GEOJSON));
    }
    let mut document =
        json!({ "type": "FeatureCollection", "links": links, "numberReturned": records.len() });
    if let Some(total) = found.total.filter(|_| days == (None, None)) {
        document["numberMatched"] = total.into();
    }
    document["features"] = records.into();
    Ok(geojson(&document))
}

/// `/collections/catalogue/items/{name}`.
pub(crate) fn show(request: &Request, host: &mut Host, name: &str) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, GEOJSON, &page_of(name)?)?;
    let dataset = host.ask(negotiation::dataset(request, name))?;
    let dataset = negotiation::in_language(request, host, dataset)?;
    let mut document = record(request, &dataset);
    let own = links::own(request, GEOJSON);
    if let Some(links) = document["links"].as_array_mut() {
        links.splice(0..1, own);
    }
    Ok(geojson(&document))
}

fn geojson(document: &Value) -> Reply {
    Document { media_type: GEOJSON.to_owned(), ..Document::json(200, document) }.into()
}

/// A page of the datasets that a request wants, but for `datetime`, which the host does not search
/// by: a page may have fewer records for it.
fn find(request: &Request, host: &mut Host, limit: u64) -> Step<Found> {
    let (words, bbox) = (request.parameter("q"), parameters::bbox(request)?);
    let offset = request.parameter("offset").map_or(Some(0), parameters::count);
    let offset = offset.and_then(|offset| usize::try_from(offset).ok());
    let offset = offset.filter(|offset| *offset < MOST_DATASETS).ok_or_else(|| {
        bad_request(format!(
            "offset is a number less than {MOST_DATASETS}; follow the `next` link for more"
        ))
    })?;
    let limit = usize::try_from(limit).unwrap_or(MOST_DATASETS);
    let places = offset..(offset + limit).min(MOST_DATASETS);
    if let Some(ids) = request.parameter("ids") {
        if words.is_some() || bbox.is_some() {
            return Err(bad_request("ids goes with neither q nor bbox"));
        }
        return named(request, host, ids, &places);
    }
    let after = request.parameter("after").map(str::to_owned);
    let language = negotiation::language(request);
    let query = DatasetQuery { columns: false, bbox, language, after, ..DatasetQuery::page(1) };
    let Some(words) = words else { return page(host, &query, &places) };
    let terms: Vec<&str> = words.split(',').filter(|term| !term.trim().is_empty()).collect();
    let of = |term: &&str| DatasetQuery { search: Some((*term).to_owned()), ..query.clone() };
    match &terms[..] {
        [] => Err(bad_request("q has no words")),
        [term] => page(host, &of(term), &places),
        terms if terms.len() > MOST_TERMS => {
            Err(bad_request(format!("q has at most {MOST_TERMS} terms")))
        }
        terms => {
            let limit = u32::try_from(MOST_RECORDS).unwrap_or(u32::MAX);
            let asked = terms
                .iter()
                .map(|term| Asked::datasets(DatasetQuery { limit, after: None, ..of(term) }));
            let (mut any, mut is_whole): (Vec<Dataset>, bool) = (Vec::new(), true);
            for page in host.ask(asked.collect::<Vec<_>>())? {
                is_whole &= page.next.is_none();
                let is_new = |dataset: &Dataset| any.iter().all(|had| had.name != dataset.name);
                let new: Vec<Dataset> = page.datasets.into_iter().filter(is_new).collect();
                any.extend(new);
            }
            let found = part(any, &places);
            // Nobody knows how many of the datasets behind a list that was cut are new ones.
            Ok(Found { total: found.total.filter(|_| is_whole), ..found })
        }
    }
}

/// A page of what the host finds.
fn page(host: &mut Host, query: &DatasetQuery, places: &Range<usize>) -> Step<Found> {
    let (found, _) = collections::collect(host, query, places.end)?;
    let datasets = found.datasets.into_iter().skip(places.start).collect();
    let next = found.next.map(|next| ("after", next));
    Ok(Found { datasets, total: Some(found.total), next })
}

/// The datasets of these ids, as far as they are there.
fn named(request: &Request, host: &mut Host, ids: &str, places: &Range<usize>) -> Step<Found> {
    let ids: Vec<&str> = ids.split(',').filter(|id| page_of(id).is_ok()).collect();
    if ids.len() > MOST_IDS {
        return Err(bad_request(format!("ids has at most {MOST_IDS} ids")));
    }
    let asked = ids.iter().map(|id| negotiation::dataset(request, id).or_refusal());
    let mut datasets = Vec::new();
    for told in host.ask(asked.collect::<Vec<_>>())? {
        match told {
            Ok(dataset) => datasets.push(dataset),
            // It is there, and no answer leaves it out.
            Err(refusal) if refusal.status == 413 => {
                let sentence = "these records are more than one answer has; name fewer ids";
                return Err(Refusal::new(413, sentence).into());
            }
            Err(_) => {}
        }
    }
    Ok(part(datasets, places))
}

/// A page of these datasets. Those behind the last `offset` that there is are on none.
fn part(datasets: Vec<Dataset>, places: &Range<usize>) -> Found {
    let total = u64::try_from(datasets.len()).ok();
    let is_more = places.end < datasets.len().min(MOST_DATASETS);
    let next = is_more.then(|| ("offset", places.end.to_string()));
    let datasets = datasets.into_iter().take(places.end).skip(places.start).collect();
    Found { datasets, total, next }
}

fn has(list: &str, wanted: &str) -> bool {
    list.split(',').any(|item| item.trim() == wanted)
}

/// Returns whether the dates of a dataset meet an interval; without dates they meet every one.
fn is_within(dataset: &Dataset, (start, end): &Days) -> bool {
    dataset.dates.as_ref().is_none_or(|(first, last)| {
        start.as_ref().is_none_or(|start| start <= last)
            && end.as_ref().is_none_or(|end| first <= end)
    })
}

/// A dataset as a record.
fn record(request: &Request, dataset: &Dataset) -> Value {
    let Dataset { name, title, description, credit, .. } = dataset;
    let edition = dataset.editions.first().map(|edition| edition.published_at.as_str());
    let time = dataset.dates.as_ref().map(|(first, last)| {
        let mut time = json!({ "interval": [first, last] });
        if let Some(axis) = dataset.axis {
            time["resolution"] = duration(axis).into();
        }
        time
    });
    let service = links::service(request);
    let mut links = vec![
        link("self", links::below(request, &["collections", COLLECTION, "items", name]), GEOJSON),
        link("collection", links::below(request, &["collections", COLLECTION]), JSON),
        link("describedby", format!("{service}/v1/datasets/{name}"), JSON),
        link("item", format!("{service}/v1/datasets/{name}/data"), JSON),
        link("about", format!("{service}/datasets/{name}"), HTML),
    ];
    if dataset.bbox.is_some() {
        links.push(link("items", links::below(request, &["collections", name, "items"]), GEOJSON));
    }
    let mut contact = json!({ "organization": credit.source, "roles": ["publisher"] });
    if let Some(source) = &credit.source_url {
        contact["links"] = json!([link("about", source, HTML)]);
    }
    let mut properties = json!({
        "type": "dataset",
        "title": title.as_ref().unwrap_or(name),
        "license": credit.licence,
        "rights": credit.attribution,
        "contacts": [contact],
    });
    if let Some(description) = description {
        properties["description"] = description.as_str().into();
    }
    if let Some(edition) = edition {
        properties["updated"] = edition.into();
    }
    if !dataset.languages.is_empty() {
        let codes = dataset.languages.iter().map(|code| json!({ "code": code }));
        properties["resourceLanguages"] = codes.collect();
    }
    let mut record = json!({
        "id": name,
        "type": "Feature",
        "conformsTo": ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"],
        "time": time,
        "geometry": null,
        "properties": properties,
        "links": links,
    });
    add_extent(&mut record, dataset);
    record
}

/// Adds the extent of a dataset. A shape of two parts would be the exact one across 180°, but
/// clients take the first corners of each shape for its box, and fail at others: so that one goes
/// all around, and `bbox` has the sides.
fn add_extent(record: &mut Value, dataset: &Dataset) {
    let Some(BoundingBox { west, south, east, north }) = dataset.bbox else { return };
    record["bbox"] = json!([west, south, east, north]);
    let (west, east) = if west > east { (-180.0, 180.0) } else { (west, east) };
    let ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
    record["geometry"] = json!({ "type": "Polygon", "coordinates": [ring] });
}

/// A distance of dates as ISO 8601 has it.
fn duration(axis: Unit) -> &'static str {
    match axis {
        Unit::Day => "P1D",
        Unit::Week => "P7D",
        Unit::Month => "P1M",
        Unit::Quarter => "P3M",
        Unit::Half => "P6M",
        Unit::Year => "P1Y",
    }
}
