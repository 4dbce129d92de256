//! Cuts a batch into row groups and writes their columns.

use std::borrow::Cow;
use std::ops::Range;

use yearbook_sdk::{Batch, Column, Error, Values};

use crate::column_chunk::PageBuffers;
use crate::levels;
use crate::part_note::{ColumnChunkNote, RowGroupNote};
use crate::text_column::{self, TextValues};
use crate::{ROW_GROUP_BYTES, ROW_GROUP_ROWS, boolean_column, number_column};

/// Appends the bytes that the text of a row is stored as.
pub(crate) type Recode<'a> = dyn FnMut(usize, &mut Vec<u8>) -> Result<(), Error> + 'a;

/// Column of text that is stored as bytes. They go into a page as they are made: a column of all of
/// them would be as much memory again.
pub struct Recoding<'a> {
    /// Position of the column.
    pub column: usize,
    /// Appends the bytes of the text of a row, of which it may be asked more than once.
    pub recode: &'a mut Recode<'a>,
}

/// Appends the rows of a batch as row groups, each within both bounds.
///
/// # Errors
/// [`Error::Internal`], and those of `recoding`.
pub(crate) fn write(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    batch: &Batch,
    mut recoding: Option<Recoding<'_>>,
) -> Result<Vec<RowGroupNote>, Error> {
    let columns: Vec<_> = batch.columns().collect();
    let mut groups = Vec::new();
    let mut start = 0;
    while start < batch.rows() {
        let rows = start..end(&columns, start, batch.rows());
        start = rows.end;
        // As if nothing were compressed: what is not used is never touched.
        out.reserve(size(&columns, rows.clone()));
        let mut chunks = Vec::with_capacity(columns.len());
        for (position, column) in columns.iter().enumerate() {
            let recode = recoding
                .as_mut()
                .filter(|recoding| recoding.column == position)
                .map(|recoding| &mut *recoding.recode);
            chunks.push(chunk(out, tools, column, rows.clone(), recode)?);
        }
        groups.push(RowGroupNote { rows: rows.len() as u64, chunks });
    }
    Ok(groups)
}

/// End of the row group that begins at `start`: after one row at least.
fn end(columns: &[Column<'_>], start: usize, rows: usize) -> usize {
    let most = rows.min(start + ROW_GROUP_ROWS);
    let fits = |end: usize| size(columns, start..end) <= ROW_GROUP_BYTES;
    if fits(most) {
        return most;
    }
    // Sizes grow with rows, so halving finds the last end that fits.
    let (mut low, mut high) = (start + 1, most);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

fn size(columns: &[Column<'_>], rows: Range<usize>) -> usize {
    columns.iter().map(|column| weight(column, rows.clone())).sum()
}

/// Bytes of some rows before encoding; of keys alone where there is a dictionary.
fn weight(column: &Column<'_>, rows: Range<usize>) -> usize {
    match &column.values {
        Values::Boolean(_) => rows.len().div_ceil(8),
        Values::Utf8(texts) | Values::Binary(texts) => {
            let offset = |row: usize| texts.offsets().get(row).copied().unwrap_or(0);
            usize::try_from(offset(rows.end) - offset(rows.start)).unwrap_or(0) + rows.len() * 4
        }
        Values::Dictionary(_) => rows.len() * 4,
        _ => rows.len() * 8,
    }
}

fn chunk(
    out: &mut Vec<u8>,
    tools: &mut PageBuffers,
    column: &Column<'_>,
    rows: Range<usize>,
    recode: Option<&mut Recode<'_>>,
) -> Result<ColumnChunkNote, Error> {
    let optional = column.field.nullable;
    let valid = validity(column, &rows);
    let valid = valid.as_deref();
    match &column.values {
        Values::Int64(values) => number_column::write(out, tools, optional, &values[rows], valid),
        Values::Float64(values) => number_column::write(out, tools, optional, &values[rows], valid),
        Values::Boolean(bits) => {
            let values = aligned(bits.bytes(), &rows);
            boolean_column::write(out, tools, optional, rows.len(), &values, valid)
        }
        Values::Utf8(texts) => {
            let texts = TextValues {
                offsets: &texts.offsets()[rows.start..=rows.end],
                bytes: texts.buffer(),
            };
            match recode {
                Some(recode) => {
                    let mut recode =
                        |row: usize, bytes: &mut Vec<u8>| recode(rows.start + row, bytes);
                    text_column::write_recoded(out, tools, optional, texts, valid, &mut recode)
                }
                None => text_column::write(out, tools, optional, texts, valid),
            }
        }
        Values::Binary(values) => {
            let values = TextValues {
                offsets: &values.offsets()[rows.start..=rows.end],
                bytes: values.buffer(),
            };
            text_column::write(out, tools, optional, values, valid)
                .map(ColumnChunkNote::without_bounds)
        }
        Values::Dictionary(dictionary) => {
            let keys = &dictionary.keys[rows];
            match &dictionary.values.values {
                Values::Utf8(texts) => {
                    let texts = TextValues { offsets: texts.offsets(), bytes: texts.buffer() };
                    text_column::write_keys(out, tools, optional, keys, valid, texts)
                }
                Values::Binary(values) => {
                    let values = TextValues { offsets: values.offsets(), bytes: values.buffer() };
                    text_column::write_keys(out, tools, optional, keys, valid, values)
                        .map(ColumnChunkNote::without_bounds)
                }
                _ => Err(unsupported_type(column)),
            }
        }
        _ => Err(unsupported_type(column)),
    }
}

fn unsupported_type(column: &Column<'_>) -> Error {
    Error::Internal(format!(
        "column `{}` is not of the type that the schema says",
        column.field.name
    ))
}

/// Bitmap of the rows that are not null, from the first on; `None` where no row is null. A
/// dictionary's values may be null too.
fn validity<'a>(column: &'a Column<'_>, rows: &Range<usize>) -> Option<Cow<'a, [u8]>> {
    match &column.values {
        Values::Dictionary(dictionary) if dictionary.values.null_count > 0 => {
            let keys = &dictionary.keys;
            let is_valid = |row: usize| {
                column.is_valid(row)
                    && usize::try_from(keys[row]).is_ok_and(|key| dictionary.values.is_valid(key))
            };
            let mut bits = vec![0; rows.len().div_ceil(8)];
            for (at, row) in rows.clone().enumerate() {
                bits[at / 8] |= u8::from(is_valid(row)) << (at % 8);
            }
            Some(bits.into())
        }
        _ => column.validity().map(|bits| aligned(bits.bytes(), rows)),
    }
}

/// The bits of some rows, beginning on a byte.
fn aligned<'a>(bitmap: &'a [u8], rows: &Range<usize>) -> Cow<'a, [u8]> {
    if rows.start == 0 {
        return Cow::Borrowed(bitmap);
    }
    let mut bits = Vec::new();
    levels::bits(&mut bits, bitmap, rows.start, rows.len());
    bits.into()
}
