//! Locations of the pages of a column chunk, as the index of its file has them.

use std::ops::Range;

use super::footer::{ColumnChunkId, ParquetFile, chunk_pages};

/// A page of a column chunk.
pub(crate) struct PageLocation {
    /// Number of the page in its chunk.
    pub(crate) page: usize,
    /// Rows of the row group.
    pub(crate) rows: Range<usize>,
    /// Compressed bytes.
    pub(crate) bytes: u64,
}

/// The pages of a chunk that hold `rows`; none where the file has no index of them.
pub(crate) fn pages_covering(
    parquet: &ParquetFile,
    chunk: ColumnChunkId,
    rows: &Range<usize>,
) -> impl Iterator<Item = PageLocation> + Clone {
    let locations = chunk_pages(&parquet.metadata, chunk.group, chunk.leaf);
    let start = move |page: usize| {
        let first = locations.get(page).and_then(|page| usize::try_from(page.first_row_index).ok());
        first.unwrap_or_else(|| parquet.rows_of(chunk.group))
    };
    let after = locations.partition_point(|page| {
        usize::try_from(page.first_row_index).is_ok_and(|first| first <= rows.start)
    });
    let location =
        move |(page, location): (usize, &parquet::file::page_index::offset_index::PageLocation)| {
            let bytes = u64::try_from(location.compressed_page_size).unwrap_or(u64::MAX);
            PageLocation { page, rows: start(page)..start(page + 1), bytes }
        };
    let first = after.saturating_sub(1);
    let pages = (first..).zip(locations.get(first..).unwrap_or_default());
    let end = rows.end;
    pages.map(location).take_while(move |page| page.rows.start < end)
}
