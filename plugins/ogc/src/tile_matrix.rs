//! The tile matrix set of web maps, `WebMercatorQuad` (OGC 17-083r4, annex D.1), and the boxes of
//! its tiles in degrees.

use std::f64::consts::{PI, TAU};

use serde_json::{Value, json};
use yearbook_sdk::adapter::{BoundingBox, Document, Host, Reply, Request, Step};

use crate::links::{self, JSON, link};
use crate::{negotiation, parameters, tile_format};

/// Its name and identifiers.
pub(crate) const ID: &str = "WebMercatorQuad";
pub(crate) const URI: &str = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad";
pub(crate) const CRS: &str = "http://www.opengis.net/def/crs/EPSG/0/3857";
const SCALES: &str = "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible";
/// Half of the earth's circumference in metres, and the scale of zoom 0 with its 256 pixels.
const HALF: f64 = 20_037_508.342_789_2;
const SCALE: f64 = 559_082_264.028_717;
/// The last zoom.
const MOST_ZOOM: u32 = 24;
/// Latitude at which the map ends.
const MOST_LATITUDE: f64 = 85.051_128_779_806_6;
/// Share of a tile by which it shows more on each side: the margin of the format.
const MARGIN: f64 = 64.0 / 4_096.0;

/// A tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) zoom: u32,
    pub(crate) row: u32,
    pub(crate) column: u32,
}

impl Place {
    /// The tile of a path: zoom, row and column in digits. `None` if there is none.
    pub(crate) fn parse(path: [&str; 3]) -> Option<Self> {
        let [zoom, row, column] = path.map(|text| {
            let number = parameters::count(text)?;
            // As it is written in links alone.
            u32::try_from(number).ok().filter(|number| number.to_string() == text)
        });
        let place = Self { zoom: zoom?, row: row?, column: column? };
        let is_there = place.zoom <= MOST_ZOOM
            && place.row < 1 << place.zoom
            && place.column < 1 << place.zoom;
        is_there.then_some(place)
    }

    /// Box of everything that the tile shows; west beyond east across 180°.
    pub(crate) fn bbox(self) -> BoundingBox {
        let tiles = f64::from(1_u32 << self.zoom);
        let longitude = |column: f64| column / tiles * 360.0 - 180.0;
        let latitude = |row: f64| (PI - row / tiles * TAU).sinh().atan().to_degrees();
        let [row, column] = [self.row, self.column].map(f64::from);
        let (north, south) = (latitude(row - MARGIN), latitude(row + 1.0 + MARGIN));
        let (west, east) = (longitude(column - MARGIN), longitude(column + 1.0 + MARGIN));
        let (west, east) = match (west < -180.0, east > 180.0) {
            (true, true) => (-180.0, 180.0),
            (true, false) => (west + 360.0, east),
            (false, true) => (west, east - 360.0),
            (false, false) => (west, east),
        };
        BoundingBox { west, south, east, north }
    }
}

/// The part of an extent that is on the map, west before east.
pub(crate) fn on_map(extent: BoundingBox) -> [f64; 4] {
    let BoundingBox { west, south, east, north } = extent;
    let (west, east) = if west > east { (-180.0, 180.0) } else { (west, east) };
    let [south, north] =
        [south, north].map(|latitude| latitude.clamp(-MOST_LATITUDE, MOST_LATITUDE));
    [west, south, east, north]
}

/// `/tileMatrixSets`.
pub(crate) fn list(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, JSON, "/")?;
    tile_format::ask(host)?;
    let own = links::below(request, &["tileMatrixSets", ID]);
    let links = links::own(request, JSON);
    let set = json!({ "id": ID, "uri": URI, "crs": CRS, "links": [link("self", own, JSON)] });
    Ok(Document::json(200, &json!({ "links": links, "tileMatrixSets": [set] })).into())
}

/// `/tileMatrixSets/WebMercatorQuad`.
pub(crate) fn show(request: &Request, host: &mut Host) -> Step<Reply> {
    parameters::check(request, |name| name == "f")?;
    negotiation::page(request, JSON, "/")?;
    tile_format::ask(host)?;
    let matrices = (0..=MOST_ZOOM).map(|zoom| {
        let tiles = 1_u32 << zoom;
        json!({
            "id": zoom.to_string(),
            "scaleDenominator": SCALE / f64::from(tiles),
            "cellSize": 2.0 * HALF / 256.0 / f64::from(tiles),
            "cornerOfOrigin": "topLeft",
            "pointOfOrigin": [-HALF, HALF],
            "tileWidth": 256,
            "tileHeight": 256,
            "matrixWidth": tiles,
            "matrixHeight": tiles,
        })
    });
    let document = json!({
        "id": ID,
        "title": "Google Maps Compatible for the World",
        "uri": URI,
        "crs": CRS,
        "orderedAxes": ["X", "Y"],
        "wellKnownScaleSet": SCALES,
        "tileMatrices": matrices.collect::<Vec<Value>>(),
        "links": links::own(request, JSON),
    });
    Ok(Document::json(200, &document).into())
}
