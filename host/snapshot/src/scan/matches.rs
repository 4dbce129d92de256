//! Which rows contain a needle, found by reading the dimension columns alone.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;
use parquet::arrow::ProjectionMask;

use super::steps::steps;
use crate::Failure;
use crate::read::{Needle, Opened, Piece, Search, Source, dictionary_only};

/// Rows decoded at a time while a needle is looked for.
const BATCH_ROWS: usize = 8192;

/// Rows looked at before whole steps are: a common needle with a small maximum is found in these.
const FIRST_ROWS: u64 = 16 << 10;

/// Rows that contain a needle.
pub(super) struct Found {
    /// The row of the file that the first bit of `rows` stands for.
    pub(super) from: u64,
    /// One bit a row looked at, the only thing kept of it: an eighth of a byte a row.
    pub(super) rows: BooleanBuffer,
    /// The first match past `max_rows`.
    pub(super) next: Option<u64>,
}

/// The first `max_rows` matches in `window`, and where the next one is.
pub(super) async fn find(source: &Source, window: Range<u64>, needle: Needle, max_rows: u64) -> Result<Found, Failure> {
    let opened = &source.opened;
    let mut rows = BooleanBufferBuilder::new(0);
    let mut left = usize::try_from(max_rows).unwrap_or(usize::MAX);
    let first = window.end.min(window.start.saturating_add(FIRST_ROWS));
    let parts = [window.start..first, first..window.end];
    let pieces = parts.into_iter().flat_map(|part| steps(source.steps, Arc::clone(opened), opened.dimensions.clone(), part));
    for piece in pieces {
        let at = opened.start(piece.group) + piece.rows.start as u64;
        let mask = in_piece(source, piece, needle.clone(), left).await?;
        match mask.set_indices().nth(left) {
            None => left -= mask.count_set_bits(),
            Some(index) => {
                rows.append_buffer(&mask.slice(0, index));
                return Ok(Found { from: window.start, rows: rows.finish(), next: Some(at + index as u64) });
            }
        }
        rows.append_buffer(&mask);
    }
    Ok(Found { from: window.start, rows: rows.finish(), next: None })
}

/// Which rows of `piece` match. Every row of it must be wanted. Once more than `enough` have been found, rows further
/// on are left unset.
pub(super) async fn in_piece(source: &Source, piece: Piece, needle: Needle, enough: usize) -> Result<BooleanBuffer, Failure> {
    let opened = &source.opened;
    let (group, length) = (piece.group, piece.rows.len());
    let columns = ProjectionMask::leaves(opened.metadata.file_metadata().schema_descr(), opened.dimensions.iter().copied());
    let Some(mut reader) = source.reader(&opened.filter, columns, piece, BATCH_ROWS).await? else {
        return Ok(BooleanBuffer::new_unset(length));
    };
    let mut search = Search::new(needle, opened.dimensions.len());
    let complete = dictionaries_are_complete(opened, group);
    let mut found = BooleanBufferBuilder::new(length);
    let mut matches = 0;
    // One job a batch, so that long searches take turns with other responses.
    loop {
        let job = move || match reader.next().transpose()? {
            None => Ok(None),
            Some(batch) => {
                let rows = search.rows(&batch)?;
                Ok(Some((reader, search, rows)))
            }
        };
        let Some((rest, searched, rows)) = source.on_worker(group, job).await? else { break };
        found.append_buffer(&rows);
        matches += rows.count_set_bits();
        (reader, search) = (rest, searched);
        if matches > enough || (complete && search.no_dictionary_matches()) {
            break;
        }
    }
    found.append_n(length.saturating_sub(found.len()), false);
    Ok(found.finish())
}

/// Whether the first batch of a row group brings every value of its dimensions in dictionaries.
fn dictionaries_are_complete(opened: &Opened, group: usize) -> bool {
    let chunks = opened.metadata.row_group(group);
    opened.dimensions.iter().all(|&leaf| dictionary_only(chunks.column(leaf)))
}
