//! Scans of long text, boundaries above all, that memory can hold. Their pages are kept: inflating
//! them takes longer than everything else that is done to them.

use super::batching::{long_text_column, range_bytes};
use super::read_task::is_divisible;
use crate::decode::{ParquetFile, Projection, ReadTaskLimits, RowRange, pages_covering};

/// Returns whether all of `ranges`, the read tasks of a scan, are of long text and together small
/// enough to be kept.
pub(super) fn is_kept(
    limits: ReadTaskLimits,
    parquet: &ParquetFile,
    projection: &Projection,
    mut ranges: impl Iterator<Item = RowRange>,
) -> bool {
    let mut bytes = 0_u64;
    ranges.all(|RowRange { group, rows, .. }| {
        bytes = bytes.saturating_add(range_bytes(parquet, projection, group, rows.len()));
        let has_pages = |(leaf, _)| {
            pages_covering(parquet, parquet.chunk_id(group, leaf), &rows).next().is_some()
        };
        bytes <= limits.kept_scan_bytes
            && long_text_column(parquet, projection, group).is_some_and(has_pages)
            && is_divisible(parquet, projection, group)
    })
}

/// Cuts `range`, which [`is_kept`], where pages of its long text end: no page is decoded for two
/// pieces. Each has half of [`ReadTaskLimits::kept_bytes`] at most once decoded, or one page: a
/// response that nobody reads holds one.
pub(super) fn cut(
    limits: ReadTaskLimits,
    parquet: &ParquetFile,
    projection: &Projection,
    range: RowRange,
) -> Vec<RowRange> {
    let RowRange { group, rows, .. } = range;
    let Some((leaf, decoded)) = long_text_column(parquet, projection, group) else {
        return vec![RowRange { group, rows, wanted: None }];
    };
    let compressed = parquet.compressed_bytes(group, &[leaf]);
    // Pages say what they have compressed; cells of one column compress alike.
    let most = (limits.kept_bytes / 2).saturating_mul(compressed) / decoded.max(1);
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (rows.start, 0);
    for page in pages_covering(parquet, parquet.chunk_id(group, leaf), &rows) {
        if bytes > 0 && bytes + page.bytes > most {
            pieces.push(RowRange { group, rows: start..page.rows.start, wanted: None });
            (start, bytes) = (page.rows.start, 0);
        }
        bytes += page.bytes;
    }
    pieces.push(RowRange { group, rows: start..rows.end, wanted: None });
    pieces
}
