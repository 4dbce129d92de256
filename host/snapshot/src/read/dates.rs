//! Where a date begins in a file whose rows are sorted by date: statistics tell, and at most the pages on the
//! boundary are decoded.

use std::ops::Range;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use super::{Opened, Piece, Source};
use crate::Failure;

/// Rows decoded at a time while a boundary is looked for.
const BATCH_ROWS: usize = 8192;

/// The first row whose date is not `before` the bound; the number of rows when there is none. `before` must hold
/// for a prefix of the sorted dates. It sees statistics too, which may be shortened: a least value that is too
/// low or a greatest that is too high costs a page more, never a wrong answer.
pub(super) async fn first_row(source: &Source, column: &str, before: impl Fn(&[u8]) -> bool) -> Result<u64, Failure> {
    let opened = &source.opened;
    let leaf = opened.leaf_named(column)?;
    for group in 0..opened.metadata.num_row_groups() {
        let statistics = opened.metadata.row_group(group).column(leaf).statistics();
        if statistics.and_then(|all| all.max_bytes_opt()).is_some_and(&before) {
            continue;
        }
        for page in pages(opened, group, leaf) {
            let at = |row: usize| opened.start(group) + row as u64;
            if page.greatest.is_some_and(&before) {
                continue;
            }
            if page.least.is_some_and(|least| !before(least)) {
                return Ok(at(page.rows.start));
            }
            let earlier = count(source, group, leaf, page.rows.clone(), &before).await?;
            if earlier < page.rows.len() {
                return Ok(at(page.rows.start + earlier));
            }
        }
    }
    Ok(opened.rows())
}

/// Neighbouring rows of a row group, with bounds of their values where the file has them.
struct Page<'a> {
    rows: Range<usize>,
    least: Option<&'a [u8]>,
    greatest: Option<&'a [u8]>,
}

/// The pages of a column chunk; one for all of it where there is no page index.
fn pages(opened: &Opened, group: usize, leaf: usize) -> impl Iterator<Item = Page<'_>> {
    let end = opened.rows_of(group);
    let index = opened.metadata.page_index();
    let locations = index.and_then(|index| index.page_locations(group, leaf)).map_or(&[][..], Vec::as_slice);
    let bounds = match index.and_then(|index| index.column_index(group, leaf)) {
        Some(ColumnIndexMetaData::BYTE_ARRAY(bounds)) => Some(bounds),
        _ => None,
    };
    let first = move |page: usize| locations.get(page).and_then(|at| usize::try_from(at.first_row_index).ok());
    (0..locations.len().max(1)).map(move |page| Page {
        rows: first(page).unwrap_or(0)..first(page + 1).unwrap_or(end),
        least: bounds.and_then(|bounds| bounds.min_value(page)),
        greatest: bounds.and_then(|bounds| bounds.max_value(page)),
    })
}

/// How many of `rows` are before the bound.
async fn count(source: &Source, group: usize, leaf: usize, rows: Range<usize>, before: impl Fn(&[u8]) -> bool) -> Result<usize, Failure> {
    let mask = ProjectionMask::leaves(source.opened.metadata.file_metadata().schema_descr(), [leaf]);
    let piece = Piece { group, rows, wanted: None };
    let mut reader = source.reader(&source.opened.output, mask, piece, BATCH_ROWS).await?;
    let mut count = 0;
    while let Some(rest) = reader.take() {
        let Some((rest, dates)) = source.batch(group, rest, plain_text).await? else { break };
        let dates = dates.as_string::<i32>();
        let earlier = (0..dates.len()).take_while(|&row| before(dates.value(row).as_bytes())).count();
        count += earlier;
        reader = (earlier == dates.len()).then_some(rest);
    }
    Ok(count)
}

fn plain_text(batch: RecordBatch) -> Result<arrow::array::ArrayRef, ParquetError> {
    let column = batch.columns().first().ok_or_else(|| ParquetError::General("no date column was decoded".to_owned()))?;
    Ok(cast(column, &DataType::Utf8)?)
}
