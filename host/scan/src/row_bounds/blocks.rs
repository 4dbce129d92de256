//! Bounds of a row group in blocks: those of a block as they are, and in it those of each row by
//! the cells that they lie in, of a grid over the block. So rows that are near each other have fine
//! bounds, and no row costs more than its share.

use super::extent::{Extent, NOTHING, is_nothing, union};

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = 1_024;

/// Bytes of a block before its rows: its bounds and its shape.
const HEAD_BYTES: usize = 36;

/// Part of a row group's bytes that its bounds take at most: 3 %.
const SHARE: u64 = 32;

/// Bits of a cell's number at most. Finer grids than this decide hardly more boxes.
const MAX_BITS: u32 = 12;

/// One axis of a grid.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    /// A power of two.
    cells: u32,
}

impl Axis {
    /// Lower edge of a cell, which is the upper one of the cell before. Never falls as cells rise.
    fn edge(self, cell: u32) -> f64 {
        if cell >= self.cells {
            return self.high;
        }
        self.low + (self.high - self.low) / f64::from(self.cells) * f64::from(cell)
    }

    /// The first cells whose lower edges are not below `low`, and above `high`; behind the last
    /// edge where none are.
    pub(super) fn cells_between(self, low: f64, high: f64) -> [u16; 2] {
        let first = |is_before: &dyn Fn(f64) -> bool| {
            let (mut from, mut to) = (0, self.cells + 1);
            while from < to {
                let middle = from.midpoint(to);
                if is_before(self.edge(middle)) { from = middle + 1 } else { to = middle }
            }
            u16::try_from(from).unwrap_or(u16::MAX)
        };
        [first(&|edge| edge < low), first(&|edge| edge <= high)]
    }

    /// First and last cell of an interval, whose edges hold it.
    fn cells_of(self, from: f64, to: f64) -> [u32; 2] {
        #[expect(clippy::cast_possible_truncation, reason = "what does not fit is the last cell")]
        let guess = |at: f64| {
            let cell = (at - self.low) / (self.high - self.low) * f64::from(self.cells);
            (cell as u32).min(self.cells - 1)
        };
        let mut first = guess(from);
        while first > 0 && self.edge(first) > from {
            first -= 1;
        }
        let mut last = guess(to).max(first);
        while last + 1 < self.cells && self.edge(last + 1) < to {
            last += 1;
        }
        [first, last]
    }
}

/// Bits of the numbers of a block.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// Of the first cell of a row on either axis.
    cell: u32,
    /// Of the number of further cells, to the east and to the north.
    spans: [u32; 2],
    empty: EmptyRows,
}

/// Empty and null geometries of a block.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EmptyRows {
    #[default]
    None,
    /// A bit for each row marks them.
    Marked,
    /// Any row may be one.
    Unmarked,
}

impl Shape {
    fn row_bits(self) -> u32 {
        2 * self.cell + self.spans[0] + self.spans[1]
    }

    fn grid(self, [west, south, east, north]: Extent) -> [Axis; 2] {
        let axis = |low, high| Axis { low, high, cells: 1 << self.cell };
        [axis(west, east), axis(south, north)]
    }
}

/// Returns the stored form of the bounds of a row group of `group_bytes`; empty where these allow
/// none.
pub(super) fn encode(rows: &[Extent], group_bytes: u64) -> Vec<u8> {
    let heads = rows.len().div_ceil(BLOCK_ROWS) * HEAD_BYTES;
    let room = (group_bytes / SHARE).checked_sub(heads as u64);
    let Some(room) = room.filter(|_| !rows.is_empty()) else { return Vec::new() };
    // A byte of each block is lost where its rows do not fill it, and one where its marks do not.
    let room = room.saturating_sub(2 * rows.len().div_ceil(BLOCK_ROWS) as u64);
    let bits = u32::try_from(room * 8 / rows.len() as u64).unwrap_or(u32::MAX);
    let mut chunk = Vec::new();
    rows.chunks(BLOCK_ROWS).for_each(|block| encode_block(block, bits, &mut chunk));
    chunk
}

fn encode_block(rows: &[Extent], bits: u32, chunk: &mut Vec<u8>) {
    let bounds = rows.iter().copied().fold(NOTHING, union);
    let empty = match rows.iter().any(|row| is_nothing(*row)) && !is_nothing(bounds) {
        false => EmptyRows::None,
        true if bits == 0 => EmptyRows::Unmarked,
        true => EmptyRows::Marked,
    };
    let bits = bits.saturating_sub(u32::from(empty == EmptyRows::Marked));
    let most = if is_nothing(bounds) { 0 } else { MAX_BITS.min(bits / 2) };
    let of_bits = |cell| {
        let shape = Shape { cell, empty, ..Shape::default() };
        let cells = cells(rows, shape.grid(bounds));
        let widest = |axis: usize| cells.iter().map(|row| row[axis][1] - row[axis][0]).max();
        let spans = [0, 1].map(|axis| u32::BITS - widest(axis).unwrap_or(0).leading_zeros());
        (Shape { spans, ..shape }, cells)
    };
    let fitting = (0..=most).rev().map(of_bits).find(|(shape, _)| shape.row_bits() <= bits);
    let (shape, cells) = fitting.unwrap_or_else(|| of_bits(0));
    bounds.iter().for_each(|bound| chunk.extend_from_slice(&bound.to_le_bytes()));
    let spans = shape.spans;
    let numbers = [shape.cell, spans[0], spans[1], empty as u32];
    chunk.extend(numbers.iter().flat_map(|number| number.to_le_bytes().into_iter().take(1)));
    let mut packed = BitWriter { chunk, bits: 0, filled: 0 };
    if empty == EmptyRows::Marked {
        rows.iter().for_each(|row| packed.push(u64::from(is_nothing(*row)), 1));
        packed.finish();
    }
    for row in cells {
        for ([first, last], span) in row.into_iter().zip(spans) {
            packed.push(u64::from(first), shape.cell);
            packed.push(u64::from(last - first), span);
        }
    }
    packed.finish();
}

/// Cells of each row; those of an empty one mean nothing.
fn cells(rows: &[Extent], [x, y]: [Axis; 2]) -> Vec<[[u32; 2]; 2]> {
    let of_row = |[west, south, east, north]: Extent| {
        if west > east {
            return [[0; 2]; 2];
        }
        [x.cells_of(west, east), y.cells_of(south, north)]
    };
    rows.iter().copied().map(of_row).collect()
}

/// A block as it is stored.
pub(super) struct Block<'a> {
    pub(super) bounds: Extent,
    shape: Shape,
    pub(super) grid: [Axis; 2],
    /// Marks of empty rows.
    marks: &'a [u8],
    cells: &'a [u8],
}

impl<'a> Block<'a> {
    /// Takes the block of `rows` rows off the beginning of `chunk`.
    pub(super) fn split_off(chunk: &mut &'a [u8], rows: usize) -> Option<Self> {
        let mut bounds = NOTHING;
        for bound in &mut bounds {
            *bound = f64::from_le_bytes(*chunk.split_off(..8)?.first_chunk()?);
        }
        if bounds != NOTHING && !bounds.iter().all(|bound| bound.is_finite()) {
            return None;
        }
        let [cell, east, north, empty] = *chunk.split_off(..4)?.first_chunk()?;
        let empty = match empty {
            0 => EmptyRows::None,
            1 => EmptyRows::Marked,
            2 => EmptyRows::Unmarked,
            _ => return None,
        };
        if [cell, east, north].into_iter().any(|bits| u32::from(bits) > MAX_BITS) {
            return None;
        }
        let spans = [u32::from(east), u32::from(north)];
        let shape = Shape { cell: u32::from(cell), spans, empty };
        let marks = if empty == EmptyRows::Marked { rows.div_ceil(8) } else { 0 };
        let marks = chunk.split_off(..marks)?;
        let cells = chunk.split_off(..(rows * shape.row_bits() as usize).div_ceil(8))?;
        Some(Self { bounds, shape, grid: shape.grid(bounds), marks, cells })
    }

    /// Empty and null geometries that it may have.
    pub(super) fn empty(&self) -> EmptyRows {
        self.shape.empty
    }

    /// The first cell that a row has part in and the one behind the last, on either axis; `None`
    /// for one that is marked as empty.
    pub(super) fn row_cells(&self, row: usize) -> Option<[[u16; 2]; 2]> {
        if self.shape.empty == EmptyRows::Marked && bits_at(self.marks, row, 1) == 1 {
            return None;
        }
        let bits = self.shape.row_bits();
        let mut packed = bits_at(self.cells, row * bits as usize, bits);
        let mut take = |bits: u32| {
            let number = packed & ((1 << bits) - 1);
            packed >>= bits;
            // Two of `MAX_BITS` and one fit.
            u16::try_from(number).unwrap_or(u16::MAX)
        };
        Some([0, 1].map(|axis| {
            let first = take(self.shape.cell);
            [first, first + take(self.shape.spans[axis]) + 1]
        }))
    }
}

/// Up to 48 bits of `bytes` from bit `at` on; 0 behind the end.
fn bits_at(bytes: &[u8], at: usize, bits: u32) -> u64 {
    let found = bytes.get(at / 8..).unwrap_or_default();
    let word = found.first_chunk().copied().unwrap_or_else(|| {
        let mut word = [0; 8];
        word.iter_mut().zip(found).for_each(|(byte, found)| *byte = *found);
        word
    });
    (u64::from_le_bytes(word) >> (at % 8)) & ((1 << bits) - 1)
}

/// Numbers of any width, one behind the other.
struct BitWriter<'a> {
    chunk: &'a mut Vec<u8>,
    bits: u64,
    filled: u32,
}

impl BitWriter<'_> {
    fn push(&mut self, number: u64, bits: u32) {
        self.bits |= number << self.filled;
        self.filled += bits;
        while self.filled >= 8 {
            self.take_byte();
            self.filled -= 8;
        }
    }

    /// Fills the last byte.
    fn finish(&mut self) {
        if std::mem::take(&mut self.filled) > 0 {
            self.take_byte();
        }
    }

    fn take_byte(&mut self) {
        self.chunk.extend(self.bits.to_le_bytes().first());
        self.bits >>= 8;
    }
}
