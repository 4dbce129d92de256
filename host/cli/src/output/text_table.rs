//! Aligned columns for people.

use comfy_table::{CellAlignment, Row, Table, presets};

/// Spaces between two columns.
const GAP: u16 = 2;

/// Rows under a header, left-aligned except the columns that hold numbers.
#[derive(Clone, Debug)]
pub struct TextTable(Table);

impl TextTable {
    /// Makes a table with these headings; one that starts with `#` heads a column of numbers.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.set_header(headings.iter().map(|text| text.trim_start_matches('#').to_uppercase()));
        for (column, heading) in table.column_iter_mut().zip(headings) {
            if heading.starts_with('#') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self(table)
    }

    /// The same with rows, each of one cell for each heading.
    #[must_use]
    pub fn with_rows<const CELLS: usize>(
        mut self,
        rows: impl IntoIterator<Item = [String; CELLS]>,
    ) -> Self {
        self.0.add_rows(rows.into_iter().map(one_line));
        self
    }

    /// Renders the table as lines.
    #[must_use]
    pub fn render(self) -> String {
        render(self.0)
    }

    /// Renders the table, or `empty` in place of one without rows.
    #[must_use]
    pub fn render_or(self, empty: &str) -> String {
        if self.0.is_empty() { empty.to_owned() } else { self.render() }
    }
}

/// Renders names and what they stand for as two columns; one without a name goes on with the one
/// above it.
pub(crate) fn render_facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut table = Table::new();
    for (name, value) in facts {
        table.add_row(one_line([name.to_owned(), value]));
    }
    render(table)
}

fn one_line(cells: impl IntoIterator<Item = String>) -> Row {
    cells.into_iter().map(|cell| cell.replace(char::is_control, " ")).into()
}

fn render(mut table: Table) -> String {
    table.load_style(presets::NOTHING);
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stands_left_and_numbers_right() {
        let rows = [("a", "1000"), ("long_name", "7")].map(|(name, rows)| [name, rows]);
        let rows = rows.map(|cells| cells.map(str::to_owned));
        let table = TextTable::new(&["name", "#rows"]).with_rows(rows);
        assert_eq!(table.render(), "NAME       ROWS\na          1000\nlong_name     7\n");
    }

    #[test]
    fn a_line_break_in_a_cell_breaks_no_line() {
        let table = TextTable::new(&["label"]);
        assert_eq!(table.clone().render_or("Nothing."), "Nothing.");
        let table = table.with_rows([["a\nb".to_owned()]]);
        assert_eq!(table.render_or("Nothing."), "LABEL\na b\n");
    }

    #[test]
    fn facts_stand_beside_their_names() {
        let facts = [("name", "parks".to_owned()), ("source", "日本".to_owned())];
        assert_eq!(render_facts(facts), "name    parks\nsource  日本\n");
    }
}
