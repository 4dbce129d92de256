//! The footer of a message: what the service says of it. Where it says that something went wrong,
//! the data is not whole.

use quick_xml::escape::unescape;
use yearbook_sdk::reader::{FilePlace, ReadRefusal};
use yearbook_sdmx_values::quote;

use crate::tags::{Tag, refusal};

/// Codes of faults (SDMX 2.1, section 7, and HTTP); of others the severity alone counts.
const FAULTS: std::ops::Range<u32> = 400..600;

/// The footer so far.
#[derive(Debug, Default)]
pub(crate) struct Footer {
    /// Line of the status at hand.
    line: u64,
    is_fault: bool,
    /// Words of the status at hand, or of the last.
    text: String,
}

impl Footer {
    /// Begins a status.
    ///
    /// # Errors
    /// [`ReadRefusal`] for a fault without words, and for what is no XML.
    pub(crate) fn begin_status(&mut self, tag: &Tag<'_>) -> Result<(), ReadRefusal> {
        *self = Self { line: tag.line, ..Self::default() };
        for attribute in tag.attributes() {
            let (name, attribute) = attribute?;
            let text = tag.text_of(&attribute)?;
            self.is_fault |= match name {
                "severity" => text.trim().eq_ignore_ascii_case("error"),
                "code" => text.trim().parse().is_ok_and(|code| FAULTS.contains(&code)),
                _ => false,
            };
        }
        if tag.is_empty { self.finish_status() } else { Ok(()) }
    }

    /// Takes words; those of the first language stay.
    pub(crate) fn add_text(&mut self, text: &[u8]) {
        if self.text.is_empty() {
            let text = String::from_utf8_lossy(text);
            self.text = unescape(&text).map_or_else(|_| text.to_string(), Into::into);
        }
    }

    /// Ends a status.
    ///
    /// # Errors
    /// [`ReadRefusal`] for a fault.
    pub(crate) fn finish_status(&self) -> Result<(), ReadRefusal> {
        if !self.is_fault {
            return Ok(());
        }
        let sentence = format!(
            "the service says that the data is not whole: {}; ask it for less at once",
            quote(&self.text)
        );
        Err(ReadRefusal::unsupported(FilePlace::line(self.line, "Footer"), sentence))
    }

    /// The fault of a message without data.
    pub(crate) fn no_data_set(&self) -> ReadRefusal {
        let said = if self.text.is_empty() {
            String::new()
        } else {
            format!("; its footer says {}", quote(&self.text))
        };
        refusal(self.line.max(1), format!("the message has no DataSet{said}"))
    }
}
