//! Columns of numbers.

use std::borrow::Cow;

use super::super::Dialect;
use super::super::number::{self, NumberBuffer};
use super::super::writer::{RepeatedText, TextWriter};
use crate::Values;
use crate::column::Bits;

/// Numbers of a batch.
#[derive(Debug)]
pub(in super::super) struct Numbers<'a, T: Copy> {
    numbers: Cow<'a, [T]>,
    validity: Option<Bits<'a>>,
    lead: &'a RepeatedText,
    null: &'a RepeatedText,
}

impl<'a, T: Copy> Numbers<'a, T> {
    pub(super) fn new(
        numbers: Cow<'a, [T]>,
        validity: Option<Bits<'a>>,
        lead: &'a RepeatedText,
        null: &'a RepeatedText,
    ) -> Self {
        Self { numbers, validity, lead, null }
    }

    #[inline(always)]
    fn write_number(
        &self,
        row: usize,
        sheet: &mut TextWriter<'_>,
        write: impl FnOnce(T, &mut NumberBuffer) -> usize,
    ) {
        if self.validity.is_some_and(|bits| !bits.get(row)) {
            self.null.write(sheet);
        } else {
            let number = self.numbers[row];
            self.lead.write_with_number(sheet, |slot| write(number, slot));
        }
    }
}

impl Numbers<'_, i64> {
    #[inline(always)]
    pub(super) fn write_integer(&self, row: usize, sheet: &mut TextWriter<'_>) {
        self.write_number(row, sheet, number::signed);
    }
}

impl Numbers<'_, f64> {
    #[inline(always)]
    pub(super) fn write_float<D: Dialect>(&self, row: usize, sheet: &mut TextWriter<'_>) {
        self.write_number(row, sheet, number::float::<D>);
    }
}

/// Integers that fit in 64 bits with a sign, or the values as they are.
pub(super) fn integers(values: Values<'_>) -> Result<Cow<'_, [i64]>, Values<'_>> {
    fn wide<'a, T: Copy + Into<i64>>(numbers: &[T]) -> Cow<'a, [i64]> {
        numbers.iter().map(|&number| number.into()).collect()
    }
    Ok(match values {
        Values::Int8(numbers) => wide(&numbers),
        Values::Int16(numbers) => wide(&numbers),
        Values::Int32(numbers) => wide(&numbers),
        Values::Int64(numbers) => numbers,
        Values::UInt8(numbers) => wide(&numbers),
        Values::UInt16(numbers) => wide(&numbers),
        Values::UInt32(numbers) => wide(&numbers),
        other => return Err(other),
    })
}
