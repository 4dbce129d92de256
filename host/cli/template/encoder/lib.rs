//! The format `{{name}}`: labelled values, one line a row (`region:north<TAB>value:1.5`), as in
//! LTSV. Replace what makes it LTSV by what makes it yours.

use yearbook_sdk::text::{Dialect, HELD_BYTES, Rows, any_byte};
use yearbook_sdk::view::HeldText;
use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema, Traits, View};

yearbook_sdk::export_encoder!(Format);

/// One response. A fresh value serves each response, so it may keep what it likes between parts;
/// nothing outlives it.
pub struct Format {
    rows: Rows<Labelled>,
}

impl Encoder for Format {
    /// Description that clients see. The rules for each field stand in
    /// `yearbook/plugins/sdk/wit/1.1.0`.
    fn describe() -> Description {
        Description {
            format: "{{name}}",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "text/plain; charset=utf-8",
            extension: "txt",
            // Parts are independent and nothing stands between them: the host may encode them side
            // by side.
            separator: Some(b""),
            part_rows: None,
            // Text with few distinct values arrives as a dictionary; `Rows` renders each value
            // once.
            dictionaries: true,
            compressible: true,
            parameters: vec![],
            docs: "Labelled values, one line a row. Null is nothing after the colon.",
        }
    }

    fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
        let lead = |(position, field): (usize, &yearbook_sdk::Field)| {
            let mut lead = if position == 0 { Vec::new() } else { vec![b'\t'] };
            Labelled.text(field.name.as_bytes(), &mut lead);
            lead.push(b':');
            lead
        };
        let leads = schema.fields.iter().enumerate().map(lead).collect();
        Ok(Self { rows: Rows::new(Labelled, &schema.fields, leads, b"\n")? })
    }

    /// Long text that needs no escaping need not come in: the host puts it into the output.
    fn views(&self) -> Vec<View> {
        self.rows.views()
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.rows.write(&batch, out);
        Ok(())
    }
}

/// Style in which values are written.
struct Labelled;

impl Dialect for Labelled {
    const NULL: &'static [u8] = b"";
    const NAN: &'static [u8] = b"NaN";
    const INFINITY: &'static [u8] = b"INF";
    const NEGATIVE_INFINITY: &'static [u8] = b"-INF";
    const QUOTE: &'static [u8] = b"";
    const EMPTY_TEXT: &'static [u8] = b"";
    const NESTED: bool = false;

    fn is_plain(&self, text: &[u8]) -> bool {
        !any_byte(text, |byte| (byte == b'\t') | (byte == b'\n') | (byte == b'\r') | (byte == b'\\'))
    }

    /// Bytes without which text is plain: the same as above, as the interface names them.
    fn held_text(&self) -> HeldText {
        let all = Traits::NO_TAB | Traits::NO_LINE_BREAK | Traits::NO_BACKSLASH;
        HeldText { mean_bytes: HELD_BYTES, all, each: Traits::NONE }
    }

    fn escape(&self, text: &[u8], out: &mut Vec<u8>) {
        for &byte in text {
            match byte {
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                b'\\' => out.extend_from_slice(b"\\\\"),
                _ => out.push(byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use yearbook_sdk::testing::{Table, conformance, encode};

    use super::*;

    /// The list that every encoder must hold; the second half of it runs in `yearbook plugin
    /// check`.
    #[test]
    fn conforms() {
        conformance::check::<Format>(|bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
    }

    #[test]
    fn a_row_is_a_line_of_labelled_values() {
        let table = Table::new().text("region", &[Some("north"), None]).numbers("value", &[Some(1.5), Some(2.0)]);
        let bytes = encode::<Format>(&table, &[]).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), "region:north\tvalue:1.5\nregion:\tvalue:2.0\n");
    }
}
