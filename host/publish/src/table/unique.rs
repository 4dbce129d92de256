//! The primary key is unique (contract-7-key): each row that repeats an earlier one's key is named
//! together with it.

use arrow::error::ArrowError;
use arrow::util::display::array_value_to_string;

use super::PackageTable;
use super::row_order::{RowPosition, SortKeys, file_order};
use crate::faults::FaultList;

/// Reports rows whose key columns (positions) equal those of an earlier row. Costs a sort of its
/// own: the snapshot's order begins with the date column, which need not be part of the key.
pub(crate) fn check(
    table: &PackageTable,
    key: &[usize],
    faults: &mut FaultList,
) -> Result<(), ArrowError> {
    if key.is_empty() {
        return Ok(());
    }
    let keys = SortKeys::new(table, key)?;
    let mut places = file_order(table)?;
    // Strictly ascending keys cannot repeat.
    if places.is_sorted_by(|a, b| keys.row(*a) < keys.row(*b)) {
        return Ok(());
    }
    keys.sort(&mut places);
    let mut first = None;
    let mut repeats: Vec<(RowPosition, RowPosition)> = Vec::new();
    let mut total = 0_usize;
    for place in places {
        match first {
            Some(earlier) if keys.row(earlier) == keys.row(place) => {
                total += 1;
                if repeats.len() < crate::faults::MAX_LISTED {
                    repeats.push((earlier, place));
                }
            }
            _ => first = Some(place),
        }
    }
    report_repeats(table, key, &repeats, total, faults)
}

fn report_repeats(
    table: &PackageTable,
    key: &[usize],
    repeats: &[(RowPosition, RowPosition)],
    total: usize,
    faults: &mut FaultList,
) -> Result<(), ArrowError> {
    let names: Vec<&str> = key
        .iter()
        .filter_map(|column| table.schema.fields().get(*column))
        .map(|field| field.name().as_str())
        .collect();
    let names = names.join(", ");
    for (earlier, later) in repeats {
        let values = key
            .iter()
            .map(|column| format_value(table, *later, *column))
            .collect::<Result<Vec<_>, _>>()?
            .join(", ");
        let earlier = row_number(table, *earlier);
        faults.between(row_number(table, *later), &names, || {
            format!("repeats the primary key ({values}) of row {earlier}")
        });
    }
    faults.add_unlisted((total - repeats.len()) as u64);
    Ok(())
}

fn row_number(table: &PackageTable, (chunk, row): RowPosition) -> u64 {
    table.chunks.get(chunk as usize).map_or(0, |chunk| chunk.first_row + u64::from(row))
}

fn format_value(
    table: &PackageTable,
    (chunk, row): RowPosition,
    column: usize,
) -> Result<String, ArrowError> {
    let array =
        table.chunks.get(chunk as usize).and_then(|chunk| chunk.batch.columns().get(column));
    array.map_or_else(|| Ok(String::new()), |array| array_value_to_string(array, row as usize))
}
