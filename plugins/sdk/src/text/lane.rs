//! How the cells of one column are written: chosen once per batch.

use super::sheet::{Piece, Sheet};
use super::{Dialect, cell};
use crate::{Column, Values};
use coded::{Blocks, Codes, Entries, put_block, put_cell};
use numbers::{Numbers, integers};
use strings::Text;

mod coded;
mod numbers;
mod strings;

/// What is kept of a column between batches.
#[derive(Debug)]
pub(super) struct Lane {
    text: Vec<u8>,
    lead: Piece,
    null: Piece,
    entries: Entries,
}

/// A column of this batch.
#[derive(Debug)]
pub(super) enum Prepared<'a> {
    Float(Numbers<'a, f64>),
    Integer(Numbers<'a, i64>),
    Coded16(Codes<'a>, &'a [[u8; 16]]),
    Coded32(Codes<'a>, &'a [[u8; 32]]),
    Coded64(Codes<'a>, &'a [[u8; 64]]),
    Coded(Codes<'a>, &'a Entries),
    Utf8(Text<'a, i32>),
    LargeUtf8(Text<'a, i64>),
    Any(Column<'a>, &'a [u8]),
}

impl Lane {
    pub(super) fn new<D: Dialect>(lead: Vec<u8>) -> Self {
        Self { lead: Piece::new(&[&lead]), null: Piece::new(&[&lead, D::NULL]), text: lead, entries: Entries::default() }
    }

    pub(super) fn prepare<'a, D: Dialect>(&'a mut self, dialect: &D, mut column: Column<'a>) -> Prepared<'a> {
        let Self { text, lead, null, entries } = self;
        let validity = column.validity().copied();
        match std::mem::replace(&mut column.values, Values::Null) {
            Values::Boolean(bits) => {
                entries.fill(text, 1, 2, D::NULL, |value, out| out.extend_from_slice(if value == 1 { b"true" } else { b"false" }));
                Prepared::coded(coded::booleans(bits, validity), entries)
            }
            Values::Dictionary(dictionary) if entries.are_worth_it(dictionary.version, dictionary.values.length, column.length) => {
                let values = &dictionary.values;
                entries.fill(text, dictionary.version, values.length, D::NULL, |value, out| cell::render(dialect, values, value, out));
                Prepared::coded(coded::keys(dictionary.keys, validity, entries), entries)
            }
            Values::Utf8(strings) => Prepared::Utf8(Text::new(dialect, strings, validity, text)),
            Values::LargeUtf8(strings) => Prepared::LargeUtf8(Text::new(dialect, strings, validity, text)),
            Values::Float64(numbers) => Prepared::Float(Numbers::new(numbers, validity, lead, null)),
            values => match integers(values) {
                Ok(numbers) => Prepared::Integer(Numbers::new(numbers, validity, lead, null)),
                Err(values) => {
                    column.values = values;
                    Prepared::Any(column, text)
                }
            },
        }
    }
}

impl<'a> Prepared<'a> {
    fn coded(codes: Codes<'a>, entries: &'a Entries) -> Self {
        match entries.blocks() {
            Blocks::Of16(blocks) => Self::Coded16(codes, blocks),
            Blocks::Of32(blocks) => Self::Coded32(codes, blocks),
            Blocks::Of64(blocks) => Self::Coded64(codes, blocks),
            Blocks::None => Self::Coded(codes, entries),
        }
    }

    /// Appends a cell with its lead.
    #[inline(always)]
    pub(super) fn put<D: Dialect>(&self, dialect: &D, row: usize, sheet: &mut Sheet<'_>) {
        match self {
            Self::Float(numbers) => numbers.put_float::<D>(row, sheet),
            Self::Integer(numbers) => numbers.put_integer(row, sheet),
            Self::Coded16(codes, blocks) => put_block(codes, blocks, row, sheet),
            Self::Coded32(codes, blocks) => put_block(codes, blocks, row, sheet),
            Self::Coded64(codes, blocks) => put_block(codes, blocks, row, sheet),
            Self::Coded(codes, entries) => put_cell(codes, entries, row, sheet),
            Self::Utf8(text) => text.put(dialect, row, sheet),
            Self::LargeUtf8(text) => text.put(dialect, row, sheet),
            // Captured by reference, the row would be stored for every cell of the other lanes.
            Self::Any(column, lead) => sheet.write(move |out| {
                out.extend_from_slice(lead);
                cell::render(dialect, column, row, out);
            }),
        }
    }
}
