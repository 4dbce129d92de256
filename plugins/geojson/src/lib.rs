//! The format `geojson`: a FeatureCollection (RFC 7946), a feature a row, with where the data comes
//! from beside the features.

use yearbook_geojson_writer::FeatureWriter;
use yearbook_sdk::text::{Dialect as _, json};
use yearbook_sdk::{Batch, Description, Encoder, Error, Note, Options, Output, Schema, View};

yearbook_sdk::export_encoder!(GeoJsonEncoder);

/// One response as a FeatureCollection.
pub struct GeoJsonEncoder {
    features: FeatureWriter,
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
        let head = head(&schema);
        Ok(Self { features: FeatureWriter::new(schema)?, head })
    }

    fn views(&self) -> Vec<View> {
        self.features.views()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.head);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.features.write(batch, out)
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
