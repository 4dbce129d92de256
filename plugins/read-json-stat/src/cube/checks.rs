//! Checks of a document: its version, its dimensions with their categories, and its values and
//! statuses against the cells that the sizes make.

use std::collections::{BTreeMap, BTreeSet};

use yearbook_sdk::generator::Role;
use yearbook_sdk::reader::{FilePlace, ReadRefusal};

use crate::cells::MAX_CELLS;
use crate::document::{Categories, Document};

/// A dimension, checked.
pub(super) struct Dimension {
    pub(super) id: String,
    pub(super) label: Option<String>,
    /// Code and label of each category, in order.
    pub(super) categories: Vec<(String, Option<String>)>,
    /// Base, label and symbol of the unit of the only category.
    pub(super) unit: Option<[Option<String>; 3]>,
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
        let Some(mut entry) = document.dimensions.remove(id) else {
            return Err(ReadRefusal::malformed(
                FilePlace::path("$.dimension"),
                format!("has no dimension {id:?}, which $.id names"),
            ));
        };
        let mut units = std::mem::take(&mut entry.categories.units);
        let categories = order_categories(entry.categories, *size).map_err(|why| {
            let path = format!("$.dimension.{id}.category");
            ReadRefusal::malformed(FilePlace::path(path), why)
        })?;
        let unit = match &categories[..] {
            [(code, _)] => units.remove(code),
            _ => None,
        };
        let role = if document.time.contains(id) { Role::Period } else { Role::Dimension };
        dimensions.push(Dimension { id: id.clone(), label: entry.label, categories, unit, role });
    }
    Ok(dimensions)
}

/// Code and label of each category, in order. Without an index, which may be left out where there
/// is one category, the order is that of the labels in the file, as in other software for
/// JSON-stat.
fn order_categories(
    categories: Categories,
    size: u64,
) -> Result<Vec<(String, Option<String>)>, String> {
    let Categories { order, positions, labels, .. } = categories;
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
        labels.iter().map(|(code, _)| code.clone()).collect()
    };
    let mut known = BTreeSet::new();
    if let Some(code) = codes.iter().find(|code| !known.insert(*code)) {
        return Err(format!("has the code {code:?} twice"));
    }
    if u64::try_from(codes.len()).ok() != Some(size) {
        return Err(format!("has {} categories where $.size says {size}", codes.len()));
    }
    let mut by_code = BTreeMap::new();
    for (code, label) in labels {
        if let Some(other) = by_code.insert(code.clone(), label) {
            return Err(format!("labels {code:?} twice, first as {other:?}"));
        }
    }
    Ok(codes.into_iter().map(|code| (by_code.remove(&code), code)).map(|(l, c)| (c, l)).collect())
}

/// Checks values and statuses against the cube, and puts sparse ones in its order.
pub(super) fn check_values(
    document: &mut Document,
    cells: u64,
    keep_missing: bool,
) -> Result<(), ReadRefusal> {
    check_statuses(document, cells)
        .map_err(|why| ReadRefusal::malformed(FilePlace::path("$.status"), why))?;
    document
        .cells
        .check(cells)
        .map_err(|why| ReadRefusal::malformed(FilePlace::path("$.value"), why))?;
    if keep_missing && cells > MAX_CELLS as u64 {
        return Err(ReadRefusal::unsupported(
            FilePlace::path("$.size"),
            format!("makes {cells} cells, and `missing` is keep; leave missing cells out"),
        ));
    }
    Ok(())
}

/// Checks the statuses. An array of one stands for every cell, as a text does: the specification
/// keeps that of older versions.
fn check_statuses(document: &mut Document, cells: u64) -> Result<(), String> {
    match document.status_entries {
        Some(1) => document.common_status = document.statuses.remove(&0),
        Some(entries) if entries != 0 && entries != cells => {
            return Err(format!(
                "has {entries} entries where $.size makes {cells} cells; write one for each, or one text for all"
            ));
        }
        _ => {}
    }
    match document.statuses.keys().next_back().filter(|cell| **cell >= cells) {
        Some(cell) => Err(format!("has a cell {cell} of {cells}")),
        None => Ok(()),
    }
}
