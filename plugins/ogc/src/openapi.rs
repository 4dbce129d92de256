//! `/api`: this API described by OpenAPI 3.0.

use serde_json::{Map, Value, json};
use yearbook_sdk::adapter::{Asked, Dataset, DatasetQuery, Document, Host, Reply, Request, Step};

use crate::links::{GEOJSON, JSON, OPENAPI, SCHEMA};
use crate::parameters::{DEFAULT_LIMIT, MOST_FEATURES};
use crate::queryables::{queryables, schema};
use crate::records::MOST_RECORDS;
use crate::{negotiation, parameters};

/// Collections whose parameters are written out. Of more their queryables tell.
const MOST_COLLECTIONS: u32 = 200;

/// `/api`.
pub(crate) fn show(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    if let Some(page) = negotiation::page(request, OPENAPI, "/")? {
        return Ok(page.into());
    }
    let all = DatasetQuery { spatial: Some(true), ..DatasetQuery::page(MOST_COLLECTIONS) };
    let told = host.ask(Asked::datasets(all).or_refusal())?;
    let few = told.ok().filter(|page| page.next.is_none());
    let document = json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Datasets with geometry",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "OGC API Features and Records. Features need a key; all other resources need none.",
        },
        "servers": [{ "url": request.base }],
        "paths": paths(few.as_ref().map_or(&[][..], |page| &page.datasets)),
        "components": components(),
    });
    Ok(Document { media_type: OPENAPI.to_owned(), ..Document::json(200, &document) }.into())
}

fn paths(datasets: &[Dataset]) -> Map<String, Value> {
    let mut paths = Map::new();
    let mut add = |path: &str, summary: &str, media_type, parameters: Vec<Value>| {
        paths.insert(path.to_owned(), json!({ "get": get(path, summary, media_type, parameters) }));
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
    let items = ["limit", "bbox", "datetime", "cursor", "itemsF"];
    let mut general = vec![id()];
    general.extend(items.map(parameter));
    general.push(parameter("queryables"));
    add(&path("/items"), "Features", GEOJSON, general);
    let feature = vec![id(), parameter("featureId"), parameter("itemsF")];
    add(&path("/items/{featureId}"), "A feature", GEOJSON, feature);
    let records = ["recordLimit", "offset", "after", "bbox", "datetime", "q", "type", "ids", "f"];
    add(
        "/collections/catalogue/items",
        "Records of datasets",
        GEOJSON,
        records.map(parameter).into(),
    );
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
    let mut operation = json!({
        "operationId": name,
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": summary, "content": { media_type: { "schema": { "type": "object" } } } },
            "303": { "description": "The page of the catalogue, for HTML" },
            "400": response("problem"),
            "404": response("problem"),
            "406": response("problem"),
            "default": response("problem"),
        },
    });
    if path.contains("/items") && !path.contains("/catalogue/") {
        operation["security"] = json!([{ "header": [] }, { "basic": [] }, { "bearer": [] }, {}]);
        operation["responses"]["401"] = response("problem");
        operation["responses"]["429"] = response("problem");
    }
    operation
}

fn components() -> Value {
    let query = |name: &str, description: &str, schema: Value| {
        json!({
            "name": name,
            "in": "query",
            "description": description,
            "required": false,
            "style": "form",
            "explode": false,
            "schema": schema,
        })
    };
    let in_path = |name: &str, description: &str| {
        json!({
            "name": name,
            "in": "path",
            "description": description,
            "required": true,
            "schema": { "type": "string", "minLength": 1 },
        })
    };
    let limit = |most: u64| {
        let schema =
            json!({ "type": "integer", "minimum": 1, "maximum": most, "default": DEFAULT_LIMIT });
        query("limit", "Items of a page at most; more than the maximum is the maximum.", schema)
    };
    let text = || json!({ "type": "string" });
    let list = || json!({ "type": "array", "items": { "type": "string" } });
    let encodings = json!({ "type": "string", "enum": ["json", "html"] });
    let numbers =
        json!({ "type": "array", "minItems": 4, "maxItems": 6, "items": { "type": "number" } });
    let offset = json!({ "type": "integer", "minimum": 0, "default": 0 });
    let cursor = "Where a page begins: from a `next` link. It reads its own snapshot to the end.";
    let bbox = "West, south, east and north in degrees, or with heights; west beyond east means across 180°. Rows without geometry match no box.";
    let datetime = "A time or an interval; `..` leaves one end open. Rows have days.";
    let problem = json!({
        "description": "A problem document (RFC 9457)",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/problem" } } },
    });
    let queryables = json!({
        "name": "queryables",
        "in": "query",
        "description": "A value of each column that `…/queryables` lists, as a parameter of its own.",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": { "type": "object", "additionalProperties": { "type": "string" } },
    });
    json!({
        "parameters": {
            "collectionId": in_path("collectionId", "Name of a dataset with geometry, or `catalogue`"),
            "featureId": in_path("featureId", "Primary key of a row, or its number"),
            "limit": limit(MOST_FEATURES),
            "recordLimit": limit(MOST_RECORDS),
            "bbox": query("bbox", bbox, numbers),
            "datetime": query("datetime", datetime, text()),
            "cursor": query("cursor", cursor, text()),
            "after": query("after", "Where a page begins: from a `next` link.", text()),
            "offset": query("offset", "Records that are left out before.", offset),
            "q": query("q", "Words; terms with commas between them are alternatives.", list()),
            "type": query("type", "Types of records; all are `dataset`.", list()),
            "ids": query("ids", "Names of datasets.", list()),
            "f": query("f", "Encoding, before `Accept`.", encodings),
            "itemsF": query("f", "Encoding, before `Accept`: json, html, or a format of this service.", text()),
            "queryables": queryables,
        },
        "responses": { "problem": problem },
        "schemas": {
            "problem": {
                "type": "object",
                "required": ["type", "title", "status", "detail", "code"],
                "properties": {
                    "type": text(),
                    "title": text(),
                    "status": { "type": "integer" },
                    "detail": text(),
                    "code": text(),
                },
            },
        },
        "securitySchemes": {
            "header": { "type": "apiKey", "in": "header", "name": "X-API-Key" },
            "basic": { "type": "http", "scheme": "basic" },
            "bearer": { "type": "http", "scheme": "bearer" },
        },
    })
}
