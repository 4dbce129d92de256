//! Rows of text: for each row every cell with what stands before it, then the row's end.

use super::lane::{Lane, Prepared};
use super::{Dialect, cell};
use crate::raw::put;
use crate::{Batch, Error, Field};

/// Writes rows of a dialect. Keeps what can be kept between batches: rendered dictionaries and room
/// for numbers.
#[derive(Debug)]
pub struct Rows<D> {
    dialect: D,
    lanes: Vec<Lane>,
    end: Piece,
    block: usize,
}

/// Bytes of rendered numbers that a block of rows may take over all columns: half of a usual L1 cache.
const BLOCK_BYTES: usize = 16 * 1024;

impl<D: Dialect> Rows<D> {
    /// `leads` are what stands before the cells of each column (`,"name":`); `end` ends a row.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`] naming a column that the dialect cannot write.
    pub fn new(dialect: D, fields: &[Field], leads: Vec<Vec<u8>>, end: &[u8]) -> Result<Self, Error> {
        if fields.is_empty() {
            return Err(Error::UnsupportedSchema("the table has no columns; name at least one in `columns`".to_owned()));
        }
        if let Some(field) = fields.iter().find(|field| !cell::is_supported::<D>(field)) {
            return Err(Error::UnsupportedSchema(format!(
                "column `{}` has the Arrow type `{}`, which this format cannot carry; leave it out with `columns` or ask for arrow",
                field.name,
                field.dictionary.as_ref().map_or(&field.format, |values| &values.format)
            )));
        }
        let lanes: Vec<_> = leads.into_iter().map(Lane::new).collect();
        let bytes_a_row: usize = lanes.iter().map(Lane::stride).sum();
        let block = (BLOCK_BYTES / bytes_a_row.max(1)).clamp(8, 128);
        Ok(Self { dialect, lanes, end: Piece::new(&[end]), block })
    }

    /// Appends all rows of a batch.
    pub fn write(&mut self, batch: &Batch, out: &mut Vec<u8>) {
        let Self { dialect, lanes, end, block } = self;
        let mut prepared: Vec<Prepared<'_>> =
            lanes.iter_mut().zip(batch.columns()).map(|(lane, column)| lane.prepare(dialect, column, *block)).collect();
        let rows = batch.rows();
        let before = out.len();
        let mut start = 0;
        while start < rows {
            let stop = rows.min(start + *block);
            for lane in &mut prepared {
                lane.render(dialect, start, stop);
            }
            for row in start..stop {
                for lane in &prepared {
                    lane.put(dialect, row, row - start, out);
                }
                end.put(out);
            }
            if start == 0 && stop < rows {
                // The first block says how much room the rest will need, give or take a sixteenth.
                let a_block = out.len() - before;
                out.reserve((rows - stop).div_ceil(*block) * (a_block + a_block / 16));
            }
            start = stop;
        }
    }
}

/// Bytes that are put as they are, with room to read 16 at a time.
#[derive(Debug)]
pub(super) struct Piece {
    padded: Vec<u8>,
    length: usize,
}

impl Piece {
    pub(super) fn new(parts: &[&[u8]]) -> Self {
        let mut padded = parts.concat();
        let length = padded.len();
        padded.resize(length.next_multiple_of(16), 0);
        Self { padded, length }
    }

    #[inline(always)]
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put(out, &self.padded, 0, self.length);
    }
}
