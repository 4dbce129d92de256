//! The few rows that a page shows, with long texts cut (contract-9-latest-rows, contract-9-cuts).

use serde::{Deserialize, Serialize};

use super::Figure;

/// Rows at most.
pub const LATEST_ROWS: u64 = 5;

/// Characters of a text at most.
pub const MAX_CELL_CHARACTERS: usize = 200;

/// Columns at most.
pub const MAX_TABLE_COLUMNS: usize = 50;

/// Rows to show, geometry left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatestRows {
    /// Names of the columns, in the order of the table.
    pub columns: Vec<String>,
    /// Number of further columns besides geometry, for "and N more".
    pub columns_left_out: u64,
    /// True where the newest row comes first; false where the table has no date and these are its
    /// first rows.
    pub newest_first: bool,
    /// A cell a column.
    pub rows: Vec<Vec<PreviewCell>>,
}

/// A value to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewCell {
    /// Null, NaN or infinite, as `/preview` has it.
    Null,
    /// A number.
    Number(Figure),
    /// True or false.
    Boolean(bool),
    /// A whole text.
    Text(String),
    /// The beginning of a longer text.
    CutText(String),
}

impl PreviewCell {
    /// Returns the cell of `text`, cut at `characters`.
    #[must_use]
    pub fn of_text(text: &str, characters: usize) -> Self {
        match cut_text(text, characters) {
            beginning if beginning.len() < text.len() => Self::CutText(beginning.to_owned()),
            whole => Self::Text(whole.to_owned()),
        }
    }
}

/// Returns the first `characters` characters of `text`.
#[must_use]
pub fn cut_text(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(index, _)| index);
    text.split_at(end).0
}
