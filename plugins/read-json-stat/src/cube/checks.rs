//! Checks of a document: its version, its dimensions with their categories, and its values and
//! statuses against the cells that the sizes make.

use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{FilePlace, ReadRefusal};

use crate::document::{Categories, Document, MAX_CELLS, Values};

/// A dimension, checked.
pub(super) struct Dimension {
    pub(super) id: String,
    pub(super) label: Option<String>,
    /// Code and label of each category, in order.
    pub(super) categories: Vec<(String, Option<String>)>,
    pub(super) role: Role,
}

pub(super) fn check_class(document: &Document) -> Result<(), ReadRefusal> {
    let old = document.version.as_deref().is_some_and(|version| version.starts_with(['0', '1']));
    let class = document.class.as_deref();
    let sentence = match class {
        Some("dataset") if !old => return Ok(()),
        _ if old || (class.is_none() && document.old) => {
            "is JSON-stat before 2.0; ask the source for version 2.0".to_owned()
        }
        Some(class) => format!("is {class:?}; only the class dataset is a table"),
        None => "is missing; a file of JSON-stat 2.0 has \"class\": \"dataset\"".to_owned(),
    };
    Err(ReadRefusal::unsupported(FilePlace::path("$.class"), sentence))
}

/// Cells of the cube.
pub(super) fn count_cells(document: &Document) -> Result<u64, ReadRefusal> {
    let Document { ids, sizes, .. } = document;
    let malformed =
        |path: &str, sentence: String| Err(ReadRefusal::malformed(FilePlace::path(path), sentence));
    if ids.is_empty() {
        return malformed("$.id", "is missing or empty; it lists the dimensions".to_owned());
    }
    if ids.len() != sizes.len() {
        let sentence = format!("has {} entries where $.id has {}", sizes.len(), ids.len());
        return malformed("$.size", sentence);
    }
    for (at, id) in ids.iter().enumerate() {
        if ids[..at].contains(id) {
            return malformed(&format!("$.id[{at}]"), format!("{id:?} is named twice"));
        }
    }
    let cells = sizes.iter().try_fold(1_u64, |cells, size| cells.checked_mul(*size));
    let Some(cells) = cells else {
        return malformed("$.size", "makes more cells than can be counted".to_owned());
    };
    if cells == 0 {
        return malformed("$.size", "has a dimension without categories".to_owned());
    }
    Ok(cells)
}

pub(super) fn check_dimensions(document: &mut Document) -> Result<Vec<Dimension>, ReadRefusal> {
    let mut dimensions = Vec::with_capacity(document.ids.len());
    for (id, size) in document.ids.iter().zip(&document.sizes) {
        let Some(entry) = document.dimensions.remove(id) else {
            return Err(ReadRefusal::malformed(
                FilePlace::path("$.dimension"),
                format!("has no dimension {id:?}, which $.id names"),
            ));
        };
        let categories = order_categories(entry.categories, *size).map_err(|why| {
            let path = format!("$.dimension.{id}.category");
            ReadRefusal::malformed(FilePlace::path(path), why)
        })?;
        let role = if document.time.contains(id) { Role::Period } else { Role::Dimension };
        dimensions.push(Dimension { id: id.clone(), label: entry.label, categories, role });
    }
    Ok(dimensions)
}

/// Code and label of each category, in order. An index may be left out where there is one category.
fn order_categories(
    categories: Categories,
    size: u64,
) -> Result<Vec<(String, Option<String>)>, String> {
    let Categories { order, positions, mut labels, .. } = categories;
    let codes = if !order.is_empty() {
        order
    } else if !positions.is_empty() {
        let mut codes = vec![None; positions.len()];
        for (code, position) in positions {
            let place = usize::try_from(position).ok().and_then(|at| codes.get_mut(at));
            match place {
                Some(place @ None) => *place = Some(code),
                Some(Some(other)) => {
                    return Err(format!("gives {other:?} and {code:?} the position {position}"));
                }
                None => return Err(format!("gives {code:?} the position {position} of {size}")),
            }
        }
        codes.into_iter().flatten().collect()
    } else {
        labels.keys().cloned().collect()
    };
    if u64::try_from(codes.len()).ok() != Some(size) {
        return Err(format!("has {} categories where $.size says {size}", codes.len()));
    }
    Ok(codes.into_iter().map(|code| (labels.remove(&code), code)).map(|(l, c)| (c, l)).collect())
}

/// Checks values and statuses against the cube, and puts sparse ones in its order.
pub(super) fn check_values(
    document: &mut Document,
    cells: u64,
    keep_missing: bool,
) -> Result<(), ReadRefusal> {
    let malformed =
        |path: &str, sentence: String| Err(ReadRefusal::malformed(FilePlace::path(path), sentence));
    let beyond = document.statuses.keys().next_back().filter(|cell| **cell >= cells);
    if let Some(cell) = beyond {
        return malformed("$.status", format!("has a cell {cell} of {cells}"));
    }
    match &mut document.values {
        Values::Missing => malformed("$.value", "is missing".to_owned()),
        Values::Dense { numbers, .. } => {
            if u64::try_from(numbers.len()).ok() == Some(cells) {
                return Ok(());
            }
            let found = numbers.len();
            malformed("$.value", format!("has {found} values where $.size makes {cells} cells"))
        }
        Values::Sparse(found) => {
            // Cells with a text have their place among the numbers.
            found.extend(document.texts.keys().map(|cell| (*cell, f64::NAN)));
            found.sort_unstable_by_key(|(cell, _)| *cell);
            if let Some((cell, _)) = found.last().filter(|(cell, _)| *cell >= cells) {
                return malformed("$.value", format!("has a cell {cell} of {cells}"));
            }
            if let Some(twice) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return malformed("$.value", format!("has the cell {} twice", twice[0].0));
            }
            if keep_missing {
                document.values = fill(std::mem::take(found), cells)?;
            }
            Ok(())
        }
    }
}

/// Every cell of a sparse cube.
fn fill(found: Vec<(u64, f64)>, cells: u64) -> Result<Values, ReadRefusal> {
    let count = usize::try_from(cells).ok().filter(|count| *count <= MAX_CELLS);
    let Some(count) = count else {
        return Err(ReadRefusal::unsupported(
            FilePlace::path("$.size"),
            format!("makes {cells} cells, and `missing` is keep; leave missing cells out"),
        ));
    };
    let (mut numbers, mut valid) = (vec![0.0; count], vec![false; count]);
    for (cell, number) in found {
        if let Ok(at) = usize::try_from(cell) {
            numbers[at] = number;
            valid[at] = !number.is_nan();
        }
    }
    Ok(Values::Dense { numbers, valid })
}
