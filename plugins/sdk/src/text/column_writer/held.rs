//! Text columns whose values stay with the host: what stands around a value is written, the value
//! is passed on.

use super::super::Dialect;
use super::super::writer::{RepeatedText, TextWriter};
use crate::column::{Bits, HeldColumn};

/// Held text of a batch.
#[derive(Debug)]
pub(in super::super) struct HeldCells<'a> {
    column: HeldColumn<'a>,
    validity: Option<Bits<'a>>,
    opening: RepeatedText,
    wrapped: RepeatedText,
    null: RepeatedText,
    empty: RepeatedText,
}

impl<'a> HeldCells<'a> {
    pub(super) fn new<D: Dialect>(
        column: HeldColumn<'a>,
        validity: Option<Bits<'a>>,
        lead: &[u8],
    ) -> Self {
        Self {
            column,
            validity,
            opening: RepeatedText::new(&[lead, D::QUOTE]),
            wrapped: RepeatedText::new(&[lead, D::WRAPPER]),
            null: RepeatedText::new(&[lead, D::NULL]),
            empty: RepeatedText::new(&[lead, D::EMPTY_TEXT]),
        }
    }

    /// Null with the lead before it.
    #[inline(always)]
    pub(super) fn write_null(&self, sheet: &mut TextWriter<'_>) {
        self.null.write(sheet);
    }

    #[inline(always)]
    pub(super) fn write<D: Dialect>(&self, row: usize, sheet: &mut TextWriter<'_>) {
        if self.validity.is_some_and(|bits| !bits.get(row)) {
            return self.null.write(sheet);
        }
        let (start, length) = self.column.range(row);
        if length == 0 {
            return self.empty.write(sheet);
        }
        let (before, after) = if self.column.has_each(row) {
            (&self.opening, D::QUOTE)
        } else {
            (&self.wrapped, D::WRAPPER)
        };
        before.write(sheet);
        sheet.pass(self.column.buffer, start, length);
        sheet.append(after);
    }
}
