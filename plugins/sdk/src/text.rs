//! A toolkit for text formats of rows, such as CSV and JSON: an encoder says how its format writes
//! null, text and lists (a [`Dialect`]) and what stands before each cell; [`Rows`] does the rest.
//!
//! Reason of its speed: a lane is chosen once per column and batch, so that no cell costs a dynamic
//! call; whatever stands before a cell is joined to it once, not once per row; numbers are rendered
//! in blocks; a dictionary's values are rendered once and copied from then on; text is scanned for
//! characters to escape a whole buffer at a time.

mod calendar;
mod cell;
mod column_writer;
pub mod csv;
pub mod json;
mod number;
mod rows;
mod time;
mod writer;

pub use calendar::CivilDate;
pub use cell::{render, unsigned};
pub use rows::{Rows, check};
pub use scan::{any_byte, first_byte};

mod scan;

use crate::Traits;
use crate::view::HeldText;

/// Shortest mean length at which text is passed on by reference, bytes (decision 0290).
///
/// ```
/// use yearbook_sdk::text::HELD_BYTES;
///
/// assert!(HELD_BYTES > 0);
/// ```
pub const HELD_BYTES: u32 = 128;

/// A format's spelling of values.
///
/// ```
/// use yearbook_sdk::text::Dialect;
/// use yearbook_sdk::text::csv::Csv;
///
/// let mut out = Vec::new();
/// Csv { delimiter: b';' }.text(b"a;b", &mut out);
/// assert_eq!(out, b"\"a;b\"");
/// ```
pub trait Dialect: 'static {
    /// Null.
    const NULL: &'static [u8];
    /// Not a number.
    const NAN: &'static [u8];
    /// Positive infinity.
    const INFINITY: &'static [u8];
    /// Negative infinity.
    const NEGATIVE_INFINITY: &'static [u8];
    /// Stands before and after text that needs no escaping.
    const QUOTE: &'static [u8];
    /// Text without characters.
    const EMPTY_TEXT: &'static [u8];
    /// Set where lists and structs can be written, in JSON's way.
    const NESTED: bool;

    /// Set where text, or any number of texts one after the other, can stand between two
    /// [`Dialect::QUOTE`]s as it is. Empty text is not asked about.
    fn is_plain(&self, text: &[u8]) -> bool;

    /// Long text that stays with the host: `all` are the traits without which text must be
    /// escaped, `each` those that make it plain.
    fn held_text(&self) -> HeldText {
        HeldText { mean_bytes: u32::MAX, all: Traits::NONE, each: Traits::NONE }
    }

    /// Stands before and after text that is not plain but has what `held_text` wants of all.
    const WRAPPER: &'static [u8] = b"\"";

    /// Appends text that is not plain, quoted and escaped.
    fn escape(&self, text: &[u8], out: &mut Vec<u8>);

    /// Appends any text.
    fn text(&self, text: &[u8], out: &mut Vec<u8>) {
        if text.is_empty() {
            out.extend_from_slice(Self::EMPTY_TEXT);
        } else if self.is_plain(text) {
            out.extend_from_slice(Self::QUOTE);
            out.extend_from_slice(text);
            out.extend_from_slice(Self::QUOTE);
        } else {
            self.escape(text, out);
        }
    }
}
