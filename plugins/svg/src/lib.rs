//! The format `svg`: a picture of an answer (contract-9-svg). A line chart where there is a date
//! and a value, a map where there is geometry. Made for readers on paper, on small screens, in
//! the dark, and for those who hear it read: every picture says in words what it shows.
//!
//! Holds no rows: lines keep the extremes of buckets, maps one dot a cell and vertices of shapes on
//! a grid, so memory has a bound whatever is drawn.

use yearbook_sdk::{Batch, Description, Encoder, Error, Note, Options, Output, Schema};

use line::LineChart;
use map::MapPicture;
use options::{Drawing, PictureOptions};

pub mod axis;
pub mod calendar;
pub mod cells;
pub mod credit;
pub mod line;
pub mod map;
pub mod number;
pub mod options;
pub mod palette;
pub mod picture;
pub mod typography;
pub mod xml;

yearbook_sdk::export_encoder!(SvgEncoder);

/// One response as a picture.
#[derive(Debug)]
pub struct SvgEncoder {
    options: PictureOptions,
    drawing: Sketch,
}

/// A picture in the making.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in a response")]
enum Sketch {
    Lines(LineChart),
    Map(MapPicture),
}

impl Encoder for SvgEncoder {
    fn describe() -> Description {
        Description {
            format: "svg",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "image/svg+xml",
            extension: "svg",
            separator: None,
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: options::parameters(),
            docs: "A picture of the rows: a map where there is geometry (areas and lines as they are, shaded by the first value column, or dots), else a line chart of a value over \
                   the date, with a line for each combination of dimension and key values, at most 8; the others are counted. `svg.x`, `svg.y` \
                   or `svg.series` ask for lines where there is geometry too. The figures stand in words in its `<desc>`, and the credit line \
                   below the drawing. A line is dashed to values that are not final and begins anew at a break, by statuses of SDMX. Where rows of years stand beside rows of quarters, those of one length are drawn, and the others counted. Null is a gap; NaN and infinities are left out and counted. An answer without date and geometry is 422.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let picture = PictureOptions::parse(options)?;
        let drawing = match Drawing::choose(&schema, options)? {
            Drawing::Lines(columns) => Sketch::Lines(LineChart::new(&schema, columns)),
            Drawing::Map(columns) => Sketch::Map(MapPicture::new(&schema, columns)),
        };
        Ok(Self { options: picture, drawing })
    }

    fn part(&mut self, batch: Batch, _: &mut Output) -> Result<(), Error> {
        match &mut self.drawing {
            Sketch::Lines(chart) => chart.push(&batch),
            Sketch::Map(map) => map.push(&batch)?,
        }
        Ok(())
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        let svg = match &self.drawing {
            Sketch::Lines(chart) => chart.draw(self.options),
            Sketch::Map(map) => map.draw(self.options),
        };
        out.extend_from_slice(svg.as_bytes());
        Ok(())
    }
}
