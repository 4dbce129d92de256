//! The format `mvt`: one tile of a map (Mapbox Vector Tile 2.1) with the rows of a response as its
//! features.

mod clip;
mod layer;
mod rings;
mod shape;
mod tile;
mod values;
mod wire;

use i_overlay::core::overlay::Overlay;
use yearbook_sdk::generator::Role;
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Note, Options, Output, Parameter, Schema,
};

use layer::{Layer, MOST_BYTES};
use shape::Shape;
use tile::Tile;

yearbook_sdk::export_encoder!(MvtEncoder);

/// The column of row numbers, which is no property where it is the id.
const ROW_NUMBER: &str = "_row";
/// Bytes of one geometry at most, so that there is room for its properties.
const MOST_COMMANDS: usize = MOST_BYTES * 4 / 5;

/// One tile.
pub struct MvtEncoder {
    tile: Tile,
    schema: Schema,
    geometry: usize,
    id: Option<usize>,
    /// Rows before the batch.
    rows: u64,
    overlay: Overlay,
    layer: Layer,
}

impl Encoder for MvtEncoder {
    fn describe() -> Description {
        let number =
            |name, docs| Parameter { name, kind: Kind::Integer, default: "0", allowed: &[], docs };
        Description {
            format: "mvt",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.mapbox-vector-tile",
            extension: "mvt",
            separator: None,
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![
                number("z", "Zoom of the tile, from 0 to 24."),
                number("x", "Column of the tile, from the west."),
                number("y", "Row of the tile, from the north."),
                Parameter {
                    name: "id",
                    kind: Kind::Text,
                    default: "",
                    allowed: &[],
                    docs: "Column of integers that is the id of features.",
                },
            ],
            docs: "One tile of a map (Mapbox Vector Tile 2.1) in the tile matrix set WebMercatorQuad, for datasets with geometry: a row \
                   is a feature of the one layer, which has the name of the dataset. Geometry is clipped to the tile with a margin and rounded \
                   to its grid; what vanishes there is left out. A tile has at most 500,000 bytes: the smallest features are left out \
                   until the others fit. Null and numbers that are not finite are no properties.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let number = |name| options.integer(name);
        let tile = Tile::new(number("z")?, number("x")?, number("y")?)?;
        let Some(geometry) = schema.position(Role::Geometry) else {
            return Err(Error::UnsupportedSchema(
                "there is no geometry among the columns asked for, which a tile needs; leave out `geometry=false`, add the geometry to `columns`, \
                 or take `format=json` where the dataset has none"
                    .to_owned(),
            ));
        };
        let name = options.text("id")?;
        let id = schema.fields.iter().position(|field| field.name == name);
        if id.is_none() && !name.is_empty() {
            return Err(Error::InvalidOption(format!(
                "there is no column `{name}` for mvt.id; name one of those asked for, or leave mvt.id out"
            )));
        }
        schema.fields.iter().try_for_each(values::check)?;
        let (overlay, layer) = (shape::overlay(), Layer::default());
        Ok(Self { tile, schema, geometry, id, rows: 0, overlay, layer })
    }

    fn part(&mut self, batch: Batch, _: &mut Output) -> Result<(), Error> {
        let columns: Vec<_> = batch.columns().collect();
        let properties: Vec<usize> =
            (0..columns.len()).filter(|at| self.is_property(*at)).collect();
        for row in 0..batch.rows() {
            let number = self.rows;
            self.rows += 1;
            let Some(text) = columns[self.geometry].text(row) else { continue };
            // The interface promises WKT, so it is not the client's fault.
            let shape = Shape::read(text, &self.tile)
                .map_err(|malformed| Error::Internal(malformed.to_string()))?;
            for drawing in shape.draw(MOST_COMMANDS, &mut self.overlay) {
                if !self.layer.has_room(number, &drawing) {
                    continue;
                }
                let id = self.id.and_then(|at| columns[at].integer(row)?.try_into().ok());
                let values = &mut self.layer.values;
                let tag = |at: &usize| Some((*at, values.add(&columns[*at], row)?));
                let tags = properties.iter().filter_map(tag).collect();
                self.layer.add(number, id, tags, drawing);
            }
        }
        Ok(())
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        let name = self.schema.metadata("yearbook.dataset").unwrap_or("data");
        let keys: Vec<&str> = self.schema.fields.iter().map(|field| field.name.as_str()).collect();
        out.extend(std::mem::take(&mut self.layer).finish(name, &keys));
        Ok(())
    }
}

impl MvtEncoder {
    fn is_property(&self, at: usize) -> bool {
        let is_number = self.id == Some(at) && self.schema.fields[at].name == ROW_NUMBER;
        at != self.geometry && !is_number
    }
}
