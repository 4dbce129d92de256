//! Aligned columns for people.

/// Widest cell that columns are padded for, characters; a longer one shifts its own line only.
const MAX_CELL_WIDTH: usize = 60;

/// Rows under a header, left-aligned except the columns that hold numbers.
#[derive(Clone, Debug)]
pub struct TextTable {
    numeric: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Makes a table with these headings; one that starts with `#` heads a column of numbers.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        let numeric = headings.iter().map(|heading| heading.starts_with('#')).collect();
        let first =
            headings.iter().map(|heading| heading.trim_start_matches('#').to_uppercase()).collect();
        Self { numeric, rows: vec![first] }
    }

    /// Adds a row, with one cell for each heading.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| cell.replace(char::is_control, " ")).collect());
    }

    /// True for a table with nothing but its headings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// Renders the table as lines.
    #[must_use]
    pub fn render(&self) -> String {
        let widths: Vec<usize> = (0..self.numeric.len())
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.chars().count().min(MAX_CELL_WIDTH))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<String> =
                row.iter()
                    .zip(&self.numeric)
                    .zip(&widths)
                    .map(|((cell, numeric), width)| {
                        if *numeric { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
                    })
                    .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stands_left_and_numbers_right() {
        let mut table = TextTable::new(&["name", "#rows"]);
        table.row(["a".to_owned(), "1000".to_owned()]);
        table.row(["long_name".to_owned(), "7".to_owned()]);
        assert_eq!(table.render(), "NAME       ROWS\na          1000\nlong_name     7\n");
    }

    #[test]
    fn a_line_break_in_a_cell_breaks_no_line() {
        let mut table = TextTable::new(&["label"]);
        table.row(["a\nb".to_owned()]);
        assert_eq!(table.render(), "LABEL\na b\n");
    }
}
