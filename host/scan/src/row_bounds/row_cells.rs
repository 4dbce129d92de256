//! Bounds of a row group in memory: the cells of 64 rows side by side, so that a box is compared
//! with many rows at once.

use arrow::buffer::{BooleanBuffer, Buffer};

use super::blocks::{Axis, BLOCK_ROWS, Block, EmptyRows};
use super::extent::Extent;
use crate::geometry_box::{GeometryBox, Overlap, Rectangle};

/// Rows that are compared at once: those of a word of bits.
const WORD_ROWS: usize = 64;

/// Words of a block that is full.
const BLOCK_WORDS: usize = BLOCK_ROWS / WORD_ROWS;

/// On an axis, the first cell that each row has part in and the one behind the last.
type AxisCells = [[u16; WORD_ROWS]; 2];

/// Cells that no box meets.
const NO_CELLS: AxisCells = [[u16::MAX; WORD_ROWS], [0; WORD_ROWS]];

/// Rows of a row group by what their bounds say of a box, one bit each.
pub(crate) struct BoxRows {
    /// Rows that meet it.
    pub(crate) inside: BooleanBuffer,
    /// Rows that may.
    pub(crate) open: BooleanBuffer,
}

impl BoxRows {
    /// All of `rows` rows inside, or none.
    pub(super) fn all(rows: usize, inside: bool) -> Self {
        let [set, unset] = [BooleanBuffer::new_set(rows), BooleanBuffer::new_unset(rows)];
        Self { inside: if inside { set } else { unset.clone() }, open: unset }
    }
}

/// Bounds of the rows of a row group.
pub(super) struct RowCells {
    rows: usize,
    blocks: Vec<BlockGrid>,
    /// Rows of either axis, those of a block in as many words as they fill.
    words: Vec<[AxisCells; 2]>,
}

struct BlockGrid {
    bounds: Extent,
    grid: [Axis; 2],
    empty: EmptyRows,
}

impl RowCells {
    /// Reads `chunk`, the stored form of the bounds of `rows` rows; `None` where it is no stored
    /// form of so many.
    pub(super) fn parse(mut chunk: &[u8], rows: usize) -> Option<Self> {
        let mut blocks = Vec::with_capacity(rows.div_ceil(BLOCK_ROWS));
        let mut words = Vec::with_capacity(rows.div_ceil(WORD_ROWS));
        for first in (0..rows).step_by(BLOCK_ROWS) {
            let length = BLOCK_ROWS.min(rows - first);
            let block = Block::split_off(&mut chunk, length)?;
            for first in (0..length).step_by(WORD_ROWS) {
                let mut word = [NO_CELLS; 2];
                for row in first..length.min(first + WORD_ROWS) {
                    let Some(cells) = block.row_cells(row) else { continue };
                    for (axis, cells) in word.iter_mut().zip(cells) {
                        for (all, cell) in axis.iter_mut().zip(cells) {
                            all[row - first] = cell;
                        }
                    }
                }
                words.push(word);
            }
            blocks.push(BlockGrid { bounds: block.bounds, grid: block.grid, empty: block.empty() });
        }
        chunk.is_empty().then_some(Self { rows, blocks, words })
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.blocks) + size_of_val(&*self.words)
    }

    /// Returns what the bounds say of a box.
    pub(super) fn compare(&self, area: &GeometryBox) -> BoxRows {
        let words = || Vec::with_capacity(self.words.len());
        let (mut inside, mut open) = (words(), words());
        for (block, words) in self.blocks.iter().zip(self.words.chunks(BLOCK_WORDS)) {
            let of_all = match area.compare(block.bounds) {
                Overlap::None => Some(0),
                Overlap::Inside if block.empty == EmptyRows::None => Some(u64::MAX),
                _ => None,
            };
            match of_all {
                Some(bits) => {
                    inside.resize(inside.len() + words.len(), bits);
                    open.resize(inside.len(), 0);
                }
                None => block.compare_rows(words, area, &mut inside, &mut open),
            }
        }
        let bits = |words| BooleanBuffer::new(Buffer::from_vec::<u64>(words), 0, self.rows);
        BoxRows { inside: bits(inside), open: bits(open) }
    }
}

impl BlockGrid {
    /// Compares all rows of `words`, one bit each.
    fn compare_rows(
        &self,
        words: &[[AxisCells; 2]],
        area: &GeometryBox,
        inside: &mut Vec<u64>,
        open: &mut Vec<u64>,
    ) {
        let boxes: Vec<CellBox> =
            area.rectangles().map(|rectangle| CellBox::new(rectangle, self.grid)).collect();
        let is_sure = self.empty != EmptyRows::Unmarked;
        for cells in words {
            let (mut within, mut met) = (0, 0);
            for cell_box in &boxes {
                let compared = cell_box.compare(cells);
                within |= compared[0];
                met |= compared[1];
            }
            let sure = if is_sure { within } else { 0 };
            inside.push(sure);
            open.push(met & !sure);
        }
    }
}

/// A box in the cells of a grid, so that rows are compared without their edges.
struct CellBox {
    /// For either axis, the first cell whose lower edge is not below the box, and above it.
    limits: [[u16; 2]; 2],
}

impl CellBox {
    fn new(Rectangle { west, south, east, north }: Rectangle, [x, y]: [Axis; 2]) -> Self {
        Self { limits: [x.cells_between(west, east), y.cells_between(south, north)] }
    }

    /// Rows that lie within it, and that may meet it, one bit each. Without a branch, so that the
    /// compiler compares eight at once.
    fn compare(&self, [x, y]: &[AxisCells; 2]) -> [u64; 2] {
        let [[west, east], [south, north]] = self.limits;
        let (mut within, mut met) = ([0; WORD_ROWS], [0; WORD_ROWS]);
        for row in 0..WORD_ROWS {
            let ([from_x, to_x], [from_y, to_y]) = ([x[0][row], x[1][row]], [y[0][row], y[1][row]]);
            let is_met = (from_x < east) & (to_x >= west) & (from_y < north) & (to_y >= south);
            let is_within = (from_x >= west) & (to_x < east) & (from_y >= south) & (to_y < north);
            met[row] = u8::from(is_met);
            within[row] = u8::from(is_met & is_within);
        }
        [pack(&within), pack(&met)]
    }
}

/// One bit for each byte, which is 0 or 1.
fn pack(flags: &[u8; WORD_ROWS]) -> u64 {
    // The product has the lowest bits of eight bytes in its highest byte, none of which overlap.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = flags.as_chunks::<8>().0.iter().rev();
    eights.fold(0, |bits, eight| bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}
