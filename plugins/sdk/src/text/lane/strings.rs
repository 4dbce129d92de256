//! Plain text columns.

use super::super::Dialect;
use super::super::rows::Piece;
use crate::column::{Bits, Offset, Strings};
use crate::raw::put;

/// Text of a batch, and whether any of it needs escaping.
#[derive(Debug)]
pub(in super::super) struct Text<'a, O: Offset> {
    strings: Strings<'a, O>,
    validity: Option<Bits<'a>>,
    /// Nothing in the whole column needs escaping, so no cell is looked at.
    plain: bool,
    lead: &'a [u8],
    opening: Piece,
    closing: Piece,
    null: Piece,
    empty: Piece,
}

impl<'a, O: Offset> Text<'a, O> {
    pub(super) fn new<D: Dialect>(dialect: &D, strings: Strings<'a, O>, validity: Option<Bits<'a>>, lead: &'a [u8]) -> Self {
        Self {
            plain: dialect.is_plain(strings.buffer()),
            strings,
            validity,
            lead,
            opening: Piece::new(&[lead, D::QUOTE]),
            closing: Piece::new(&[D::QUOTE]),
            null: Piece::new(&[lead, D::NULL]),
            empty: Piece::new(&[lead, D::EMPTY_TEXT]),
        }
    }

    #[inline(always)]
    pub(super) fn put<D: Dialect>(&self, dialect: &D, row: usize, out: &mut Vec<u8>) {
        if self.validity.is_some_and(|bits| !bits.get(row)) {
            return self.null.put(out);
        }
        let buffer = self.strings.buffer();
        let (start, length) = self.strings.range(row);
        if length == 0 {
            self.empty.put(out);
        } else if self.plain || dialect.is_plain(&buffer[start..start + length]) {
            self.opening.put(out);
            put(out, buffer, start, length);
            if !D::QUOTE.is_empty() {
                self.closing.put(out);
            }
        } else {
            out.extend_from_slice(self.lead);
            dialect.escape(&buffer[start..start + length], out);
        }
    }
}
