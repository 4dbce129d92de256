//! Values of the cells of a cube as they are written: eight bytes each, and one buffer of text for
//! those that do not fit. Knows nothing of dimensions.

use crate::document::{bounded, short};
use crate::number::{Decimal, MAX_SCALE};

/// Cells of a cube at most: a reader has some 256 MiB.
pub(crate) const MAX_CELLS: usize = 20_000_000;

/// Cells of a sparse cube at most: each takes sixteen bytes, and they are sorted in one piece.
const MAX_SPARSE_CELLS: usize = 1 << 23;

/// Text of all values that do not fit eight bytes at most.
const MAX_TEXT_BYTES: usize = 32 << 20;

/// Values of a piece of a dense cube. Pieces never move, which would take their memory twice.
const PIECE: usize = 1 << 20;

/// A value of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellValue<'a> {
    Missing,
    /// A number as it is written.
    Number(&'a str),
    Text(&'a str),
}

/// A value in eight bytes: the digits of a decimal and its scale, or a place in the buffer of text
/// and a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedValue(u64);

const MARK_BITS: u32 = 6;
const LENGTH_BITS: u32 = 13;

/// Marks beyond [`MAX_SCALE`].
const NUMBER: u64 = 61;
const TEXT: u64 = 62;

impl PackedValue {
    pub(crate) const MISSING: Self = Self(63);

    fn decimal(Decimal { digits, scale }: Decimal) -> Self {
        Self(digits.cast_unsigned() << MARK_BITS | u64::from(scale))
    }
}

/// Values in the order of the cube, or by their position.
#[derive(Debug, Default)]
enum Layout {
    #[default]
    None,
    /// In pieces, of which all but the last are full.
    Dense(Vec<Vec<PackedValue>>),
    Sparse(Vec<(u64, PackedValue)>),
}

/// The values of a cube.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    layout: Layout,
    texts: String,
}

impl Cells {
    /// Of a file that has a value for every cell.
    pub(crate) fn dense() -> Self {
        Self { layout: Layout::Dense(Vec::new()), ..Self::default() }
    }

    /// Of a file that names the position of each value.
    pub(crate) fn sparse() -> Self {
        Self { layout: Layout::Sparse(Vec::new()), ..Self::default() }
    }

    /// Adds the next value.
    ///
    /// # Errors
    /// A sentence, where there are too many.
    pub(crate) fn push(&mut self, position: u64, value: CellValue<'_>) -> Result<(), String> {
        let value = self.pack(value)?;
        match &mut self.layout {
            Layout::None => Ok(()),
            Layout::Dense(pieces) => {
                match pieces.last_mut() {
                    Some(piece) if piece.len() < PIECE => piece.push(value),
                    _ => pieces.push(vec![value]),
                }
                bounded(count(pieces), MAX_CELLS, "cells")
            }
            Layout::Sparse(found) => {
                found.push((position, value));
                bounded(found.len(), MAX_SPARSE_CELLS, "cells under their positions")
            }
        }
    }

    fn pack(&mut self, value: CellValue<'_>) -> Result<PackedValue, String> {
        let (mark, text) = match value {
            CellValue::Missing => return Ok(PackedValue::MISSING),
            CellValue::Text(text) => (TEXT, text),
            CellValue::Number(text) => match Decimal::parse(text) {
                Some(decimal) => return Ok(PackedValue::decimal(decimal)),
                None => (NUMBER, text),
            },
        };
        short(text)?;
        let (start, length) = (self.texts.len() as u64, text.len() as u64);
        self.texts.push_str(text);
        bounded(self.texts.len(), MAX_TEXT_BYTES, "bytes of texts")?;
        Ok(PackedValue((start << LENGTH_BITS | length) << MARK_BITS | mark))
    }

    /// Checks that these are the values of so many cells, and puts sparse ones in their order.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn check(&mut self, cells: u64) -> Result<(), String> {
        match &mut self.layout {
            Layout::None => Err("is missing".to_owned()),
            Layout::Dense(pieces) => {
                let found = count(pieces);
                if found as u64 == cells {
                    return Ok(());
                }
                Err(format!("has {found} values where $.size makes {cells} cells"))
            }
            Layout::Sparse(found) => {
                found.sort_unstable_by_key(|(cell, _)| *cell);
                if let Some((cell, _)) = found.last().filter(|(cell, _)| *cell >= cells) {
                    return Err(format!("has a cell {cell} of {cells}"));
                }
                match found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    Some(twice) => Err(format!("has the cell {} twice", twice[0].0)),
                    None => Ok(()),
                }
            }
        }
    }

    /// Position and value of an entry of the file, in the order of the cube.
    pub(crate) fn entry(&self, at: usize) -> Option<(u64, PackedValue)> {
        match &self.layout {
            Layout::None => None,
            Layout::Dense(pieces) => Some((at as u64, *pieces.get(at / PIECE)?.get(at % PIECE)?)),
            Layout::Sparse(found) => found.get(at).copied(),
        }
    }

    /// The value as it is written; `scratch` may hold it.
    pub(crate) fn unpack<'a>(
        &'a self,
        PackedValue(bits): PackedValue,
        scratch: &'a mut String,
    ) -> CellValue<'a> {
        let mark = bits & ((1 << MARK_BITS) - 1);
        if let Some(scale) = u32::try_from(mark).ok().filter(|scale| *scale <= MAX_SCALE) {
            let digits = bits.cast_signed() >> MARK_BITS;
            Decimal { digits, scale }.write(scratch);
            return CellValue::Number(scratch);
        }
        let place = bits >> MARK_BITS;
        let (start, length) = (place >> LENGTH_BITS, place & ((1 << LENGTH_BITS) - 1));
        let range = usize::try_from(start).ok().zip(usize::try_from(start + length).ok());
        let text = range.and_then(|(start, end)| self.texts.get(start..end)).unwrap_or_default();
        match mark {
            NUMBER => CellValue::Number(text),
            TEXT => CellValue::Text(text),
            _ => CellValue::Missing,
        }
    }
}

fn count(pieces: &[Vec<PackedValue>]) -> usize {
    pieces.last().map_or(0, |last| (pieces.len() - 1) * PIECE + last.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_again_in_every_layout() {
        let long = "x".repeat(4_096);
        let values = [
            CellValue::Number("1.50"),
            CellValue::Missing,
            CellValue::Number("-12345678901234567890"),
            CellValue::Text(""),
            CellValue::Text(&long),
            CellValue::Number("-0.1"),
            CellValue::Number("1e5"),
        ];
        for mut cells in [Cells::dense(), Cells::sparse()] {
            for (value, position) in values.iter().zip(0..) {
                assert_eq!(cells.push(position, *value), Ok(()));
            }
            assert_eq!(cells.check(7), Ok(()));
            let mut scratch = String::new();
            for (value, at) in values.iter().zip(0..) {
                let (position, packed) = cells.entry(at).expect("an entry");
                assert_eq!((position, cells.unpack(packed, &mut scratch)), (at as u64, *value));
            }
            assert_eq!(cells.entry(7), None);
        }
    }

    #[test]
    fn values_of_two_pieces_are_in_order() {
        let mut cells = Cells::dense();
        for position in 0..PIECE as u64 + 2 {
            let text = position.to_string();
            cells.push(position, CellValue::Number(&text)).expect("room");
        }
        assert_eq!(cells.check(PIECE as u64 + 2), Ok(()));
        let (position, packed) = cells.entry(PIECE + 1).expect("an entry");
        assert_eq!(position, PIECE as u64 + 1);
        assert_eq!(cells.unpack(packed, &mut String::new()), CellValue::Number("1048577"));
    }
}
