//! JSON (RFC 8259): strings are UTF-8 as it is, and only what must be escaped is; rows are objects.

use super::{Dialect, HELD_BYTES, Rows, any_byte, first_byte};
use crate::view::HeldText;
use crate::{Error, Field, Traits};

/// JSON's spelling of values.
///
/// ```
/// use yearbook_sdk::text::Dialect;
/// use yearbook_sdk::text::json::Json;
///
/// let mut out = Vec::new();
/// Json.text("a \"b\"".as_bytes(), &mut out);
/// assert_eq!(out, br#""a \"b\"""#);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Json;

impl Dialect for Json {
    const NULL: &'static [u8] = b"null";
    const NAN: &'static [u8] = b"null";
    const INFINITY: &'static [u8] = b"null";
    const NEGATIVE_INFINITY: &'static [u8] = b"null";
    const QUOTE: &'static [u8] = b"\"";
    const EMPTY_TEXT: &'static [u8] = b"\"\"";
    const NESTED: bool = true;

    #[inline(always)]
    fn is_plain(&self, text: &[u8]) -> bool {
        !any_byte(text, needs_escape)
    }

    fn held_text(&self) -> HeldText {
        HeldText {
            mean_bytes: HELD_BYTES,
            all: Traits::NO_CONTROL | Traits::NO_QUOTE | Traits::NO_BACKSLASH,
            each: Traits::NONE,
        }
    }

    fn escape(&self, text: &[u8], out: &mut Vec<u8>) {
        out.push(b'"');
        let mut rest = text;
        while let Some(position) = first_byte(rest, needs_escape) {
            let (plain, from) = rest.split_at(position);
            out.extend_from_slice(plain);
            escape_byte(from[0], out);
            rest = &from[1..];
        }
        out.extend_from_slice(rest);
        out.push(b'"');
    }
}

/// Rows as objects with every column present. `end` ends a row, its closing brace included.
///
/// ```
/// use yearbook_sdk::Output;
/// use yearbook_sdk::testing::{Table, batches};
/// use yearbook_sdk::text::json;
///
/// let batch = batches(&Table::new().integers("n", &[Some(1), None]), false)?.remove(0);
/// let mut rows = json::objects(&batch.schema().fields, b"}\n")?;
/// let mut out = Output::default();
/// rows.write(&batch, &mut out);
/// assert_eq!(out.as_slice(), b"{\"n\":1}\n{\"n\":null}\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Errors
/// [`Error::UnsupportedSchema`] naming a column that JSON cannot carry.
pub fn objects(fields: &[Field], end: &[u8]) -> Result<Rows<Json>, Error> {
    let leads = fields.iter().enumerate().map(|(position, field)| {
        let mut lead = vec![if position == 0 { b'{' } else { b',' }];
        Json.text(field.name.as_bytes(), &mut lead);
        lead.push(b':');
        lead
    });
    Rows::new(Json, fields, leads.collect(), end)
}

#[inline(always)]
fn needs_escape(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

fn escape_byte(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        _ => {
            out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
