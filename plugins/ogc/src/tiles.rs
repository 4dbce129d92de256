//! Tiles: `/collections/{id}/tiles` and below. They are there where the format of vector tiles is
//! installed, which makes them; here are the rows that a tile shows, and what tells of tiles.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{
    Asked, ColumnType, Dataset, Document, Host, Refusal, Reply, Request, Rows, Selection, Step,
};

use crate::collections::{CRS84, page_of, spatial};
use crate::features::ROW_NUMBER;
use crate::links::{self, HTML, JSON, link};
use crate::problem::{bad_request, not_found};
use crate::queryables::{RESERVED, queryables, schema};
use crate::tile_format::{FORMAT, MVT};
use crate::tile_matrix::{CRS, ID, Place, URI, on_map};
use crate::{negotiation, parameters, tile_format};

/// An older media type of tiles.
const PROTOBUF: &str = "application/x-protobuf";
/// Most rows of a tile.
const MOST_ROWS: u64 = 1_000_000;
/// The zoom beyond which a map need not ask for tiles: a unit of the grid is 60 cm there.
const LAST_ZOOM: u32 = 14;

/// Relation of the link to the tile matrix set.
const TILING_SCHEME: &str = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme";

/// Parameters of a tile besides columns.
const PARAMETERS: [&str; 2] = ["datetime", "f"];

/// The dataset of a collection that has tiles.
fn asked(request: &Request, host: &mut Host, id: &str) -> Step<Dataset> {
    page_of(id)?;
    let (dataset, formats) = host.ask((negotiation::dataset(request, id), Asked::formats()))?;
    tile_format::check(&formats)?;
    spatial(id, dataset)
}

/// `/collections/{id}/tiles`.
pub(crate) fn list(request: &Request, host: &mut Host, id: &str) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, JSON, &page_of(id)?)?;
    let dataset = asked(request, host, id)?;
    let dataset = negotiation::in_language(request, host, dataset)?;
    let links = links::own(request, JSON);
    let own = link("self", tileset_address(request, id), JSON);
    let mut tileset = outline(&dataset);
    tileset["links"] = json!([own, scheme(request)]);
    Ok(Document::json(200, &json!({ "links": links, "tilesets": [tileset] })).into())
}

/// `/collections/{id}/tiles/WebMercatorQuad`, and its TileJSON.
pub(crate) fn show(request: &Request, host: &mut Host, id: &str) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    let is_tilejson = request.parameter("f") == Some("tilejson");
    let page = page_of(id)?;
    if !is_tilejson {
        negotiation::page(request, JSON, &page)?;
    }
    let dataset = asked(request, host, id)?;
    let dataset = negotiation::in_language(request, host, dataset)?;
    let document =
        if is_tilejson { tilejson(request, &dataset) } else { tileset(request, &dataset) };
    Ok(Document::json(200, &document).into())
}

fn tileset_address(request: &Request, id: &str) -> String {
    links::below(request, &["collections", id, "tiles", ID])
}

fn scheme(request: &Request) -> Value {
    link(TILING_SCHEME, links::below(request, &["tileMatrixSets", ID]), JSON)
}

/// Members of a tileset wherever it stands.
fn outline(dataset: &Dataset) -> Value {
    json!({
        "title": dataset.title.as_ref().unwrap_or(&dataset.name),
        "dataType": "vector",
        "crs": CRS,
        "tileMatrixSetURI": URI,
    })
}

/// The tileset's metadata (OGC 17-083r4, 7.2).
fn tileset(request: &Request, dataset: &Dataset) -> Value {
    let name = &dataset.name;
    let own = tileset_address(request, name);
    let mut tile = link("item", format!("{own}/{{tileMatrix}}/{{tileRow}}/{{tileCol}}"), MVT);
    tile["templated"] = true.into();
    let mut links = links::own(request, JSON);
    links.extend([
        tile,
        scheme(request),
        link("describedby", format!("{own}?f=tilejson"), JSON),
        link("geodata", links::below(request, &["collections", name]), JSON),
    ]);
    if let Some(licence) = &dataset.credit.licence_url {
        links.push(link("license", licence, HTML));
    }
    let properties: Map<String, Value> =
        queryables(dataset).map(|column| (column.name.clone(), schema(column))).collect();
    let mut tileset = outline(dataset);
    tileset["attribution"] = dataset.credit.attribution.as_str().into();
    if let Some(description) = &dataset.description {
        tileset["description"] = description.as_str().into();
    }
    if let Some(extent) = dataset.bbox {
        let [west, south, east, north] = on_map(extent);
        tileset["boundingBox"] =
            json!({ "lowerLeft": [west, south], "upperRight": [east, north], "crs": CRS84 });
    }
    tileset["layers"] = json!([{
        "id": name,
        "dataType": "vector",
        "propertiesSchema": { "type": "object", "properties": properties },
    }]);
    tileset["links"] = links.into();
    tileset
}

/// TileJSON 3.0.
fn tilejson(request: &Request, dataset: &Dataset) -> Value {
    let fields = queryables(dataset).map(|column| {
        let kind = match column.type_ {
            ColumnType::Text | ColumnType::Date => "String",
            ColumnType::Integer | ColumnType::Number => "Number",
            ColumnType::Boolean => "Boolean",
        };
        (column.name.clone(), kind.into())
    });
    let own = tileset_address(request, &dataset.name);
    let mut tilejson = json!({
        "tilejson": "3.0.0",
        "name": dataset.title.as_ref().unwrap_or(&dataset.name),
        "description": dataset.description.as_deref().unwrap_or_default(),
        "attribution": dataset.credit.attribution,
        "scheme": "xyz",
        "tiles": [format!("{own}/{{z}}/{{y}}/{{x}}")],
        "minzoom": 0,
        "maxzoom": LAST_ZOOM,
        "vector_layers": [{
            "id": dataset.name,
            "fields": fields.collect::<Map<String, Value>>(),
            "minzoom": 0,
            "maxzoom": LAST_ZOOM,
        }],
    });
    if let Some(extent) = dataset.bbox {
        tilejson["bounds"] = on_map(extent).into();
    }
    tilejson
}

/// `/collections/{id}/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}`.
pub(crate) fn tile(request: &Request, host: &mut Host, id: &str, path: [&str; 3]) -> Step<Reply> {
    let dataset = asked(request, host, id)?;
    let is_queryable = |name: &str| queryables(&dataset).any(|column| column.name == name);
    let is_known = |name: &str| {
        PARAMETERS.contains(&name) || (!RESERVED.contains(&name) && is_queryable(name))
    };
    parameters::check(request, is_known)?;
    let is_taken = match request.parameter("f") {
        Some(name) if name != FORMAT => return Err(bad_request("f is `mvt` here")),
        Some(_) => true,
        None => request.preferred(&[MVT, PROTOBUF]).is_some(),
    };
    if !is_taken {
        let sentence = format!("a tile is {MVT}; change `Accept`, or give `f=mvt`");
        return Err(Refusal::new(406, sentence).into());
    }
    let place = Place::parse(path).ok_or_else(|| {
        let [zoom, row, column] = path;
        not_found(format!(
            "there is no tile {zoom}/{row}/{column}; a zoom is from 0 to 24, and row and column are less than its power of two"
        ))
    })?;
    let (start, end) = parameters::datetime(request)?;
    let has_dates = dataset.columns.iter().any(|column| column.role == "date");
    let key = feature_id(&dataset);
    let mut selection = Selection {
        limit: Some(MOST_ROWS),
        bbox: Some(place.bbox()),
        geometry: true,
        row_numbers: key == Some(ROW_NUMBER),
        ..Selection::new(&dataset.name)
    };
    // As for features.
    if has_dates {
        (selection.start, selection.end) = (start, end);
    }
    for (name, value) in request.parameters().filter(|(name, _)| !PARAMETERS.contains(name)) {
        selection.equal(name, value);
    }
    let Place { zoom, row, column } = place;
    let mut rows = Rows::new(selection, FORMAT);
    for (name, number) in [("z", zoom), ("x", column), ("y", row)] {
        rows = rows.option(name, number.to_string());
    }
    Ok(key.into_iter().fold(rows, |rows, key| rows.option("id", key)).into())
}

/// The column that is the id of features where that is an integer, which ids in tiles are.
fn feature_id(dataset: &Dataset) -> Option<&str> {
    match &dataset.primary_key[..] {
        [] => Some(ROW_NUMBER),
        [only] => {
            let is_id = |column: &&yearbook_sdk::adapter::Column| {
                column.name == *only && column.type_ == ColumnType::Integer
            };
            dataset.columns.iter().find(is_id).map(|column| column.name.as_str())
        }
        _ => None,
    }
}
