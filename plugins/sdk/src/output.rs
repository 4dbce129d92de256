//! Output of a part: bytes, and ranges of the input that the host puts between them. What is passed
//! on that way never comes into the guest and is never copied out of it.

use std::ops::{Deref, DerefMut, Range};

use crate::column::ColumnBuffer;
use crate::{Column, Values, wire};

/// Bytes of a part. Everything that appends to a `Vec<u8>` appends to it; [`Output::pass`] and
/// [`Output::pass_buffer`] append input that stayed with the host.
///
/// Bytes may be taken from the end again only as long as nothing was passed after them: the host
/// refuses a piece with a range behind its end.
///
/// ```
/// use yearbook_sdk::Output;
///
/// let mut out = Output::default();
/// out.extend_from_slice(b"a,b");
/// out.push(b'\n');
/// assert_eq!(out.len(), 4);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Output {
    bytes: Vec<u8>,
    splices: Vec<wire::RawSplice>,
}

impl Output {
    /// Appends the text or the bytes of a row: by reference where the column stayed with the host
    /// ([`Encoder::views`](crate::Encoder::views)), else as a copy. Appends nothing where the row
    /// is null or the column holds neither text nor binary values.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, encode};
    /// use yearbook_sdk::view::HeldText;
    /// use yearbook_sdk::{
    ///     Batch, Description, Encoder, Error, Options, Output, Schema, Traits, Values, View,
    /// };
    ///
    /// struct Notes(usize);
    ///
    /// impl Encoder for Notes {
    /// #     fn describe() -> Description {
    /// #         Description {
    /// #             format: "notes",
    /// #             version: "0.1.0",
    /// #             media_type: "text/plain",
    /// #             extension: "txt",
    /// #             separator: Some(b""),
    /// #             part_rows: None,
    /// #             dictionaries: false,
    /// #             compressible: true,
    /// #             parameters: vec![],
    /// #             docs: "Long notes.",
    /// #         }
    /// #     }
    ///     fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
    ///         Ok(Self(schema.fields.len()))
    ///     }
    ///     fn views(&self) -> Vec<View> {
    ///         let text = HeldText { mean_bytes: 100, all: Traits::NONE, each: Traits::ASCII };
    ///         vec![View::held(text); self.0]
    ///     }
    ///     fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
    ///         let column = batch.column(0);
    ///         out.pass(&column, 0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let long = "a note ".repeat(100);
    /// let table = Table::new().text("note", &[Some(long.as_str())]);
    /// assert_eq!(encode::<Notes>(&table, &[])?, long.as_bytes());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn pass(&mut self, column: &Column<'_>, row: usize) {
        if !column.is_valid(row) {
            return;
        }
        match &column.values {
            Values::Held(text) => {
                let (start, length) = text.range(row);
                self.splice(self.bytes.len(), text.buffer, start, length);
            }
            Values::Utf8(text) | Values::Binary(text) => {
                self.bytes.extend_from_slice(text.bytes(row));
            }
            Values::LargeUtf8(text) | Values::LargeBinary(text) => {
                self.bytes.extend_from_slice(text.bytes(row));
            }
            Values::Dictionary(dictionary) => {
                if let Ok(key) = usize::try_from(dictionary.keys[row]) {
                    self.pass(&dictionary.values, key);
                }
            }
            _ => {}
        }
    }

    /// Appends a whole buffer of a column as Arrow has it: by reference where it stayed with the
    /// host, else as a copy.
    ///
    /// ```
    /// use yearbook_sdk::testing::{Table, batches};
    ///
    /// let table = Table::new()
    ///     .text("region", &[Some("north"), None])
    ///     .numbers("value", &[Some(1.5), Some(2.0)]);
    /// let batch = batches(&table, false)?.remove(0);
    /// use yearbook_sdk::Output;
    ///
    /// let mut out = Output::default();
    /// if let Some(values) = batch.column(1).buffers().last() {
    ///     out.pass_buffer(&values);
    /// }
    /// assert_eq!(out.as_slice(), [1.5_f64.to_le_bytes(), 2.0_f64.to_le_bytes()].concat());
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    pub fn pass_buffer(&mut self, buffer: &ColumnBuffer<'_>) {
        match buffer.held {
            Some(index) => self.splice(self.bytes.len(), index, 0, buffer.length),
            None => self.bytes.extend_from_slice(buffer.bytes),
        }
    }

    /// Appends a range of the bytes of `other`, together with what was passed on between them. What
    /// was passed right before the first byte is among it, what was passed right before the next
    /// one is not, unless there is none.
    ///
    /// ```
    /// use yearbook_sdk::Output;
    ///
    /// let lines = Output::from(b"a\nb\n".to_vec());
    /// let mut out = Output::default();
    /// out.extend_from_output(&lines, 2..4);
    /// out.extend_from_output(&lines, 0..2);
    /// assert_eq!(out.as_slice(), b"b\na\n");
    /// ```
    ///
    /// # Panics
    /// Panics when `other` has fewer bytes.
    pub fn extend_from_output(&mut self, other: &Self, range: Range<usize>) {
        let before =
            |end: usize| other.splices.partition_point(|splice| (splice.at as usize) < end);
        let last =
            if range.end == other.bytes.len() { other.splices.len() } else { before(range.end) };
        let mut copied = range.start;
        for splice in other.splices.get(before(range.start)..last).unwrap_or_default() {
            let at = splice.at as usize;
            self.bytes.extend_from_slice(&other.bytes[copied..at]);
            self.splices.push(wire::RawSplice { at: position(self.bytes.len()), ..*splice });
            copied = at;
        }
        self.bytes.extend_from_slice(&other.bytes[copied..range.end]);
    }

    /// Takes away all bytes and all that was passed on, and keeps the memory.
    ///
    /// ```
    /// use yearbook_sdk::Output;
    ///
    /// let mut out = Output::from(b"a".to_vec());
    /// out.clear();
    /// assert!(out.is_empty());
    /// ```
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.splices.clear();
    }

    /// Puts a range of an input buffer behind the first `at` bytes.
    #[inline]
    pub(crate) fn splice(&mut self, at: usize, buffer: u32, offset: usize, length: usize) {
        push_splice(&mut self.splices, at, buffer, offset, length);
    }

    /// Both halves, to be appended to by turns: the second with [`push_splice`].
    pub(crate) fn parts_mut(&mut self) -> (&mut Vec<u8>, &mut Vec<wire::RawSplice>) {
        (&mut self.bytes, &mut self.splices)
    }

    /// Both halves, as they cross.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<wire::RawSplice>) {
        (self.bytes, self.splices)
    }
}

/// Puts a range of an input buffer behind the first `at` bytes of an output.
#[inline]
pub(crate) fn push_splice(
    splices: &mut Vec<wire::RawSplice>,
    at: usize,
    buffer: u32,
    offset: usize,
    length: usize,
) {
    if length > 0 {
        splices.push(wire::RawSplice {
            at: position(at),
            buffer,
            offset: position(offset),
            length: position(length),
        });
    }
}

/// A position as it crosses. The host refuses what does not fit, since no buffer is so long.
fn position(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl From<Vec<u8>> for Output {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, splices: Vec::new() }
    }
}

impl Deref for Output {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for Output {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Table, batches};

    #[test]
    fn what_came_into_the_guest_is_passed_on_as_a_copy() {
        let table = Table::new()
            .text("a", &[Some("north"), None])
            .dictionary("b", &[Some("x"), Some("y")])
            .integers("c", &[Some(1), Some(2)]);
        for dictionaries in [true, false] {
            let batch = batches(&table, dictionaries).unwrap().remove(0);
            let mut out = Output::default();
            for row in 0..2 {
                batch.columns().for_each(|column| out.pass(&column, row));
                out.push(b'\n');
            }
            out.pass_buffer(&batch.column(2).buffers().nth(1).unwrap());
            let (bytes, splices) = out.into_parts();
            assert_eq!(bytes, b"northx\ny\n\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0");
            assert_eq!(splices, []);
        }
    }

    #[test]
    fn ranges_of_an_output_keep_what_was_passed_on_between_their_bytes() {
        let mut lines = Output::from(b"ab".to_vec());
        lines.splice(0, 7, 0, 1);
        lines.splice(1, 7, 1, 2);
        lines.splice(1, 7, 3, 3);
        lines.splice(2, 7, 6, 4);
        // From the first of some places to the next, and so on.
        let taken = |places: &[usize]| {
            let mut out = Output::from(b"-".to_vec());
            places.windows(2).for_each(|ends| out.extend_from_output(&lines, ends[0]..ends[1]));
            let (bytes, splices) = out.into_parts();
            let places = splices.iter().map(|splice| (splice.at, splice.length)).collect();
            (String::from_utf8(bytes).unwrap(), places)
        };
        let found: (String, Vec<(u32, u32)>) = taken(&[0, 2]);
        assert_eq!(found, ("-ab".to_owned(), vec![(1, 1), (2, 2), (2, 3), (3, 4)]));
        assert_eq!(taken(&[0, 1, 2]), found, "each is taken once");
        assert_eq!(taken(&[0, 1]), ("-a".to_owned(), vec![(1, 1)]));
        assert_eq!(taken(&[1, 2]), ("-b".to_owned(), vec![(1, 2), (1, 3), (2, 4)]));
        lines.clear();
        let (bytes, splices) = lines.into_parts();
        assert!(bytes.is_empty() && splices.is_empty());
    }
}
