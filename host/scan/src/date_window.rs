//! First row of a date in a file whose rows are sorted by date: statistics tell, and at most the
//! pages on the boundary are decoded, unless an earlier search left them in memory.

use std::ops::Range;

use parquet::file::page_index::column_index::ColumnIndexMetaData;

use crate::StorageFailure;
use crate::decode::{FileSource, ParquetFile, chunk_pages};
use crate::texts::Texts;

/// Text that stands for no date: rows without one, which a table of revisions may have, come first.
const NO_DATE: &[u8] = b"";

/// The first row whose date is not `before` the bound; the number of rows when there is none.
/// `before` must hold for a prefix of the sorted dates, and is asked about the empty text for a row
/// without one. It sees statistics too, which may be shortened: a least value that is too low or a
/// greatest that is too high costs a page more, never a wrong answer.
pub(crate) async fn partition_row(
    source: &FileSource,
    column: &str,
    before: impl Fn(&[u8]) -> bool,
) -> Result<u64, StorageFailure> {
    let parquet = &source.parquet;
    let leaf = parquet.column_index_by_name(column)?;
    for group in 0..parquet.metadata.num_row_groups() {
        let statistics = parquet.metadata.row_group(group).column(leaf).statistics();
        if statistics.and_then(|all| all.max_bytes_opt()).is_some_and(&before) {
            continue;
        }
        for page in page_bounds(parquet, group, leaf) {
            let at = |row: usize| parquet.start(group) + row as u64;
            if page.rows.is_empty() {
                continue;
            }
            if page.greatest.is_some_and(&before) {
                continue;
            }
            if page.least.is_some_and(|least| !before(least)) {
                return Ok(at(page.rows.start));
            }
            let earlier = count_before(source, group, leaf, page.rows.clone(), &before).await?;
            if earlier < page.rows.len() {
                return Ok(at(page.rows.start + earlier));
            }
        }
    }
    Ok(parquet.rows())
}

/// Neighbouring rows of a row group, with bounds of their values where the file has them.
struct PageBounds<'a> {
    rows: Range<usize>,
    least: Option<&'a [u8]>,
    greatest: Option<&'a [u8]>,
}

/// The pages of a column chunk; one for all of it where there is no page index.
fn page_bounds(
    parquet: &ParquetFile,
    group: usize,
    leaf: usize,
) -> impl Iterator<Item = PageBounds<'_>> {
    let end = parquet.rows_of(group);
    let index = parquet.metadata.page_index();
    let locations = chunk_pages(&parquet.metadata, group, leaf);
    let bounds = match index.and_then(|index| index.column_index(group, leaf)) {
        Some(ColumnIndexMetaData::BYTE_ARRAY(bounds)) => Some(bounds),
        _ => None,
    };
    let first = move |page: usize| {
        locations.get(page).and_then(|at| usize::try_from(at.first_row_index).ok())
    };
    (0..locations.len().max(1)).map(move |page| PageBounds {
        rows: first(page).unwrap_or(0)..first(page + 1).unwrap_or(end),
        // Bounds are those of the dates that there are.
        least: bounds.map(|bounds| {
            let least = bounds.min_value(page).filter(|_| bounds.null_count(page) == Some(0));
            least.unwrap_or(NO_DATE)
        }),
        greatest: bounds.map(|bounds| bounds.max_value(page).unwrap_or(NO_DATE)),
    })
}

/// Number of `rows` before the bound.
async fn count_before(
    source: &FileSource,
    group: usize,
    leaf: usize,
    rows: Range<usize>,
    before: impl Fn(&[u8]) -> bool,
) -> Result<usize, StorageFailure> {
    let damaged = |why: &str| {
        StorageFailure::damaged(&source.parquet.key, format!("row group {group}: {why}"))
    };
    let mut columns = source.columns(group, &[leaf], rows).await?;
    let dates = columns.pop().ok_or_else(|| damaged("no date column was decoded"))?;
    let dates = dates.whole().map_err(|why| damaged(&why.to_string()))?;
    let texts = Texts::new(&dates).map_err(|_| damaged("its dates are not text"))?;
    // Halving is enough, since dates are sorted.
    let (mut low, mut high) = (0, dates.len());
    while low < high {
        let middle = low.midpoint(high);
        if before(texts.get(middle).map_or(NO_DATE, str::as_bytes)) {
            low = middle + 1
        } else {
            high = middle
        }
    }
    Ok(low)
}
