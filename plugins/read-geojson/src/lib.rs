//! The input format `geojson`: a FeatureCollection of GeoJSON (RFC 7946). A feature is a row, a
//! property a column, and the geometry WKT of a MULTI form, cut at the antimeridian. [`features`]
//! gathers a feature while it is parsed, [`wkt`] writes its geometry.

use yearbook_json_parser::{JsonFault, JsonParser};
use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadFault, ReadRefusal, ReaderDescription, RowBuilder,
};
use yearbook_sdk::{Kind, Options, Parameter, Reader};

mod antimeridian;
mod features;
mod geometry;
mod position;
mod wkt;

use features::Features;

yearbook_sdk::export_reader!(GeoJsonReader);

/// A file of GeoJSON that is being read.
#[derive(Debug)]
pub struct GeoJsonReader {
    parser: JsonParser,
    features: Features,
}

impl Reader for GeoJsonReader {
    fn describe() -> ReaderDescription {
        ReaderDescription {
            format: "geojson",
            version: env!("CARGO_PKG_VERSION"),
            title: "GeoJSON",
            parameters: vec![Parameter {
                name: "antimeridian",
                kind: Kind::Text,
                default: "cut",
                allowed: &["cut", "short-way"],
                docs: "`cut` cuts what goes beyond 180 degrees. `short-way` also takes an edge of more than 180 degrees for one that \
                       goes the other way around, as files have it that were not cut.",
            }],
            example: EXAMPLE,
            docs: "A FeatureCollection of GeoJSON (RFC 7946). Columns are the properties under their names, `id`, and `geometry` or \
                   `geometry_wkt`: WKT of the forms MULTIPOINT, MULTILINESTRING and MULTIPOLYGON, longitude first. A property \
                   that a feature lacks is null. `properties.geometry` and `feature.id` say which one is meant. Without requests \
                   the columns are those of the first feature.",
        }
    }

    fn open(requests: &[ColumnRequest], options: &Options) -> Result<Self, ReadRefusal> {
        let short_way = options.text("antimeridian")? == "short-way";
        Ok(Self { parser: JsonParser::new(), features: Features::new(requests, short_way) })
    }

    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal> {
        self.parser.push(bytes, &mut self.features).map_err(refusal)?;
        if last {
            self.parser.finish(&mut self.features).map_err(refusal)?;
            self.features.finish()?;
        }
        Ok(())
    }

    fn columns(&self) -> Option<Vec<ReadColumn>> {
        self.features.columns()
    }

    fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        self.features.add_rows(rows);
        Ok(())
    }
}

fn refusal(fault: JsonFault) -> ReadRefusal {
    let JsonFault { line, byte, path, sentence, by_handler } = fault;
    let place = FilePlace { line: Some(line), byte: Some(byte), path };
    let fault = ReadFault { place, sentence };
    if by_handler { ReadRefusal::Unsupported(fault) } else { ReadRefusal::Malformed(fault) }
}

const EXAMPLE: &[u8] = br#"{"type": "FeatureCollection", "features": [
{"type": "Feature", "id": 1, "properties": {"name": "Square", "area": 4, "island": false, "note": null},
 "geometry": {"type": "Polygon", "coordinates": [[[0,0],[2,0],[2,2],[0,2],[0,0]], [[0.5,0.5],[0.5,1],[1,1],[0.5,0.5]]]}},
{"type": "Feature", "id": 2, "properties": {"name": "Far \"away\"", "area": 1.5, "island": true},
 "geometry": {"coordinates": [[[[179,-1],[181,-1],[181,1],[179,1],[179,-1]]]], "type": "MultiPolygon"}},
{"type": "Feature", "id": 3, "properties": {"name": "Nowhere"}, "geometry": null}
]}
"#;
