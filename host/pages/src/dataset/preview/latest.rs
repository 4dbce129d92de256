//! The latest rows of a preview, cell by cell.

use std::borrow::Cow;

use yearbook_domain::preview_facts::{Figure, LatestRows, PreviewCell};
use yearbook_domain::{ColumnRole, ColumnType, Snapshot};

use super::NOTHING;
use crate::figures::{and_more, code, count, counted, figure};

/// The latest rows, or the first ones.
pub(crate) struct LatestView<'a> {
    pub(crate) title: String,
    pub(crate) columns: Vec<LatestColumn<'a>>,
    pub(crate) rows: Vec<Vec<CellView<'a>>>,
    /// "and 12 more columns".
    pub(crate) left_out: Option<String>,
}

/// Head of a column.
pub(crate) struct LatestColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_number: bool,
}

/// A cell.
pub(crate) struct CellView<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) is_number: bool,
    pub(crate) is_null: bool,
    pub(crate) is_cut: bool,
}

impl<'a> LatestView<'a> {
    pub(super) fn new(latest: &'a LatestRows, snapshot: &'a Snapshot) -> Self {
        let is_number = |name: &str| {
            snapshot.column(name).is_some_and(|column| {
                matches!(column.column_type, ColumnType::Integer | ColumnType::Number)
            })
        };
        // A year or a code has no separators; a measured value is printed as its figures are.
        let print: Vec<fn(Figure) -> String> = latest
            .columns
            .iter()
            .map(|name| match snapshot.column(name) {
                Some(column) if column.role == ColumnRole::Value => figure,
                _ => code,
            })
            .collect();
        let rows = latest.rows.len() as u64;
        let kind = if latest.newest_first { "Latest" } else { "First" };
        Self {
            title: format!("{kind} {} of {}", counted(rows, "row", "rows"), count(snapshot.rows)),
            columns: latest
                .columns
                .iter()
                .map(|name| LatestColumn { name, is_number: is_number(name) })
                .collect(),
            rows: latest
                .rows
                .iter()
                .map(|row| row.iter().zip(&print).map(CellView::new).collect())
                .collect(),
            left_out: and_more(latest.columns_left_out, "column", "columns"),
        }
    }
}

impl<'a> CellView<'a> {
    fn new((cell, print): (&'a PreviewCell, &fn(Figure) -> String)) -> Self {
        let plain = Self { text: NOTHING.into(), is_number: false, is_null: false, is_cut: false };
        match cell {
            PreviewCell::Null => Self { is_null: true, ..plain },
            PreviewCell::Number(value) => {
                Self { text: print(*value).into(), is_number: true, ..plain }
            }
            PreviewCell::Boolean(value) => {
                Self { text: if *value { "true" } else { "false" }.into(), ..plain }
            }
            PreviewCell::Text(text) => Self { text: text.into(), ..plain },
            PreviewCell::CutText(text) => Self { text: text.into(), is_cut: true, ..plain },
        }
    }
}
