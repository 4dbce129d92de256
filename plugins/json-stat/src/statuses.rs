//! Statuses of cells (contract-21-json-stat-status). In the document they stand behind all values,
//! so each part leaves its own in its note for the tail, and no part depends on another. Their
//! bytes have a bound, which is judged before the first row.

use std::collections::BTreeMap;

use yearbook_sdk::text::json::Json;
use yearbook_sdk::text::{Dialect as _, render, unsigned};
use yearbook_sdk::{Batch, Error, Field, Note, Schema};

use crate::cube::Cube;

/// Bytes of all statuses at most: less than a host keeps of notes.
const MAX_BYTES: u64 = 12 << 20;

/// Bytes of a code of a column of which no codes are told.
const UNKNOWN_CODE: u64 = 100;

/// Bytes of an entry besides the number of its cell and its code: a comma, quotes and a colon.
const AROUND: u64 = 4;

/// Statuses of a response.
#[derive(Debug)]
pub(crate) struct Statuses {
    /// Position of the column that speaks of each metric, where one does.
    columns: Vec<Option<usize>>,
    /// Entries of the part, each behind a comma.
    note: Vec<u8>,
}

impl Statuses {
    /// Finds the columns, or declines where their statuses could be too many to be held.
    pub(crate) fn new(schema: &Schema, cube: &Cube) -> Result<Self, Error> {
        let names = cube.values.iter().map(|value| &schema.fields[*value].name);
        let columns: Vec<_> = names.map(|name| status_column(schema, name)).collect();
        let digits = u64::from(cube.cells.checked_ilog10().unwrap_or(0)) + 1;
        let each = cube.cells / columns.len().max(1) as u64;
        let bytes = columns
            .iter()
            .flatten()
            .map(|column| each.saturating_mul(AROUND + digits + longest(&schema.fields[*column])));
        if bytes.fold(0, u64::saturating_add) > MAX_BYTES
            && let Some(column) = columns.iter().flatten().next()
        {
            return Err(Error::UnsupportedSchema(format!(
                "the cube has {} cells, and their statuses could be more than are held; choose fewer values with `where`, `start` and `end`, or leave `{}` out of `columns`",
                cube.cells, schema.fields[*column].name
            )));
        }
        Ok(Self { columns, note: Vec::new() })
    }

    /// Returns whether a column is one of them.
    pub(crate) fn reads(&self, column: usize) -> bool {
        self.columns.contains(&Some(column))
    }

    /// Takes in the statuses of rows, whose first cells have these numbers.
    pub(crate) fn push(&mut self, batch: &Batch, cells: &[u64]) {
        for (metric, column) in (0..).zip(&self.columns) {
            let Some(column) = column.map(|column| batch.column(column)) else { continue };
            for (row, cell) in cells.iter().enumerate().filter(|(row, _)| column.is_valid(*row)) {
                self.note.extend_from_slice(b",\"");
                unsigned(cell + metric, &mut self.note);
                self.note.extend_from_slice(b"\":");
                render(&Json, &column, row, &mut self.note);
            }
        }
    }

    /// Entries of the part for the tail.
    pub(crate) fn note(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.note)
    }

    /// Appends the member with all statuses, behind a comma; nothing where no column has any.
    pub(crate) fn write(&self, notes: &[Note], out: &mut Vec<u8>) {
        if self.columns.iter().all(Option::is_none) {
            return;
        }
        out.extend_from_slice(br#","status":{"#);
        for (place, note) in notes.iter().enumerate() {
            // The first entry has no comma before it.
            out.extend_from_slice(note.bytes.get(usize::from(place == 0)..).unwrap_or_default());
        }
        out.push(b'}');
    }

    /// Labels of codes, where there are some.
    pub(crate) fn labels<'a>(&self, schema: &'a Schema) -> BTreeMap<&'a str, &'a str> {
        let codes =
            self.columns.iter().flatten().filter_map(|at| schema.fields[*at].codes.as_deref());
        let mut labels = BTreeMap::new();
        for code in codes.flatten() {
            if let Some(label) = &code.label {
                labels.entry(&*code.value).or_insert(&**label);
            }
        }
        labels
    }
}

/// Position of the column that speaks of the values of `of`: of several the one with codes of
/// CL_OBS_STATUS, else the first.
fn status_column(schema: &Schema, of: &str) -> Option<usize> {
    let speaks = |field: &Field| {
        // Names are snake_case, so nothing in this array of JSON is escaped.
        let mut names = field.metadata("yearbook.of").unwrap_or_default().split('"');
        field.metadata("yearbook.role") == Some("status") && names.any(|name| name == of)
    };
    let mut found: Vec<usize> =
        (0..schema.fields.len()).filter(|at| speaks(&schema.fields[*at])).collect();
    found.sort_by_key(|at| schema.fields[*at].metadata("yearbook.status") != Some("sdmx-obs"));
    found.first().copied()
}

/// Bytes of the longest code of a column, as JSON.
fn longest(field: &Field) -> u64 {
    let Some(codes) = field.codes.as_deref() else { return UNKNOWN_CODE };
    let length = |value: &str| {
        let mut text = Vec::new();
        Json.text(value.as_bytes(), &mut text);
        text.len() as u64
    };
    codes.iter().map(|code| length(&code.value)).max().unwrap_or_default()
}
