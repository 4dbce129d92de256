//! The format `json-stat`: JSON-stat 2.0 of the class dataset (<https://json-stat.org/full/>), one
//! cube: the columns of the key are its dimensions, and one more dimension names the columns of
//! values. Values stand under the number of their cell, so a cube may have holes, and no part of a
//! response depends on another. [`cube`] has the dimensions, [`head`] writes them, [`statuses`] are
//! kept for the end.

mod cube;
mod head;
mod statuses;

use yearbook_sdk::text::json::Json;
use yearbook_sdk::text::{render, unsigned};
use yearbook_sdk::view::Crossing;
use yearbook_sdk::{Batch, Description, Encoder, Error, Note, Options, Output, Schema, View};

use cube::Cube;
use statuses::Statuses;

yearbook_sdk::export_encoder!(JsonStatEncoder);
yearbook_sdk::export_codelists!();

/// One response.
#[derive(Debug)]
pub struct JsonStatEncoder {
    schema: Schema,
    cube: Cube,
    statuses: Statuses,
}

impl Encoder for JsonStatEncoder {
    fn describe() -> Description {
        Description {
            format: "json-stat",
            version: env!("CARGO_PKG_VERSION"),
            // Its own, so that whoever wants JSON gets rows.
            media_type: "application/vnd.json-stat+json",
            extension: "jsonstat.json",
            separator: Some(b","),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: Vec::new(),
            docs: "JSON-stat 2.0, class dataset, for pyjstat, rjstat and the JSON-stat toolkit. The columns of the primary key are the \
                   dimensions, with all values that the selection can have; the dimension `metric` names the columns of values, with \
                   their units. `status` has the statuses of cells. Other columns are left out. A cell has a value under its number where a row has one, null where the row's \
                   is null or no finite number. For tables with a primary key, of at most 100,000,000 cells.",
        }
    }

    fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
        let cube = Cube::new(&schema)?;
        let statuses = Statuses::new(&schema, &cube)?;
        Ok(Self { schema, cube, statuses })
    }

    fn views(&self) -> Vec<View> {
        let fields = 0..self.schema.fields.len();
        let unread = View { crossing: Crossing::Lengths, ..View::WHOLE };
        let reads = |column| self.cube.reads(column) || self.statuses.reads(column);
        fields.map(|column| if reads(column) { View::WHOLE } else { unread }).collect()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        head::write(&self.schema, &self.cube, &self.statuses, out);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let cells = self.cube.cells(&batch)?;
        self.statuses.push(&batch, &cells);
        let values: Vec<_> = self.cube.values.iter().map(|column| batch.column(*column)).collect();
        let mut is_first = true;
        for (row, cell) in cells.into_iter().enumerate() {
            for (cell, column) in (cell..).zip(&values) {
                out.extend_from_slice(if is_first { b"\"" } else { b",\"" });
                is_first = false;
                unsigned(cell, out);
                out.extend_from_slice(b"\":");
                render(&Json, column, row, out);
            }
        }
        Ok(())
    }

    fn note(&mut self) -> Vec<u8> {
        self.statuses.note()
    }

    fn tail(&mut self, notes: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.push(b'}');
        self.statuses.write(notes, out);
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}
