//! CSV's fields as the options want them: those of [`Csv`], or with formulas made harmless.

use yearbook_sdk::Traits;
use yearbook_sdk::text::csv::Csv;
use yearbook_sdk::text::{Dialect, any_byte};
use yearbook_sdk::view::HeldText;

/// Spelling of values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CsvDialect {
    csv: Csv,
    escapes_formulas: bool,
}

impl CsvDialect {
    pub(crate) fn new(delimiter: u8, escapes_formulas: bool) -> Self {
        Self { csv: Csv { delimiter }, escapes_formulas }
    }
}

impl Dialect for CsvDialect {
    const NULL: &'static [u8] = Csv::NULL;
    const NAN: &'static [u8] = Csv::NAN;
    const INFINITY: &'static [u8] = Csv::INFINITY;
    const NEGATIVE_INFINITY: &'static [u8] = Csv::NEGATIVE_INFINITY;
    const QUOTE: &'static [u8] = Csv::QUOTE;
    const EMPTY_TEXT: &'static [u8] = Csv::EMPTY_TEXT;
    const NESTED: bool = Csv::NESTED;

    /// Asked about several texts at once, so a formula's first byte counts anywhere.
    #[inline(always)]
    fn is_plain(&self, text: &[u8]) -> bool {
        self.csv.is_plain(text) && !(self.escapes_formulas && any_byte(text, begins_formula))
    }

    fn held_text(&self) -> HeldText {
        if self.escapes_formulas {
            // No trait says how a text begins, so each is looked at.
            return HeldText { mean_bytes: u32::MAX, all: Traits::NONE, each: Traits::NONE };
        }
        self.csv.held_text()
    }

    fn escape(&self, text: &[u8], out: &mut Vec<u8>) {
        if !self.escapes_formulas {
            return self.csv.escape(text, out);
        }
        match text.first() {
            Some(first) if begins_formula(*first) => self.csv.text(&[b"'", text].concat(), out),
            _ => self.csv.text(text, out),
        }
    }
}

/// First bytes of what a spreadsheet takes for a formula, as OWASP lists them (CSV Injection).
#[inline(always)]
fn begins_formula(byte: u8) -> bool {
    (byte == b'=')
        | (byte == b'+')
        | (byte == b'-')
        | (byte == b'@')
        | (byte == b'\t')
        | (byte == b'\r')
}
