//! Writes one column of a row group, page after page, and notes sizes for the footer.

use yearbook_sdk::Error;

use crate::bounds::MinMax;
use crate::compression::PageCompressor;
use crate::levels;
use crate::part_note::{ColumnChunkNote, PageNote};
use crate::thrift::Thrift;

/// Numbers of encodings.
pub(crate) const PLAIN: i32 = 0;
pub(crate) const RLE: i32 = 3;
pub(crate) const RLE_DICTIONARY: i32 = 8;
/// Numbers of page types.
pub(crate) const DATA_PAGE: i32 = 0;
pub(crate) const DICTIONARY_PAGE: i32 = 2;

/// Rows of a page at most: readers skip pages by the page index.
pub(crate) const PAGE_ROWS: usize = 16 * 1024;
/// Bytes of a page's values, unless a single row has more.
pub(crate) const PAGE_BYTES: usize = 1024 * 1024;

/// Rows of a page and which of them are not null.
pub(crate) struct PageRows<'a> {
    pub(crate) count: usize,
    pub(crate) nulls: usize,
    /// The page's own bitmap; `None` where no row is null.
    pub(crate) valid: Option<&'a [u8]>,
}

/// One column of a row group in the making.
pub(crate) struct ChunkWriter<'a> {
    out: &'a mut Vec<u8>,
    tools: &'a mut PageBuffers,
    optional: bool,
    keyed: bool,
    chunk: ColumnChunkNote,
}

/// Buffers that all columns share: a codec, and a page before it is compressed.
pub(crate) struct PageBuffers {
    pub(crate) press: PageCompressor,
    body: Vec<u8>,
}

impl PageBuffers {
    pub(crate) fn new(press: PageCompressor) -> Self {
        Self { press, body: Vec::new() }
    }
}

impl<'a> ChunkWriter<'a> {
    /// Begins a column. `optional`: whether the file's schema says that nulls may occur.
    pub(crate) fn new(
        out: &'a mut Vec<u8>,
        tools: &'a mut PageBuffers,
        optional: bool,
        compressed: bool,
    ) -> Self {
        Self {
            out,
            tools,
            optional,
            keyed: false,
            chunk: ColumnChunkNote { compressed, ..ColumnChunkNote::default() },
        }
    }

    /// The dictionary, before any data page. `values` appends them in the plain encoding.
    pub(crate) fn dictionary(
        &mut self,
        count: usize,
        sorted: bool,
        values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        self.keyed = true;
        self.tools.body.clear();
        values(&mut self.tools.body);
        self.chunk.dictionary = self.page(DICTIONARY_PAGE, |header| {
            header.nested(7, |header| {
                header.i32(1, to_i32(count));
                header.i32(2, PLAIN);
                header.bool(3, sorted);
            });
        })?;
        Ok(())
    }

    /// A data page. `values` appends those that are not null.
    pub(crate) fn data(
        &mut self,
        rows: &PageRows<'_>,
        bounds: Option<MinMax>,
        values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        self.tools.body.clear();
        if !self.optional && rows.nulls > 0 {
            return Err(Error::Internal(
                "there are nulls in a column whose schema forbids them".to_owned(),
            ));
        }
        if self.optional {
            levels::levels(&mut self.tools.body, rows.count, rows.nulls, rows.valid);
        }
        values(&mut self.tools.body);
        let encoding = if self.keyed { RLE_DICTIONARY } else { PLAIN };
        let size = self.page(DATA_PAGE, |header| {
            header.nested(5, |header| {
                header.i32(1, to_i32(rows.count));
                header.i32(2, encoding);
                header.i32(3, RLE);
                header.i32(4, RLE);
            });
        })?;
        self.chunk.pages.push(PageNote {
            size,
            rows: rows.count as u64,
            nulls: rows.nulls as u64,
            bounds,
        });
        Ok(())
    }

    /// Note of the chunk for the footer.
    pub(crate) fn finish(self) -> ColumnChunkNote {
        self.chunk
    }

    /// Appends header and body; returns their size.
    fn page(&mut self, kind: i32, rest: impl FnOnce(&mut Thrift<'_>)) -> Result<u64, Error> {
        let PageBuffers { press, body } = &mut *self.tools;
        let squeezed = if self.chunk.compressed { press.squeeze(body)? } else { body.as_slice() };
        let start = self.out.len();
        let mut header = Thrift::new(self.out);
        header.i32(1, kind);
        header.i32(2, to_i32(body.len()));
        header.i32(3, to_i32(squeezed.len()));
        rest(&mut header);
        header.end();
        let header = self.out.len() - start;
        self.out.extend_from_slice(squeezed);
        self.chunk.plain += (header + body.len()) as u64;
        Ok((header + squeezed.len()) as u64)
    }
}

/// Pages are far below 2 GiB: a row group's bytes are bounded, and a cell crosses in one batch.
fn to_i32(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
