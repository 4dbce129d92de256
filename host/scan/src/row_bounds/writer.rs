//! Bounds of rows on their way into a temporary file, row group by row group. Holds those of one
//! row group.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};

use arrow::array::ArrayRef;
use arrow::error::ArrowError;
use yearbook_domain::Digest;

use super::blocks;
use super::extent::{Extent, NOTHING, extent, is_nothing, union};
use super::stored::{self, GroupEntry};
use crate::texts::Texts;

/// Bounds being stored.
pub struct RowBoundsWriter {
    chunks: BufWriter<File>,
    groups: Vec<GroupEntry>,
    /// Bounds of the row group in progress.
    rows: Vec<Extent>,
    /// Bounds by text, where there are few texts.
    known: Option<HashMap<Box<str>, Extent>>,
}

impl RowBoundsWriter {
    /// Bounds of a column that has `few_values` or many; `temporary` is an empty file.
    #[must_use]
    pub fn new(temporary: File, few_values: bool) -> Self {
        Self {
            chunks: BufWriter::new(temporary),
            groups: Vec::new(),
            rows: Vec::new(),
            known: few_values.then(HashMap::new),
        }
    }

    /// Takes in the geometry of the next rows.
    ///
    /// # Errors
    /// [`ArrowError`] where it is no geometry.
    pub fn update(&mut self, geometry: &ArrayRef) -> Result<(), ArrowError> {
        let texts = Texts::new(geometry)?;
        for row in 0..geometry.len() {
            let bounds = match texts.get(row) {
                None => NOTHING,
                Some(text) => self.bounds(text)?,
            };
            self.rows.push(bounds);
        }
        Ok(())
    }

    /// Ends a row group of which the file has `bytes`.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub fn end_group(&mut self, bytes: u64) -> io::Result<()> {
        let chunk = blocks::encode(&self.rows, bytes);
        self.chunks.write_all(&chunk)?;
        let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
        self.groups.push(GroupEntry {
            rows: count(self.rows.len()),
            empty_rows: count(self.rows.iter().filter(|row| is_nothing(**row)).count()),
            bounds: self.rows.drain(..).fold(NOTHING, union),
            range: 0..chunk.len() as u64,
            checksum: crc32fast::hash(&chunk),
        });
        Ok(())
    }

    /// Returns the head of the bounds of the file `sha256`, and what comes behind it.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub fn finish(self, sha256: &Digest) -> io::Result<(Vec<u8>, File)> {
        let chunks = self.chunks.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((stored::head(sha256, &self.groups), chunks))
    }

    fn bounds(&mut self, text: &str) -> Result<Extent, ArrowError> {
        if let Some(known) = self.known.as_ref().and_then(|known| known.get(text)) {
            return Ok(*known);
        }
        let bounds = extent(text).map_err(|why| ArrowError::ParseError(why.to_string()))?;
        if let Some(known) = &mut self.known {
            known.insert(text.into(), bounds);
        }
        Ok(bounds)
    }
}
