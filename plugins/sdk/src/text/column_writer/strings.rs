//! Plain text columns.

use super::super::Dialect;
use super::super::writer::{RepeatedText, TextWriter};
use crate::column::{Bits, Offset, Strings};

/// Text of a batch, and whether any of it needs escaping.
#[derive(Debug)]
pub(in super::super) struct Text<'a, O: Offset> {
    strings: Strings<'a, O>,
    validity: Option<Bits<'a>>,
    /// Nothing in the whole column needs escaping, so no cell is looked at.
    plain: bool,
    lead: &'a [u8],
    opening: RepeatedText,
    null: RepeatedText,
    empty: RepeatedText,
}

impl<'a, O: Offset> Text<'a, O> {
    /// All rows of a column.
    pub(super) fn new<D: Dialect>(
        dialect: &D,
        strings: Strings<'a, O>,
        validity: Option<Bits<'a>>,
        lead: &'a [u8],
    ) -> Self {
        Self {
            plain: is_short(&strings) && dialect.is_plain(strings.buffer()),
            ..Self::sparse::<D>(strings, validity, lead)
        }
    }

    /// A few rows of a column, looked at one by one.
    pub(super) fn sparse<D: Dialect>(
        strings: Strings<'a, O>,
        validity: Option<Bits<'a>>,
        lead: &'a [u8],
    ) -> Self {
        Self {
            plain: false,
            strings,
            validity,
            lead,
            opening: RepeatedText::new(&[lead, D::QUOTE]),
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
    pub(super) fn write<D: Dialect>(&self, dialect: &D, row: usize, sheet: &mut TextWriter<'_>) {
        if self.validity.is_some_and(|bits| !bits.get(row)) {
            return self.null.write(sheet);
        }
        let buffer = self.strings.buffer();
        let (start, length) = self.strings.range(row);
        if length == 0 {
            self.empty.write(sheet);
        } else if self.plain || dialect.is_plain(&buffer[start..start + length]) {
            self.opening.write(sheet);
            sheet.copy(buffer, start, length);
            if let Some(quote) = D::QUOTE.first_chunk::<1>() {
                sheet.push_block(quote);
            }
        } else {
            sheet.write(move |out| {
                out.extend_from_slice(self.lead);
                dialect.escape(&buffer[start..start + length], out);
            });
        }
    }
}

/// Returns whether a look at the whole buffer is worth it. Long texts are looked at one by one:
/// just before they are copied they have to come into the cache anyway.
fn is_short<O: Offset>(strings: &Strings<'_, O>) -> bool {
    strings.buffer().len() / 512 < strings.offsets().len()
}
