//! Note of a part for the tail: the sizes, counts and bounds of its row groups' pages. Places are
//! left out, since pages stand one behind the other and the host says where the part begins.

use yearbook_sdk::Error;

use crate::bounds::{MinMax, MinMaxBound};
use crate::thrift::varint;

/// One row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowGroupNote {
    pub(crate) rows: u64,
    /// In the order of the file's columns, which is also that of their bytes.
    pub(crate) chunks: Vec<ColumnChunkNote>,
}

/// One column of a row group: a dictionary page or none, then data pages, all in one encoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ColumnChunkNote {
    /// True where pages are compressed as the client asked; false where that gains nothing.
    pub(crate) compressed: bool,
    /// Bytes of the dictionary page with its header; 0 where there is none.
    pub(crate) dictionary: u64,
    /// Bytes of all pages with their headers, before compression.
    pub(crate) plain: u64,
    pub(crate) pages: Vec<PageNote>,
}

/// One data page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageNote {
    /// Bytes with its header.
    pub(crate) size: u64,
    pub(crate) rows: u64,
    pub(crate) nulls: u64,
    /// None where there are no values, or some without an order, which only NaN is.
    pub(crate) bounds: Option<MinMax>,
}

impl ColumnChunkNote {
    /// Bytes in the file.
    pub(crate) fn size(&self) -> u64 {
        self.dictionary + self.pages.iter().map(|page| page.size).sum::<u64>()
    }

    /// The same for bytes that are no text: their bounds would be as long as the values.
    pub(crate) fn without_bounds(mut self) -> Self {
        self.pages.iter_mut().for_each(|page| page.bounds = None);
        self
    }

    /// True where all values have a place in the order of their type, so that bounds hold.
    pub(crate) fn is_ordered(&self) -> bool {
        self.pages.iter().all(|page| page.is_null() || page.bounds.is_some())
    }
}

impl PageNote {
    pub(crate) fn is_null(&self) -> bool {
        self.nulls == self.rows
    }

    /// Empty where there is none, as the column index wants it.
    pub(crate) fn min(&self) -> &[u8] {
        self.bounds.as_ref().map_or(&[], |bounds| &bounds.min.bytes)
    }

    /// As [`PageNote::min`].
    pub(crate) fn max(&self) -> &[u8] {
        self.bounds.as_ref().map_or(&[], |bounds| &bounds.max.bytes)
    }
}

/// As bytes.
pub(crate) fn write(groups: &[RowGroupNote]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, groups.len() as u64);
    for group in groups {
        varint(&mut out, group.rows);
        varint(&mut out, group.chunks.len() as u64);
        for chunk in &group.chunks {
            varint(&mut out, chunk.compressed.into());
            varint(&mut out, chunk.dictionary);
            varint(&mut out, chunk.plain);
            varint(&mut out, chunk.pages.len() as u64);
            for page in &chunk.pages {
                varint(&mut out, page.size);
                varint(&mut out, page.rows);
                varint(&mut out, page.nulls);
                varint(&mut out, page.bounds.is_some().into());
                for bound in page.bounds.iter().flat_map(|bounds| [&bounds.min, &bounds.max]) {
                    varint(&mut out, (bound.bytes.len() as u64) << 1 | u64::from(bound.exact));
                    out.extend_from_slice(&bound.bytes);
                }
            }
        }
    }
    out
}

/// Reads the row groups that [`write()`] took.
///
/// # Errors
/// [`Error::Internal`] when the bytes are no note of this encoder.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<RowGroupNote>, Error> {
    let mut reader = Reader { bytes };
    let groups = reader.list(Reader::group).filter(|_| reader.bytes.is_empty());
    groups.ok_or_else(|| Error::Internal("a part's note came back as something else".to_owned()))
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn group(&mut self) -> Option<RowGroupNote> {
        Some(RowGroupNote { rows: self.number()?, chunks: self.list(Self::chunk)? })
    }

    fn chunk(&mut self) -> Option<ColumnChunkNote> {
        let compressed = self.number()? != 0;
        Some(ColumnChunkNote {
            compressed,
            dictionary: self.number()?,
            plain: self.number()?,
            pages: self.list(Self::page)?,
        })
    }

    fn page(&mut self) -> Option<PageNote> {
        let (size, rows, nulls) = (self.number()?, self.number()?, self.number()?);
        let bounds = if self.number()? == 0 {
            None
        } else {
            Some(MinMax { min: self.bound()?, max: self.bound()? })
        };
        Some(PageNote { size, rows, nulls, bounds })
    }

    fn bound(&mut self) -> Option<MinMaxBound> {
        let length = self.number()?;
        let (bytes, rest) = self.bytes.split_at_checked(usize::try_from(length >> 1).ok()?)?;
        self.bytes = rest;
        Some(MinMaxBound { bytes: bytes.to_vec(), exact: length & 1 == 1 })
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| item(self)).collect()
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_note_comes_back_as_it_was_written() {
        let bound = |bytes: &[u8], exact| MinMaxBound { bytes: bytes.to_vec(), exact };
        let page = PageNote {
            size: 70_000,
            rows: 3,
            nulls: 1,
            bounds: Some(MinMax { min: bound(b"", true), max: bound(&[255; 64], false) }),
        };
        let empty = PageNote { size: 1, rows: u64::MAX, nulls: 0, bounds: None };
        let chunk = ColumnChunkNote {
            compressed: true,
            dictionary: 9,
            plain: 200,
            pages: vec![page, empty],
        };
        let groups = [
            RowGroupNote { rows: 3, chunks: vec![chunk, ColumnChunkNote::default()] },
            RowGroupNote { rows: 0, chunks: Vec::new() },
        ];
        let bytes = write(&groups);
        assert_eq!(read(&bytes).unwrap(), groups);
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(read(&[bytes, vec![0]].concat()).is_err());
    }
}
