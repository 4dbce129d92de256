//! `sort`, `first`, `last` and `bbox`, each validated by itself (contract-15-order,
//! contract-15-box).

use std::collections::HashSet;

use super::pairs::last_value;
use super::scalar;
use super::selection::{Sent, SeriesRows, SortName};
use crate::{BoundingBox, ValidationError};

/// Names in `sort` at most.
const MAX_SORT_NAMES: usize = 8;

/// Rows of each series that `first` and `last` give at most.
pub const MAX_SERIES_ROWS: u64 = 1_000;

/// Names of columns, each behind a `-` or not; blanks around a name are dropped, so that
/// `sort=+region` is `region`.
pub(super) fn parse_sort(raw: &str) -> Result<Sent<Vec<SortName>>, ValidationError> {
    let refuse = |sentence: &str| Err(ValidationError::value_error("sort", sentence, raw));
    let names = raw.bytes().filter(|byte| *byte == b',').count() + 1;
    if names > MAX_SORT_NAMES {
        return refuse(&format!("sort lists {names} names and may list {MAX_SORT_NAMES}"));
    }
    let name = |part: &str| {
        let part = part.trim();
        let (descending, column) = match part.strip_prefix('-') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, part),
        };
        SortName { column: column.to_owned(), descending }
    };
    let names: Vec<SortName> = raw.split(',').map(name).collect();
    if names.iter().any(|name| name.column.is_empty()) {
        return refuse(
            "sort must be names separated by commas, none of them empty; leave it out for the natural order",
        );
    }
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(name.column.as_str())) {
        return refuse(&format!("column '{}' is named twice", name.column));
    }
    Ok(Sent::new(raw, names))
}

/// `first` or `last`; both at once are a problem of `last`.
pub(super) fn parse_series_rows(
    pairs: &[(String, String)],
) -> Result<Option<Sent<SeriesRows>>, Vec<ValidationError>> {
    let rows = |name, kind: fn(u64) -> SeriesRows| {
        let count = |raw: &str| scalar::parse_positive(name, raw, MAX_SERIES_ROWS);
        let sent = |raw: &str| count(raw).map(|rows| Sent::new(raw, kind(rows)));
        last_value(pairs, name).map(sent).transpose()
    };
    match (rows("first", SeriesRows::First), rows("last", SeriesRows::Last)) {
        (Ok(None), Ok(None)) => Ok(None),
        (Ok(Some(rows)), Ok(None)) | (Ok(None), Ok(Some(rows))) => Ok(Some(rows)),
        (Ok(Some(_)), Ok(Some(last))) => {
            let sentence = "last cannot stand beside first; ask in two requests";
            Err(vec![ValidationError::value_error("last", sentence, &last.raw)])
        }
        (first, last) => Err(first.err().into_iter().chain(last.err()).collect()),
    }
}

/// Reads four numbers of degrees: west, south, east, north.
///
/// # Errors
/// `value_error` at `bbox` for what is no box on Earth.
pub fn parse_box(raw: &str) -> Result<Sent<BoundingBox>, ValidationError> {
    let refuse = |sentence: &str| Err(ValidationError::value_error("bbox", sentence, raw));
    let parts = raw.split(',').take(5).map(|part| scalar::parse_number("bbox", part).ok());
    let numbers: Option<Vec<f64>> = parts.collect();
    let Some(&[west, south, east, north]) = numbers.as_deref() else {
        return refuse("bbox is four numbers of degrees: west,south,east,north");
    };
    if [south, north].iter().any(|latitude| latitude.abs() > 90.0) {
        return refuse("latitudes of bbox lie between -90 and 90: west,south,east,north");
    }
    if [west, east].iter().any(|longitude| longitude.abs() > 180.0) {
        return refuse("longitudes of bbox lie between -180 and 180: west,south,east,north");
    }
    if south > north {
        return refuse("bbox has its south above its north: west,south,east,north");
    }
    // A zero has no sign: both spellings select the same rows, so they have one canonical text.
    let bbox = BoundingBox([west, south, east, north].map(|degrees| degrees + 0.0));
    Ok(Sent::new(raw, bbox))
}
