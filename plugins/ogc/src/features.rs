//! The format that no client can name: features of GeoJSON with an id, as an array or as the
//! members of one.

use yearbook_geojson_writer::FeatureWriter;
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Note, Options, Output, Parameter, Schema, View,
};

use crate::links::GEOJSON;

/// Layouts.
pub(crate) const ARRAY: &str = "array";
pub(crate) const MEMBERS: &str = "members";

/// The column that is the id where there is no primary key, and no property.
pub(crate) const ROW_NUMBER: &str = "_row";

/// One response.
pub struct Features {
    writer: FeatureWriter,
    is_array: bool,
}

impl Encoder for Features {
    fn describe() -> Description {
        let text = |name, default, allowed, docs| Parameter {
            name,
            kind: Kind::Text,
            default,
            allowed,
            docs,
        };
        Description {
            format: "ogc",
            version: env!("CARGO_PKG_VERSION"),
            media_type: GEOJSON,
            extension: "geojson",
            separator: Some(b","),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![
                text("id", "", &[], "Columns that make the id, with commas between them."),
                text(
                    "layout",
                    ARRAY,
                    &[ARRAY, MEMBERS],
                    "An array, or the members of one feature behind a comma.",
                ),
            ],
            docs: "Features of GeoJSON with an id.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let is_array = options.text("layout")? == ARRAY;
        let ids = options.text("id")?.split(',').filter(|name| !name.is_empty());
        let ids: Vec<&str> = ids.collect();
        let writer = FeatureWriter::with_id(schema, &ids, Some(ROW_NUMBER))?;
        Ok(Self { writer: if is_array { writer } else { writer.bare() }, is_array })
    }

    fn views(&self) -> Vec<View> {
        self.writer.views()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(if self.is_array { b"[" } else { b"" });
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.writer.write(batch, out)
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(if self.is_array { b"]" } else { b"" });
        Ok(())
    }
}
