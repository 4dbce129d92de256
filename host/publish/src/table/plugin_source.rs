//! A file of a format that a reader brought along reads: bytes to it by chunks, batches from it,
//! which are then checked as those of any Arrow file.

use std::io::Read;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

use super::arrow_source::open_batches;
use super::source::{TableInput, TableSourceError};
use crate::faults::FaultList;
use crate::format_reader::{ColumnFacts, FormatReading};
use crate::package::{DataPackage, ReaderSource};

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 256 << 10;

/// A file and its reader.
pub(super) struct PluginBatches<R> {
    input: R,
    reading: Box<dyn FormatReading>,
    chunk: Vec<u8>,
    /// Set where a status speaks of values, so that no message may repeat one.
    has_secrets: bool,
    /// Set once the last chunk is pushed, and once anything failed.
    ended: bool,
}

impl<R: Read> PluginBatches<R> {
    pub(super) fn open(
        package: &DataPackage,
        source: &ReaderSource,
        input: R,
    ) -> Result<Self, TableSourceError> {
        let reader = source.reader.as_ref().ok_or_else(|| {
            TableSourceError(format!("nobody brought a reader for {:?}", source.format))
        })?;
        let reading = reader.open(&source.columns, &source.options).map_err(TableSourceError)?;
        let has_secrets = package.columns.iter().any(|column| column.status().is_some());
        Ok(Self { input, reading, chunk: vec![0; CHUNK_BYTES], has_secrets, ended: false })
    }

    /// Masks values in a reader's sentence where a column has a status.
    fn redact(&self, why: String) -> String {
        if self.has_secrets { mask_values(&why) } else { why }
    }

    /// Gives the reader the next chunk; after the last one there is none.
    fn push_chunk(&mut self) -> Result<(), String> {
        let mut length = 0;
        while let Some(rest) = self.chunk.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why.to_string()),
            }
        }
        // A chunk that is not full is the last one; behind a full one it may be empty.
        self.ended = length < CHUNK_BYTES;
        let pushed = self.reading.push(self.chunk.get(..length).unwrap_or_default(), self.ended);
        pushed.map_err(|why| self.redact(why))
    }

    /// The facts of the columns.
    pub(super) fn columns(&mut self) -> Result<Vec<ColumnFacts>, String> {
        loop {
            if let Some(columns) = self.reading.columns().map_err(|why| self.redact(why))? {
                return Ok(columns);
            }
            if self.ended {
                return Err("its reader knows no columns at the end of the file".to_owned());
            }
            self.push_chunk()?;
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            if let Some(batch) = self.reading.pull().map_err(|why| self.redact(why))? {
                return Ok(Some(batch));
            }
            if self.ended {
                return Ok(None);
            }
            self.push_chunk()?;
        }
    }
}

/// Batches, until one fails.
impl<R: Read> Iterator for PluginBatches<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|why| ArrowError::ExternalError(why.into())).transpose()
    }
}

/// Opens the file of a package that needs a reader.
pub(crate) fn open(
    package: &DataPackage,
    source: &ReaderSource,
    input: impl Read + Send + 'static,
    faults: &mut FaultList,
) -> Result<TableInput, TableSourceError> {
    let batches = PluginBatches::open(package, source, input)?;
    // Columns come as they were asked for; their types are checked by those of the schema.
    let schema = yearbook_scan::schema::unchecked_schema(&package.columns);
    Ok(open_batches(&schema, Box::new(batches), &package.columns, None, faults))
}

/// A reader's sentence without what may be a value: whatever is quoted and, behind its place, each
/// word with a digit. The host does not know which column a reader speaks of.
fn mask_values(sentence: &str) -> String {
    let has_place = ["line ", "byte ", "$"].iter().any(|place| sentence.starts_with(place));
    let (place, rest) = match sentence.split_once(": ") {
        Some((place, rest)) if has_place && !place.contains(['"', '\'']) => (place, rest),
        _ => ("", sentence),
    };
    let mut masked = String::new();
    for (position, part) in rest.replace("\\\"", MASK).split('"').enumerate() {
        if position % 2 == 1 {
            masked.push_str(MASK);
            continue;
        }
        let word = |word: &str| match word.contains(|c: char| c.is_numeric()) {
            true => MASK.to_owned(),
            false => word.to_owned(),
        };
        masked.push_str(&part.split(' ').map(word).collect::<Vec<_>>().join(" "));
    }
    let colon = if place.is_empty() { "" } else { ": " };
    format!(
        "{place}{colon}{masked} ({MASK} hides what may be a value: a status speaks of values here)"
    )
}

/// Mark in place of a value.
const MASK: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_repeats_no_value_that_a_status_speaks_of_contract_21() {
        for (sentence, expected) in [
            (
                r#"line 7, OBS_VALUE: "98765,4" is not a number; declare the column as string"#,
                "line 7, OBS_VALUE: … is not a number; declare the column as string (",
            ),
            (
                "$.value, cell 3: 98765.4 is no whole number of 64 bits",
                "$.value, cell 3: … is no whole number of … bits (",
            ),
            (r#"byte 9: "9\"8" and "765" differ"#, "byte 9: … and … differ ("),
            (r#"98765: "open"#, "… … ("),
            (r#"line 3, "98765": is there twice"#, "line … …: is there twice ("),
            ("has no column OBS_VALU", "has no column OBS_VALU ("),
        ] {
            let masked = mask_values(sentence);
            assert!(masked.starts_with(expected), "{masked}");
        }
    }
}
