//! The template of every page that measuring writes: head, sections, tables and numbers. Owns the
//! layout; the words and the figures come from the parts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// A page in Markdown, written from its top to its end.
pub(crate) struct ReportPage(String);

impl ReportPage {
    /// A page with its title, the `command` that makes it, and the line about the `machine`.
    pub(crate) fn new(title: &str, command: &str, machine: &str) -> Self {
        Self(format!("# {title}\nMade by `{command}`, which replaces this page. {machine}\n"))
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, heading: &str) {
        let _ = write!(self.0, "\n## {heading}\n");
    }

    /// Adds paragraphs; right below the heading where they come first in a section.
    pub(crate) fn text(&mut self, text: &str) {
        let gap = if self.0.lines().last().is_some_and(|line| line.starts_with("## ")) {
            ""
        } else {
            "\n"
        };
        let _ = writeln!(self.0, "{gap}{}", text.trim_matches('\n'));
    }

    /// Adds a table.
    pub(crate) fn table(&mut self, table: &ReportTable) {
        let _ = write!(self.0, "\n{}", table.0);
    }

    /// The whole page.
    pub(crate) fn render(self) -> String {
        self.0
    }
}

/// Writes `page` to `path`, in place of an older one, and says so.
///
/// # Errors
/// Fails when the file cannot be written.
pub(crate) fn replace(path: &Path, page: &str) -> Result<()> {
    fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnAlign {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table in Markdown.
pub(crate) struct ReportTable(String);

impl ReportTable {
    /// A table without rows.
    pub(crate) fn new(columns: &[(&str, ColumnAlign)]) -> Self {
        let mut table = Self(String::new());
        table.row(columns.iter().map(|(heading, _)| *heading));
        let rules = columns.iter().map(|(_, align)| match align {
            ColumnAlign::Left => "---",
            ColumnAlign::Right => "--:",
        });
        let _ = writeln!(table.0, "|{}|", rules.collect::<Vec<_>>().join("|"));
        table
    }

    /// A table without rows whose first column is text and whose others are numbers.
    pub(crate) fn of_figures(headings: &[&str]) -> Self {
        let columns: Vec<(&str, ColumnAlign)> = headings
            .iter()
            .enumerate()
            .map(|(at, heading)| {
                (*heading, if at == 0 { ColumnAlign::Left } else { ColumnAlign::Right })
            })
            .collect();
        Self::new(&columns)
    }

    /// Adds a row.
    pub(crate) fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0 += "|";
        for cell in cells {
            // Writing to a string cannot fail.
            let _ = write!(self.0, " {} |", cell.as_ref());
        }
        self.0 += "\n";
    }
}

/// Formats a number with the three digits that count.
pub(crate) fn format_number(value: f64) -> String {
    match value.abs() {
        0.0..0.1 => format!("{value:.3}"),
        0.1..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        for (value, expected) in
            [(0.0123, "0.012"), (0.5, "0.50"), (9.876, "9.88"), (12.34, "12.3"), (1234.6, "1235")]
        {
            assert_eq!(format_number(value), expected);
        }
    }

    #[test]
    fn a_page_has_its_head_its_sections_and_its_tables() {
        let mut page = ReportPage::new("Title", "cargo xtask bench", "Machine: none.");
        page.text("Before.\n");
        page.section("Figures");
        page.text("Words.");
        let mut table = ReportTable::of_figures(&["case", "s"]);
        table.row(["one", "2.0"]);
        page.table(&table);
        page.text("\nAfter.\n");
        assert_eq!(
            page.render(),
            "# Title\nMade by `cargo xtask bench`, which replaces this page. Machine: none.\n\n\
            Before.\n\n## Figures\nWords.\n\n| case | s |\n|---|--:|\n| one | 2.0 |\n\nAfter.\n"
        );
    }
}
