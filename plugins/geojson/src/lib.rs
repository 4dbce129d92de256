//! The format `geojson`: a FeatureCollection (RFC 7946), a feature a row. The geometry comes from
//! the column whose role that is; the other columns are properties, with the values that `json`
//! has. Long text among them stays with the host; a geometry cannot, since brackets come to stand
//! around every position.

use yearbook_sdk::batch::Recoder;
use yearbook_sdk::generator::Role;
use yearbook_sdk::text::{Dialect as _, Rows, first_byte, json};
use yearbook_sdk::{
    Batch, Column, Description, Encoder, Error, Note, Options, Output, Schema, Values, View,
};

pub mod transcode;

yearbook_sdk::export_encoder!(GeoJsonEncoder);

/// Text around a feature's geometry and properties.
const FEATURE_START: &[u8] = b"{\"type\":\"Feature\",\"geometry\":";
const PROPERTIES_KEY: &[u8] = b",\"properties\":";

/// One response as a FeatureCollection.
pub struct GeoJsonEncoder {
    geometry: usize,
    recoder: Recoder<()>,
    transcoder: transcode::WktToGeoJson,
    /// None where there is no other column.
    properties: Option<Rows<json::Json>>,
    lines: Output,
    head: Vec<u8>,
}

impl Encoder for GeoJsonEncoder {
    fn describe() -> Description {
        Description {
            format: "geojson",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/geo+json",
            extension: "geojson",
            separator: Some(b","),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: Vec::new(),
            docs: "A GeoJSON FeatureCollection (RFC 7946), a feature a row, for datasets with geometry. Coordinates are longitude and latitude \
                   with the digits that were published; rings are turned where need be so that the interior lies to the left. A row \
                   without geometry has the geometry null. The other columns are properties with the values of `json`. Licence, \
                   attribution, source and snapshot stand beside the features.",
        }
    }

    fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
        let Some(geometry) = schema.position(Role::Geometry) else {
            return Err(Error::UnsupportedSchema(
                "there is no geometry among the columns asked for, which GeoJSON needs; leave out `geometry=false`, add the geometry to `columns`, \
                 or take `format=json` where the dataset has none"
                    .to_owned(),
            ));
        };
        let mut others = schema.fields.clone();
        others.remove(geometry);
        let properties =
            if others.is_empty() { None } else { Some(json::objects(&others, b"}\n")?) };
        let head = head(&schema);
        let recoder = Recoder::new(schema, geometry);
        Ok(Self {
            geometry,
            recoder,
            transcoder: transcode::WktToGeoJson::default(),
            properties,
            lines: Output::default(),
            head,
        })
    }

    fn views(&self) -> Vec<View> {
        let mut views = self.properties.as_ref().map_or_else(Vec::new, Rows::views);
        views.insert(self.geometry, View::WHOLE);
        views
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.head);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let transcoder = &mut self.transcoder;
        let write = |text: &str, out: &mut Vec<u8>| {
            // The interface promises WKT, so it is not the client's fault.
            transcoder.geometry(text, out).map_err(|error| Error::Internal(error.to_string()))
        };
        let (others, geometries) = self.recoder.apply(batch, write, |()| ())?.split(self.geometry);
        self.lines.clear();
        if let Some(rows) = &mut self.properties {
            rows.write(&others, &mut self.lines);
        }
        let geometries = geometries.column(0);
        let (lines, mut written) = (&self.lines, 0);
        for row in 0..others.rows() {
            if row > 0 {
                out.push(b',');
            }
            out.extend_from_slice(FEATURE_START);
            out.extend_from_slice(geometry_json(&geometries, row).unwrap_or(b"null"));
            out.extend_from_slice(PROPERTIES_KEY);
            // JSON has no line feed but those between the rows.
            match first_byte(&lines[written..], |byte| byte == b'\n') {
                Some(length) => {
                    out.extend_from_output(lines, written..written + length);
                    written += length + 1;
                }
                None => out.extend_from_slice(b"null"),
            }
            out.push(b'}');
        }
        Ok(())
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(b"]}");
        Ok(())
    }
}

/// Everything before the first feature: where the data comes from are members that readers may
/// ignore (RFC 7946, section 6.1).
fn head(schema: &Schema) -> Vec<u8> {
    let mut out = b"{\"type\":\"FeatureCollection\",".to_vec();
    for name in ["dataset", "snapshot_id", "source", "source_url", "licence", "attribution"] {
        if let Some(value) = schema.metadata(&format!("yearbook.{name}")) {
            json::Json.text(name.as_bytes(), &mut out);
            out.push(b':');
            json::Json.text(value.as_bytes(), &mut out);
            out.push(b',');
        }
    }
    out.extend_from_slice(b"\"features\":[");
    out
}

/// Geometry of a row in GeoJSON; `None` where it is null.
fn geometry_json<'a>(geometries: &'a Column<'_>, row: usize) -> Option<&'a [u8]> {
    match &geometries.values {
        _ if !geometries.is_valid(row) => None,
        Values::Binary(values) => Some(values.bytes(row)),
        Values::Dictionary(keyed) => {
            geometry_json(&keyed.values, usize::try_from(keyed.keys[row]).ok()?)
        }
        _ => None,
    }
}
