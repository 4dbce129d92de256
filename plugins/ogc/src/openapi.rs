//! `/api`: this API described by OpenAPI 3.0.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{
    Asked, Dataset, DatasetQuery, Document, Format, Host, Reply, Request, Step,
};

use crate::links::{GEOJSON, JSON, OPENAPI, SCHEMA};
use crate::negotiation::Encoding;
use crate::queryables::{queryables, schema};
use crate::{negotiation, parameters, tile_format};

/// Collections whose parameters are written out. Of more their queryables tell.
const MOST_COLLECTIONS: u32 = 200;

/// Parameters, problems and ways to send a key, with a place for the encodings of items.
const COMPONENTS: &str = include_str!("components.json");
const ENCODINGS: &str = "[\"FORMATS\"]";

/// `/api`.
pub(crate) fn show(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, OPENAPI, "/")?;
    let all = DatasetQuery {
        spatial: Some(true),
        language: negotiation::language(request),
        ..DatasetQuery::page(MOST_COLLECTIONS)
    };
    let (told, formats) = host.ask((Asked::datasets(all).or_refusal(), Asked::formats()))?;
    let few = told.ok().filter(|page| page.next.is_none());
    let document = json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Datasets with geometry",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "OGC API Features, Records and Tiles. Features and tiles need a key; all other resources need none.",
        },
        "servers": [{ "url": request.base }],
        "paths": paths(few.as_ref().map_or(&[][..], |page| &page.datasets), &formats),
    });
    // Text as it is: half of this component would be code that builds it.
    let body = document.to_string();
    let names = Encoding::all(&formats).map(|encoding| Value::from(encoding.named().0));
    let names = Value::from_iter(names);
    let components = COMPONENTS.replacen(ENCODINGS, &names.to_string(), 1);
    let body =
        format!("{},\"components\":{components}}}", body.strip_suffix('}').unwrap_or_default());
    Ok(Document::new(200, OPENAPI, body).into())
}

fn paths(datasets: &[Dataset], formats: &[Format]) -> Map<String, Value> {
    let mut paths = Map::new();
    let mut add = |path: &str, summary: &str, media_type, parameters: Vec<Value>| {
        let mut operation = get(path, summary, media_type, parameters);
        if path.contains("/items") && !path.contains("/catalogue/") {
            let content = &mut operation["responses"]["200"]["content"];
            for encoding in Encoding::all(formats) {
                if let Encoding::Format(Format { media_type, .. }) = encoding {
                    content[media_type.split(';').next().unwrap_or_default()] = json!({});
                }
            }
        }
        paths.insert(path.to_owned(), json!({ "get": operation }));
    };
    let f = || parameter("f");
    add("/", "Landing page", JSON, vec![f()]);
    add("/conformance", "Conformance classes", JSON, vec![f()]);
    add("/api", "This description", OPENAPI, vec![f()]);
    add(
        "/collections",
        "Datasets with geometry, and the catalogue",
        JSON,
        vec![parameter("after"), f()],
    );
    let collection = "/collections/{collectionId}";
    let path = |rest: &str| format!("{collection}{rest}");
    let id = || parameter("collectionId");
    add(collection, "A collection", JSON, vec![id(), f()]);
    add(&path("/queryables"), "Columns that are parameters of items", SCHEMA, vec![id(), f()]);
    let items = ["limit", "bbox", "datetime", "asOf", "cursor", "itemsF"];
    let mut general = vec![id()];
    general.extend(items.map(parameter));
    general.push(parameter("queryables"));
    add(&path("/items"), "Features", GEOJSON, general);
    let feature = vec![id(), parameter("featureId"), parameter("asOf"), parameter("itemsF")];
    add(&path("/items/{featureId}"), "A feature", GEOJSON, feature);
    let records = ["recordLimit", "offset", "after", "bbox", "datetime", "q", "type", "ids", "f"];
    add(
        "/collections/catalogue/items",
        "Records of datasets",
        GEOJSON,
        records.map(parameter).into(),
    );
    if tile_format::is_among(formats) {
        let place = ["tileMatrix", "tileRow", "tileCol", "datetime", "tileF", "queryables"];
        let tile = [id()].into_iter().chain(place.map(parameter));
        let set = |rest: &str| path(&format!("/tiles/WebMercatorQuad{rest}"));
        add("/tileMatrixSets", "Tile matrix sets", JSON, vec![f()]);
        add("/tileMatrixSets/WebMercatorQuad", "The tile matrix set", JSON, vec![f()]);
        add(&path("/tiles"), "Tilesets", JSON, vec![id(), f()]);
        add(&set(""), "The tileset, and its TileJSON", JSON, vec![id(), parameter("tilesetF")]);
        add(&set("/{tileMatrix}/{tileRow}/{tileCol}"), "A tile", tile_format::MVT, tile.collect());
    }
    for dataset in datasets {
        let path = format!("/collections/{}/items", dataset.name);
        let columns = queryables(dataset).map(|column| {
            json!({
                "name": column.name,
                "in": "query",
                "required": false,
                "style": "form",
                "explode": false,
                "schema": schema(column),
            })
        });
        let title = dataset.title.as_ref().unwrap_or(&dataset.name);
        let all = items.map(parameter).into_iter().chain(columns);
        add(&path, &format!("Features of {title}"), GEOJSON, all.collect());
    }
    paths
}

/// A reference to a parameter.
fn parameter(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

fn get(path: &str, summary: &str, media_type: &str, parameters: Vec<Value>) -> Value {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = path.split(|character| !is_word(character)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let name = if words.is_empty() { "landing".to_owned() } else { words.join(".") };
    let response = |name: &str| json!({ "$ref": format!("#/components/responses/{name}") });
    let schema = match media_type {
        tile_format::MVT => json!({ "type": "string", "format": "binary" }),
        _ => json!({ "type": "object" }),
    };
    let mut operation = json!({
        "operationId": name,
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": summary, "content": { media_type: { "schema": schema } } },
            "303": { "description": "The page of the catalogue, for HTML" },
            "400": response("problem"),
            "404": response("problem"),
            "406": response("problem"),
            "default": response("problem"),
        },
    });
    let has_rows = path.contains("/items") || path.ends_with("{tileCol}");
    if has_rows && !path.contains("/catalogue/") {
        operation["security"] = json!([{ "header": [] }, { "basic": [] }, { "bearer": [] }]);
        operation["responses"]["401"] = response("problem");
        operation["responses"]["429"] = response("problem");
    }
    operation
}
