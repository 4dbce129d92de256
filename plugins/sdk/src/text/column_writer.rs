//! Writer of one column's cells, chosen once per batch.

use super::writer::{RepeatedText, TextWriter};
use super::{Dialect, cell};
use crate::column::{Bits, Dictionary};
use crate::{Column, Values};
use codes::{CellBlocks, Codes, Entries, write_block, write_cell};
use held::HeldCells;
use numbers::{Numbers, integers};
use strings::Text;

mod codes;
mod held;
mod numbers;
mod strings;

/// State of a column between batches.
#[derive(Debug)]
pub(super) struct ColumnWriter {
    text: Vec<u8>,
    lead: RepeatedText,
    null: RepeatedText,
    entries: Entries,
}

/// A column of this batch.
#[derive(Debug)]
pub(super) enum PreparedColumn<'a> {
    Float(Numbers<'a, f64>),
    Integer(Numbers<'a, i64>),
    Coded16(Codes<'a>, &'a [[u8; 16]]),
    Coded32(Codes<'a>, &'a [[u8; 32]]),
    Coded64(Codes<'a>, &'a [[u8; 64]]),
    Coded(Codes<'a>, &'a Entries),
    /// Keys of a dictionary of text.
    Keyed(Codes<'a>, Option<Bits<'a>>, Text<'a, i32>),
    Utf8(Text<'a, i32>),
    LargeUtf8(Text<'a, i64>),
    Held(HeldCells<'a>),
    /// Keys of a dictionary of text that stays with the host.
    KeyedHeld(Codes<'a>, Option<Bits<'a>>, HeldCells<'a>),
    Any(Column<'a>, &'a [u8]),
}

impl ColumnWriter {
    pub(super) fn new<D: Dialect>(lead: Vec<u8>) -> Self {
        Self {
            lead: RepeatedText::new(&[&lead]),
            null: RepeatedText::new(&[&lead, D::NULL]),
            text: lead,
            entries: Entries::default(),
        }
    }

    pub(super) fn prepare<'a, D: Dialect>(
        &'a mut self,
        dialect: &D,
        mut column: Column<'a>,
    ) -> PreparedColumn<'a> {
        let Self { text, lead, null, entries } = self;
        let validity = column.validity().copied();
        match std::mem::replace(&mut column.values, Values::Null) {
            Values::Boolean(bits) => {
                let texts = [&b"false"[..], b"true"];
                entries.render_values(1, 2, |value, sheet| {
                    sheet.append(text);
                    sheet.append(value.map_or(D::NULL, |value| texts[value]));
                });
                PreparedColumn::coded(codes::booleans(bits, validity), entries)
            }
            Values::Dictionary(keyed) => dictionary(dialect, keyed, validity, text, entries),
            Values::Utf8(strings) => {
                PreparedColumn::Utf8(Text::new(dialect, strings, validity, text))
            }
            Values::LargeUtf8(strings) => {
                PreparedColumn::LargeUtf8(Text::new(dialect, strings, validity, text))
            }
            Values::Held(held) => PreparedColumn::Held(HeldCells::new::<D>(held, validity, text)),
            Values::Float64(numbers) => {
                PreparedColumn::Float(Numbers::new(numbers, validity, lead, null))
            }
            values => match integers(values) {
                Ok(numbers) => PreparedColumn::Integer(Numbers::new(numbers, validity, lead, null)),
                Err(values) => {
                    column.values = values;
                    PreparedColumn::Any(column, text)
                }
            },
        }
    }
}

/// A dictionary of text is rendered when there are cells enough for it; of other values at once.
fn dictionary<'a, D: Dialect>(
    dialect: &D,
    dictionary: Dictionary<'a>,
    validity: Option<Bits<'a>>,
    text: &'a [u8],
    entries: &'a mut Entries,
) -> PreparedColumn<'a> {
    let Dictionary { keys, mut values, version } = dictionary;
    let nulls = values.validity().copied();
    match std::mem::replace(&mut values.values, Values::Null) {
        Values::Held(held) => {
            return PreparedColumn::KeyedHeld(
                keys,
                validity,
                HeldCells::new::<D>(held, nulls, text),
            );
        }
        Values::Utf8(strings) if !entries.should_render(version, values.length, keys.len()) => {
            return PreparedColumn::Keyed(keys, validity, Text::sparse::<D>(strings, nulls, text));
        }
        Values::Utf8(strings) => {
            let texts = Text::new(dialect, strings, nulls, text);
            entries.render_values(version, values.length, |value, sheet| match value {
                Some(value) => texts.write(dialect, value, sheet),
                None => texts.write_null(sheet),
            });
        }
        other => {
            values.values = other;
            entries.render_values(version, values.length, |value, sheet| {
                sheet.write(|out| {
                    out.extend_from_slice(text);
                    match value {
                        Some(value) => cell::render(dialect, &values, value, out),
                        None => out.extend_from_slice(D::NULL),
                    }
                });
            });
        }
    }
    PreparedColumn::coded(codes::key_codes(keys, validity, entries), entries)
}

impl<'a> PreparedColumn<'a> {
    fn coded(codes: Codes<'a>, entries: &'a Entries) -> Self {
        match entries.blocks() {
            CellBlocks::Of16(blocks) => Self::Coded16(codes, blocks),
            CellBlocks::Of32(blocks) => Self::Coded32(codes, blocks),
            CellBlocks::Of64(blocks) => Self::Coded64(codes, blocks),
            CellBlocks::None => Self::Coded(codes, entries),
        }
    }

    /// Appends a cell with its lead.
    #[inline(always)]
    pub(super) fn write_cell<D: Dialect>(
        &self,
        dialect: &D,
        row: usize,
        sheet: &mut TextWriter<'_>,
    ) {
        match self {
            Self::Float(numbers) => numbers.write_float::<D>(row, sheet),
            Self::Integer(numbers) => numbers.write_integer(row, sheet),
            Self::Coded16(codes, blocks) => write_block(codes, blocks, row, sheet),
            Self::Coded32(codes, blocks) => write_block(codes, blocks, row, sheet),
            Self::Coded64(codes, blocks) => write_block(codes, blocks, row, sheet),
            Self::Coded(codes, entries) => write_cell(codes, entries, row, sheet),
            Self::Keyed(keys, validity, text) => {
                if validity.is_some_and(|bits| !bits.get(row)) {
                    text.write_null(sheet);
                } else {
                    text.write(dialect, usize::try_from(keys[row]).unwrap_or(usize::MAX), sheet);
                }
            }
            Self::Held(text) => text.write::<D>(row, sheet),
            Self::KeyedHeld(keys, validity, text) => {
                if validity.is_some_and(|bits| !bits.get(row)) {
                    text.write_null(sheet);
                } else {
                    text.write::<D>(usize::try_from(keys[row]).unwrap_or(usize::MAX), sheet);
                }
            }
            Self::Utf8(text) => text.write(dialect, row, sheet),
            Self::LargeUtf8(text) => text.write(dialect, row, sheet),
            // Captured by reference, the row would be stored for every cell of the other lanes.
            Self::Any(column, lead) => sheet.write(move |out| {
                out.extend_from_slice(lead);
                cell::render(dialect, column, row, out);
            }),
        }
    }
}
