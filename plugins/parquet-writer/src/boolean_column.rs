//! Columns of booleans: a bit each.

use yearbook_sdk::Error;

use crate::bounds::MinMax;
use crate::column_chunk::{ChunkWriter, PAGE_ROWS, PageBuffers, PageRows};
use crate::levels;
use crate::part_note::ColumnChunkNote;

/// Writes a column of `length` rows. Both bitmaps begin with the first row; `valid` is none where
/// no row is null.
pub(crate) fn write(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    optional: bool,
    length: usize,
    values: &[u8],
    valid: Option<&[u8]>,
) -> Result<ColumnChunkNote, Error> {
    let compressed = tools.press.compresses();
    let mut writer = ChunkWriter::new(out, tools, optional, compressed);
    let mut present = Vec::new();
    for first in (0..length).step_by(PAGE_ROWS) {
        let count = PAGE_ROWS.min(length - first);
        // Pages begin on a byte of the bitmaps.
        let bytes = first / 8..(first + count).div_ceil(8);
        let valid = valid.map(|valid| &valid[bytes.clone()]);
        present.clear();
        let values = &values[bytes];
        let is = |bits: &[u8], row: usize| bits[row / 8] >> (row % 8) & 1 == 1;
        let held = match valid {
            None => {
                levels::bits(&mut present, values, 0, count);
                count
            }
            Some(valid) => {
                let mut held = 0;
                for row in (0..count).filter(|row| is(valid, *row)) {
                    if held % 8 == 0 {
                        present.push(0);
                    }
                    present[held / 8] |= u8::from(is(values, row)) << (held % 8);
                    held += 1;
                }
                held
            }
        };
        let trues = levels::count(&present, held);
        let bounds =
            (held > 0).then(|| MinMax::exact(&[u8::from(trues == held)], &[u8::from(trues > 0)]));
        writer.data(&PageRows { count, nulls: count - held, valid }, bounds, |body| {
            body.extend_from_slice(&present)
        })?;
    }
    Ok(writer.finish())
}
