//! The format `geoparquet`: GeoParquet 1.1 (<https://geoparquet.org/releases/v1.1.0/>), which is
//! Parquet with the geometry as WKB and a description of it in the file's metadata.
//! [`yearbook_parquet_writer`] writes the file.

use yearbook_parquet_writer::{Codec, ParquetWriter, ROW_GROUP_ROWS, Recoding};
use yearbook_sdk::batch::Recoder;
use yearbook_sdk::generator::Role;
use yearbook_sdk::text::{Dialect as _, json::Json};
use yearbook_sdk::{Batch, Description, Encoder, Error, Note, Options, Output, Schema, Values};

use wkb::{EMPTY_EXTENT, GeometryExtent};

mod wkb;

yearbook_sdk::export_encoder!(GeoParquetEncoder);

/// Name of the geometry column, as tools expect it for WKB; the published name stays where the
/// dataset has another column of this name.
const GEOMETRY_COLUMN: &str = "geometry";

/// One response in GeoParquet.
pub struct GeoParquetEncoder {
    name: String,
    /// Position of the geometry.
    column: usize,
    /// For geometry that comes as a dictionary.
    recoder: Recoder<GeometryExtent>,
    writer: ParquetWriter,
    /// Extent of the part that was just made.
    extent: GeometryExtent,
}

impl Encoder for GeoParquetEncoder {
    fn describe() -> Description {
        Description {
            format: "geoparquet",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.apache.parquet; profile=geoparquet",
            extension: "parquet",
            separator: Some(b""),
            part_rows: u32::try_from(ROW_GROUP_ROWS).ok(),
            dictionaries: true,
            compressible: false,
            parameters: vec![Codec::parameter()],
            docs: "GeoParquet 1.1 for datasets with geometry: the format `parquet` with the geometry as WKB in the column `geometry`, and the \
                   file's `geo` metadata (kinds of geometry, bounding box; coordinates are OGC:CRS84, longitude before latitude). Rings \
                   are as they were published.",
        }
    }

    fn open(mut schema: Schema, options: &Options) -> Result<Self, Error> {
        let codec = Codec::from_options(options)?;
        let Some(column) = schema.position(Role::Geometry) else {
            return Err(Error::UnsupportedSchema(
                "there is no geometry among the columns asked for, which GeoParquet needs; leave out `geometry=false`, add the geometry to \
                 `columns`, or take `format=parquet` where the dataset has none"
                    .to_owned(),
            ));
        };
        if schema.fields.iter().all(|field| field.name != GEOMETRY_COLUMN) {
            schema.fields[column].name = GEOMETRY_COLUMN.to_owned();
        }
        let name = schema.fields[column].name.clone();
        let recoder = Recoder::new(schema, column);
        let writer = ParquetWriter::open(recoder.schema().clone(), codec)?;
        Ok(Self { name, column, recoder, writer, extent: EMPTY_EXTENT })
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.writer.head(out);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let mut extent = EMPTY_EXTENT;
        // The interface promises WKT, so it is not the client's fault.
        let write = |text: &str, out: &mut Vec<u8>| {
            wkb::geometry(text, out).map_err(|error| Error::Internal(error.to_string()))
        };
        let geometry = batch.column(self.column);
        if matches!(geometry.values, Values::Dictionary(_)) {
            let batch = self.recoder.apply(batch, write, |own| extent.join(own))?;
            self.writer.part(&batch, out)?;
        } else {
            let recode = &mut |row: usize, out: &mut Vec<u8>| {
                let text = geometry.text(row).unwrap_or_default();
                write(text, out).map(|own| extent.join(&own))
            };
            let recoding = Recoding { column: self.column, recode };
            self.writer.recoded_part(&batch, recoding, out)?;
        }
        self.extent = extent;
        Ok(())
    }

    fn note(&mut self) -> Vec<u8> {
        let mut note = Vec::new();
        self.extent.write(&mut note);
        note.extend(self.writer.note());
        note
    }

    fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut extent = EMPTY_EXTENT;
        let mut inner = Vec::with_capacity(notes.len());
        for Note { offset, bytes } in notes {
            let (own, rest) = GeometryExtent::read(bytes)?;
            extent.join(&own);
            inner.push(Note { offset: *offset, bytes: rest.to_vec() });
        }
        self.writer.tail(&inner, &[("geo".to_owned(), geo_metadata(&self.name, &extent))], out)
    }
}

/// `geo` metadata of the file. Without `crs` it is OGC:CRS84, which is what datasets have.
fn geo_metadata(name: &str, extent: &GeometryExtent) -> String {
    let mut quoted = Vec::new();
    Json.text(name.as_bytes(), &mut quoted);
    let name = String::from_utf8_lossy(&quoted);
    let kinds: Vec<_> = extent.kinds().map(|kind| format!("\"{kind}\"")).collect();
    let bbox = extent.bbox().map_or(String::new(), |[west, south, east, north]| {
        format!(r#","bbox":[{west:?},{south:?},{east:?},{north:?}]"#)
    });
    format!(
        r#"{{"version":"1.1.0","primary_column":{name},"columns":{{{name}:{{"encoding":"WKB","geometry_types":[{}]{bbox}}}}}}}"#,
        kinds.join(",")
    )
}
