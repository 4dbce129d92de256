//! The latest rows of a preview, cell by cell.

use std::borrow::Cow;

use yearbook_domain::preview_facts::{LatestRows, PreviewCell};
use yearbook_domain::{ColumnType, Snapshot};

use super::NOTHING;
use crate::pages::figures::{count, counted};

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
        let rows = latest.rows.len() as u64;
        let kind = if latest.newest_first { "Latest" } else { "First" };
        Self {
            title: format!("{kind} {} of {}", counted(rows, "row", "rows"), count(snapshot.rows)),
            columns: latest
                .columns
                .iter()
                .map(|name| LatestColumn { name, is_number: is_number(name) })
                .collect(),
            rows: latest.rows.iter().map(|row| row.iter().map(CellView::new).collect()).collect(),
            left_out: (latest.columns_left_out > 0).then(|| {
                format!("and {} more", counted(latest.columns_left_out, "column", "columns"))
            }),
        }
    }
}

impl<'a> CellView<'a> {
    fn new(cell: &'a PreviewCell) -> Self {
        let plain = Self { text: NOTHING.into(), is_number: false, is_null: false, is_cut: false };
        match cell {
            PreviewCell::Null => Self { is_null: true, ..plain },
            // As it is: a year or a code has no separators.
            PreviewCell::Number(value) => {
                Self { text: value.to_string().into(), is_number: true, ..plain }
            }
            PreviewCell::Boolean(value) => {
                Self { text: if *value { "true" } else { "false" }.into(), ..plain }
            }
            PreviewCell::Text(text) => Self { text: text.into(), ..plain },
            PreviewCell::CutText(text) => Self { text: text.into(), is_cut: true, ..plain },
        }
    }
}
