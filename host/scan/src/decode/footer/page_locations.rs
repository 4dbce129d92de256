//! Locations of pages as a stored file gives them, validated before anything is read there: the
//! Parquet reader subtracts offsets that it believes.

use std::ops::Range;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::page_index::offset_index::PageLocation;

/// Locations of the pages of column `leaf` in row group `group`; `None` where the file has no
/// index.
pub(crate) fn chunk_pages(
    metadata: &ParquetMetaData,
    group: usize,
    leaf: usize,
) -> &[PageLocation] {
    let index = metadata.page_index();
    index.and_then(|index| index.page_locations(group, leaf)).map_or(&[][..], Vec::as_slice)
}

/// The first fault in the locations of chunks and pages in a file of `bytes`.
pub(super) fn fault(metadata: &ParquetMetaData, bytes: u64) -> Option<String> {
    for (group, of_group) in metadata.row_groups().iter().enumerate() {
        for (leaf, chunk) in of_group.columns().iter().enumerate() {
            let what = format!("column {leaf} of row group {group}");
            let Some(range) = chunk_range(chunk).filter(|range| range.end <= bytes) else {
                return Some(format!("{what} lies outside it"));
            };
            let (mut offset, mut row) = (range.start, 0);
            for (page, location) in chunk_pages(metadata, group, leaf).iter().enumerate() {
                let start = u64::try_from(location.offset).ok().filter(|start| *start >= offset);
                let length = u64::try_from(location.compressed_page_size).ok();
                let end = start
                    .zip(length)
                    .and_then(|(start, length)| start.checked_add(length))
                    .filter(|end| *end <= range.end);
                let Some(end) = end else {
                    return Some(format!("page {page} of {what} lies outside it"));
                };
                // The first page begins with the first row, and none is empty.
                let first = location.first_row_index;
                let expected = if page == 0 { first == 0 } else { first > row };
                if !expected || first >= of_group.num_rows() {
                    return Some(format!("page {page} of {what} begins with row {first}"));
                }
                (offset, row) = (end, first);
            }
        }
    }
    None
}

/// Bytes of a chunk, with its dictionary; `None` where a number is negative.
fn chunk_range(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let (start, length) =
        (u64::try_from(start).ok()?, u64::try_from(chunk.compressed_size()).ok()?);
    Some(start..start.checked_add(length)?)
}
