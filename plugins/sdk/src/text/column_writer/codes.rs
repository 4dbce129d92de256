//! Cells of which there are few different ones: rendered once, copied from then on. A cell is a
//! code; every code has its text after the column's lead.

use std::borrow::Cow;

use super::super::writer::TextWriter;
use crate::Output;
use crate::column::Bits;

/// Rendered cells, each after its lead. The last is null.
#[derive(Debug, Default)]
pub(in super::super) struct Entries {
    version: u64,
    /// A version that was not worth rendering yet, and how many rows of it there were.
    awaited: (u64, usize),
    /// One after the other.
    bytes: Output,
    /// End of each.
    ends: Vec<usize>,
    blocks: CellBlocks,
}

/// The same cells in blocks of one size where they fit, the last byte of each their length: a copy
/// of a fixed length costs less than one of a length that must be looked at.
#[derive(Debug, Default)]
pub(super) enum CellBlocks {
    Of16(Vec<[u8; 16]>),
    Of32(Vec<[u8; 32]>),
    Of64(Vec<[u8; 64]>),
    #[default]
    None,
}

impl Entries {
    /// Returns whether to render the values of a version, of which `rows` more cells are at hand.
    /// Not as long as there are few cells for many values: a hundred rows may come with a
    /// dictionary of thousands.
    pub(super) fn should_render(&mut self, version: u64, values: usize, rows: usize) -> bool {
        if self.awaited.0 != version {
            self.awaited = (version, 0);
        }
        self.awaited.1 = self.awaited.1.saturating_add(rows);
        self.version == version || self.awaited.1 >= values / 2
    }

    /// Renders `values` cells and null, unless what is there is of the same version. `render`
    /// appends a cell after `lead`, for null when there is no value.
    pub(super) fn render_values(
        &mut self,
        version: u64,
        values: usize,
        render: impl Fn(Option<usize>, &mut TextWriter<'_>),
    ) {
        if self.version == version {
            return;
        }
        self.version = version;
        self.bytes.clear();
        self.ends.clear();
        let mut sheet = TextWriter::new(&mut self.bytes);
        for value in (0..values).map(Some).chain([None]) {
            render(value, &mut sheet);
            self.ends.push(sheet.len());
        }
        sheet.finish();
        let longest = self.cells().map(|(start, end)| end - start).max().unwrap_or(0);
        // Lets the last ones be copied past their end too.
        self.bytes.extend_from_slice(&[0; 64]);
        self.blocks = match longest {
            0..16 => CellBlocks::Of16(self.cells().map(|cell| self.block(cell)).collect()),
            16..32 => CellBlocks::Of32(self.cells().map(|cell| self.block(cell)).collect()),
            32..64 => CellBlocks::Of64(self.cells().map(|cell| self.block(cell)).collect()),
            _ => CellBlocks::None,
        };
    }

    /// None where a cell is too long for blocks.
    pub(super) fn blocks(&self) -> &CellBlocks {
        &self.blocks
    }

    /// Start and end of each cell.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        std::iter::once(0).chain(self.ends.iter().copied()).zip(self.ends.iter().copied())
    }

    /// A cell shorter than `N`, and its length.
    #[expect(clippy::cast_possible_truncation, reason = "N is at most 64")]
    fn block<const N: usize>(&self, (start, end): (usize, usize)) -> [u8; N] {
        let mut block = self.bytes[start..].first_chunk().copied().unwrap_or([0; N]);
        block[N - 1] = (end - start) as u8;
        block
    }

    fn cell(&self, code: usize) -> &[u8] {
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.bytes[start..self.ends[code]]
    }
}

/// Codes of a batch.
pub(in super::super) type Codes<'a> = Cow<'a, [i32]>;

/// Keys of a dictionary. What is null gets the last code, so that no cell looks at the bitmap.
pub(super) fn key_codes<'a>(
    keys: Codes<'a>,
    validity: Option<Bits<'_>>,
    entries: &Entries,
) -> Codes<'a> {
    let Some(bits) = validity else { return keys };
    let null = i32::try_from(entries.ends.len() - 1).unwrap_or(i32::MAX);
    keys.iter().enumerate().map(|(row, &key)| if bits.get(row) { key } else { null }).collect()
}

/// Booleans as the codes 0 and 1, 2 for null.
pub(super) fn booleans<'a>(bits: Bits<'_>, validity: Option<Bits<'_>>) -> Codes<'a> {
    let code = |row| {
        if validity.is_none_or(|validity| validity.get(row)) { i32::from(bits.get(row)) } else { 2 }
    };
    (0..bits.len()).map(code).collect()
}

#[inline(always)]
pub(super) fn write_block<const N: usize>(
    codes: &[i32],
    blocks: &[[u8; N]],
    row: usize,
    sheet: &mut TextWriter<'_>,
) {
    let block = &blocks[code(codes, row)];
    sheet.push_start(block, usize::from(block[N - 1]));
}

#[inline(always)]
pub(super) fn write_cell(codes: &[i32], entries: &Entries, row: usize, sheet: &mut TextWriter<'_>) {
    sheet.append(entries.cell(code(codes, row)));
}

#[inline(always)]
fn code(codes: &[i32], row: usize) -> usize {
    usize::try_from(codes[row].cast_unsigned()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_is_rendered_once_there_are_cells_enough_for_it() {
        let mut entries = Entries::default();
        assert!(!entries.should_render(1, 1000, 100));
        assert!(!entries.should_render(1, 1000, 399));
        assert!(entries.should_render(1, 1000, 1));
        assert!(!entries.should_render(2, 1000, 499), "another dictionary");
        assert!(entries.should_render(3, 8, 100));
        entries.render_values(4, 1000, |_, _| {});
        assert!(entries.should_render(4, 1000, 1), "it is rendered already");
    }

    #[test]
    fn cells_of_any_length_and_null_stand_for_their_codes() {
        for longest in [0, 14, 15, 16, 30, 31, 32, 62, 63, 64, 300, 3000] {
            let texts = [String::new(), "b".to_owned(), "c".repeat(longest)];
            let mut entries = Entries::default();
            entries.render_values(1, 3, |value, sheet| {
                sheet.append(b",");
                sheet.append(value.map_or("null", |value| &texts[value]).as_bytes());
            });
            // Of the same version: nothing is rendered again.
            entries.render_values(1, 3, |_, _| panic!("rendered twice"));
            let keys = vec![2, 1, 0, 2, 1, 1, 0, 0, 2];
            let codes =
                super::key_codes(keys.into(), Some(Bits::new(&[0b1111_0111, 1], 9)), &entries);
            let mut out = Output::default();
            let mut sheet = TextWriter::new(&mut out);
            for row in 0..9 {
                match entries.blocks() {
                    CellBlocks::Of16(blocks) => write_block(&codes, blocks, row, &mut sheet),
                    CellBlocks::Of32(blocks) => write_block(&codes, blocks, row, &mut sheet),
                    CellBlocks::Of64(blocks) => write_block(&codes, blocks, row, &mut sheet),
                    CellBlocks::None => write_cell(&codes, &entries, row, &mut sheet),
                }
            }
            sheet.finish();
            let long = &texts[2];
            assert_eq!(String::from_utf8_lossy(&out), format!(",{long},b,,null,b,b,,,{long}"));
        }
    }
}
