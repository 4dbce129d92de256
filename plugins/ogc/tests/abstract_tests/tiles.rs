//! OGC API Tiles Part 1: tilesets, tiles, the tile matrix set, and TileJSON; over a host that has
//! the format, and over one that has not.

use serde_json::{Value, json};
use yearbook_ogc::Ogc;
use yearbook_sdk::Adapter as _;
use yearbook_sdk::adapter::{
    BoundingBox, Column, ColumnType, Dataset, Document, Example, Fact, Format, Framing, Reply,
    Request, Rows, Selection,
};
use yearbook_sdk::testing::sample::SampleCatalogue;

use super::service::{BASE, ask, get, links_in};

const MVT: &str = "application/vnd.mapbox-vector-tile";
const TILES: &str = "/collections/places/tiles/WebMercatorQuad";

fn request(address: &str) -> Request {
    Request { base: BASE.to_owned(), ..Example::get(address, 0).request }
}

/// Reply of a host that has the format; `change` changes what it tells of a dataset.
fn reply(request: &Request, change: impl Fn(&mut Dataset)) -> Reply {
    let catalogue = SampleCatalogue::new();
    let tell = |question: &_| match catalogue.answer(question) {
        Fact::Formats(mut formats) => {
            let (name, media_type) = ("mvt".to_owned(), MVT.to_owned());
            formats.push(Format { extension: name.clone(), name, media_type });
            Fact::Formats(formats)
        }
        Fact::Dataset(mut dataset) => {
            change(&mut dataset);
            Fact::Dataset(dataset)
        }
        other => other,
    };
    ask(request, tell).0
}

fn document(address: &str) -> (u16, Value) {
    match reply(&request(address), |_| ()) {
        Reply::Document(Document { status, body, .. }) => {
            (status, serde_json::from_slice(&body).unwrap_or_default())
        }
        other => panic!("{address}: {other:?}"),
    }
}

fn fine(address: &str) -> Value {
    let (status, body) = document(address);
    assert_eq!(status, 200, "{address}: {body}");
    body
}

fn tile(address: &str, change: impl Fn(&mut Dataset)) -> Rows {
    match reply(&request(address), change) {
        Reply::Rows(rows) => rows,
        other => panic!("{address}: {other:?}"),
    }
}

#[test]
fn without_the_format_there_are_no_tiles_contract_18() {
    for address in [
        "/collections/places/tiles",
        TILES,
        &format!("{TILES}?f=tilejson"),
        &format!("{TILES}/0/0/0"),
        "/tileMatrixSets",
        "/tileMatrixSets/WebMercatorQuad",
    ] {
        let answer = get(address);
        assert_eq!(answer.status, 404, "{address}");
        assert!(answer.body["detail"].as_str().unwrap().contains("`mvt`"), "{address}");
    }
    for announced in ["/", "/conformance", "/api", "/collections", "/collections/places"] {
        let [without, with] = [get(announced).body, fine(announced)].map(|body| {
            let text = body.to_string();
            ["/tile", "-tiles-", "tilesets"].iter().any(|word| text.contains(word))
        });
        assert!(!without && with, "{announced}");
    }
}

/// `/conf/core/conformance-success`, `/conf/geodata-tilesets/desc-links`,
/// `/conf/tilesets-list/tsl-op`, `tsl-success`, `/conf/tileset/desc-links`, `success`.
#[test]
fn tilesets_lead_from_the_collection_to_tiles_contract_18() {
    let classes = fine("/conformance")["conformsTo"].clone();
    for class in ["core", "tileset", "tilesets-list", "geodata-tilesets", "mvt"] {
        let class = format!("http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/{class}");
        assert!(classes.as_array().unwrap().contains(&json!(class)), "{class}");
    }
    let rel = |name: &str| format!("http://www.opengis.net/def/rel/ogc/1.0/{name}");
    let below = |address: &str| address.strip_prefix(BASE).unwrap().to_owned();
    let tilesets = below(links_in(&fine("/collections/places"), &rel("tilesets-vector"))[0]);
    let list = fine(&tilesets);
    let [listed] = &list["tilesets"].as_array().unwrap()[..] else { panic!("{list}") };
    let tileset = fine(&below(links_in(listed, "self")[0]));
    for member in ["title", "dataType", "crs", "tileMatrixSetURI"] {
        assert_eq!(listed[member], tileset[member], "{member}");
    }
    assert_eq!(tileset["dataType"], "vector");
    let item = tileset["links"].as_array().unwrap().iter().find(|link| link["rel"] == "item");
    let item = item.unwrap();
    assert_eq!((&item["templated"], &item["type"]), (&json!(true), &json!(MVT)));
    assert_eq!(item["href"], format!("{BASE}{TILES}/{{tileMatrix}}/{{tileRow}}/{{tileCol}}"));
    let scheme = below(links_in(&tileset, &rel("tiling-scheme"))[0]);
    assert_eq!(fine(&scheme)["uri"], tileset["tileMatrixSetURI"]);
    assert_eq!(links_in(&fine("/"), &rel("tiling-schemes")), [format!("{BASE}/tileMatrixSets")]);
    let sets = fine("/tileMatrixSets");
    assert_eq!(below(links_in(&sets["tileMatrixSets"][0], "self")[0]), scheme);
    let layer = &tileset["layers"][0];
    assert_eq!(layer["id"], "places");
    assert_eq!(layer["propertiesSchema"]["properties"]["name"]["type"], "string");
    assert_eq!(tileset["boundingBox"]["lowerLeft"], json!([-180.0, -46.5]), "across 180°");
}

#[test]
fn the_definition_has_tiles_with_their_places_contract_18() {
    let api = fine("/api");
    let path = "/collections/{collectionId}/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}";
    let operation = &api["paths"][path]["get"];
    assert_eq!(operation["responses"]["200"]["content"][MVT]["schema"]["format"], "binary");
    assert!(operation["security"].is_array() && operation["responses"]["401"].is_object());
    for name in ["tileMatrix", "tileRow", "tileCol"] {
        let place = format!("#/components/parameters/{name}");
        let parameters = operation["parameters"].as_array().unwrap();
        assert!(parameters.contains(&json!({ "$ref": place })), "{name}");
        assert_eq!(api["components"]["parameters"][name]["in"], "path");
    }
}

#[test]
fn the_tile_matrix_set_is_that_of_the_standard_ogc_17_083() {
    let set = fine("/tileMatrixSets/WebMercatorQuad");
    let matrices = set["tileMatrices"].as_array().unwrap();
    assert_eq!(matrices.len(), 25);
    // Annex D.1.
    for (zoom, scale, cell, width) in [
        (0, 559_082_264.028_717, 156_543.033_928_041, 1),
        (1, 279_541_132.014_358, 78_271.516_964_020_5, 2),
        (10, 545_978.773_465_544, 152.874_056_570_353, 1_024),
        (24, 33.323_899_747_653, 0.009_330_692_177_655_75, 16_777_216_u64),
    ] {
        let matrix = &matrices[zoom];
        let near = |name: &str, wanted: f64| {
            let found = matrix[name].as_f64().unwrap();
            assert!((found / wanted - 1.0).abs() < 1e-7, "{name} of {zoom}: {found}");
        };
        near("scaleDenominator", scale);
        near("cellSize", cell);
        assert_eq!(
            (&matrix["id"], &matrix["matrixWidth"]),
            (&json!(zoom.to_string()), &json!(width))
        );
    }
    assert_eq!(matrices[0]["pointOfOrigin"], json!([-20_037_508.342_789_2, 20_037_508.342_789_2]));
}

#[test]
fn tilejson_names_layers_fields_and_addresses_contract_18() {
    let tilejson = fine(&format!("{TILES}?f=tilejson"));
    assert_eq!(tilejson["tilejson"], "3.0.0");
    assert_eq!(tilejson["tiles"], json!([format!("{BASE}{TILES}/{{z}}/{{y}}/{{x}}")]));
    assert_eq!((&tilejson["minzoom"], &tilejson["maxzoom"]), (&json!(0), &json!(14)));
    assert_eq!(tilejson["bounds"], json!([-180.0, -46.5, 180.0, -36.8]));
    let layer = &tilejson["vector_layers"][0];
    assert_eq!((&layer["id"], &layer["fields"]["name"]), (&json!("places"), &json!("String")));
    assert!(layer["fields"].get("geometry_wkt").is_none());
    assert!(!tilejson["attribution"].as_str().unwrap().is_empty());
}

/// `/conf/core/tc-op`, `tc-success`.
#[test]
fn a_tile_is_the_rows_that_it_shows_contract_18() {
    let rows = tile(&format!("{TILES}/8/157/252"), |_| ());
    let Selection { bbox, limit, geometry, .. } = &rows.selection;
    assert_eq!((rows.format.as_deref(), *limit, *geometry), (Some("mvt"), Some(1_000_000), true));
    let options: Vec<_> =
        rows.options.iter().map(|(name, value)| (&name[..], &value[..])).collect();
    assert_eq!(options, [("z", "8"), ("x", "252"), ("y", "157")]);
    let BoundingBox { west, south, east, north } = bbox.unwrap();
    // The margin is a sixty-fourth of the tile's 1.40625 degrees.
    assert_eq!([west, east], [174.353_027_343_75, 175.803_222_656_25]);
    assert!(south < -38.8 && -38.9 < south && -37.8 < north && north < -37.6, "{south} {north}");
    // Whatever stands around rows of a response, nothing does around a tile.
    let catalogue = SampleCatalogue::new();
    let known = catalogue.rows(&rows.selection).unwrap().known;
    let framing = Ogc::frame(&request(&format!("{TILES}/8/157/252")), &[], &known);
    let Framing::Wrap(wrapping) = framing else { panic!("{framing:?}") };
    assert!(wrapping.before.is_empty() && wrapping.after.is_empty() && wrapping.links.is_empty());
}

#[test]
fn a_tile_at_180_degrees_shows_both_sides_contract_18() {
    let sides = |path: &str| {
        let rows = tile(&format!("{TILES}/{path}"), |_| ());
        let BoundingBox { west, south, east, north } = rows.selection.bbox.unwrap();
        assert!(south < north && south > -90.0 && north < 90.0);
        [west, east]
    };
    assert_eq!(sides("0/0/0"), [-180.0, 180.0]);
    assert_eq!(sides("1/0/0"), [177.1875, 2.8125]);
    assert_eq!(sides("1/1/1"), [-2.8125, -177.1875]);
    assert_eq!(sides("3/4/7"), [134.296_875, -179.296_875]);
    assert_eq!(sides("2/1/1"), [-91.406_25, 1.406_25]);
}

#[test]
fn an_id_in_a_tile_is_the_integer_of_the_feature_contract_18() {
    let id = |change: &dyn Fn(&mut Dataset)| {
        let rows = tile(&format!("{TILES}/0/0/0"), change);
        let id = rows.options.iter().find(|(name, _)| name == "id");
        (id.map(|(_, id)| id.clone()), rows.selection.row_numbers)
    };
    assert_eq!(id(&|_| ()), (None, false), "text is no id of a tile");
    assert_eq!(id(&|places| places.primary_key.clear()), (Some("_row".to_owned()), true));
    let number = |places: &mut Dataset| {
        let name = "number".to_owned();
        let column =
            Column { name: name.clone(), type_: ColumnType::Integer, ..places.columns[0].clone() };
        places.columns.push(column);
        places.primary_key = vec![name];
    };
    assert_eq!(id(&number), (Some("number".to_owned()), false));
}

#[test]
fn columns_and_times_select_in_tiles_too_contract_18() {
    let rows = tile(&format!("{TILES}/0/0/0?name=Auckland&datetime=2024-01-01/.."), |_| ());
    let condition = &rows.selection.conditions[0];
    assert_eq!(
        (condition.column.as_str(), &condition.values[..]),
        ("name", &["Auckland".to_owned()][..])
    );
    assert_eq!(rows.selection.start.as_deref(), Some("2024-01-01"));
}

/// `/conf/core/tc-error`, `query-param-unknown`.
#[test]
fn tiles_that_are_not_there_are_404_and_wrong_parameters_400_contract_18() {
    for path in
        ["25/0/0", "0/0/1", "0/1/0", "3/8/0", "-1/0/0", "01/0/0", "0/0", "a/0/0", "0/0/0.mvt"]
    {
        assert_eq!(document(&format!("{TILES}/{path}")).0, 404, "{path}");
    }
    for address in [
        "/collections/codes/tiles",
        "/collections/catalogue/tiles",
        "/collections/places/tiles/WorldCRS84Quad",
        "/collections/codes/tiles/WebMercatorQuad/0/0/0",
        "/tileMatrixSets/WorldCRS84Quad",
    ] {
        assert_eq!(document(address).0, 404, "{address}");
    }
    for query in ["limit=5", "bbox=1,2,3,4", "colour=red", "f=png", "f=mvt&f=mvt", "datetime=soon"]
    {
        assert_eq!(document(&format!("{TILES}/0/0/0?{query}")).0, 400, "{query}");
    }
    assert_eq!(document(&format!("{TILES}?f=mvt")).0, 400);
    let mut asked = request(&format!("{TILES}/0/0/0"));
    for (accept, is_taken) in
        [("image/png", false), ("*/*", true), (MVT, true), ("application/x-protobuf", true)]
    {
        asked.headers = vec![("accept".to_owned(), accept.to_owned())];
        match reply(&asked, |_| ()) {
            Reply::Rows(_) => assert!(is_taken, "{accept}"),
            Reply::Document(document) => assert_eq!((is_taken, document.status), (false, 406)),
            other => panic!("{other:?}"),
        }
    }
}
