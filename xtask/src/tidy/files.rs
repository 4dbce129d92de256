//! Checks of files as such: widths of lines, build products.

use super::{SourceTree, numbered};

/// Columns of a line of Rust.
const RUST_COLUMNS: usize = 100;

/// Columns of a line of Markdown.
pub(super) const MARKDOWN_COLUMNS: usize = 120;

/// Pages whose lines a program writes.
const WRITTEN_PAGES: [&str; 4] =
    ["docs/benchmarks.md", "docs/scale.md", "docs/reliability.md", "docs/hostile-clients.md"];

/// Ends of names of files that a build makes.
const BUILT: [&str; 8] = [".pyc", ".pyo", ".o", ".a", ".so", ".rlib", ".profraw", ".wasm"];

/// Folders of components that were released, and are read by tests for ever.
const RELEASED: [&str; 1] = ["tests/fixtures/"];

/// Lines that are too wide to read beside another file. A line with a string or an address in it
/// may be wider, since neither can be broken; so may a row of a table.
pub(super) fn widths(tree: &SourceTree) -> Vec<String> {
    let rust = tree.of_kind("rs").flat_map(|(path, text)| {
        numbered(text)
            .filter(|(_, line)| {
                line.chars().count() > RUST_COLUMNS
                    && line.trim_start().starts_with("//")
                    && !line.contains("://")
            })
            .map(move |(n, _)| format!("{path}:{n}: the line has more than {RUST_COLUMNS} columns"))
    });
    let markdown = tree.of_kind("md").filter(|(path, _)| !WRITTEN_PAGES.contains(path));
    let markdown = markdown.flat_map(|(path, text)| {
        let mut fenced = false;
        numbered(text)
            .filter(move |(_, line)| {
                fenced ^= line.starts_with("```");
                line.chars().count() > MARKDOWN_COLUMNS
                    && !fenced
                    && !line.starts_with('|')
                    && !line.starts_with("    ")
                    && !line.contains("](")
                    && !line.contains("://")
            })
            .map(move |(n, _)| {
                format!("{path}:{n}: the line has more than {MARKDOWN_COLUMNS} columns")
            })
    });
    rust.chain(markdown).collect()
}

/// Files that a build makes and git should not hold.
pub(super) fn build_products(tree: &SourceTree) -> Vec<String> {
    tree.files
        .iter()
        .filter(|path| BUILT.iter().any(|end| path.ends_with(end)) || path.contains("__pycache__/"))
        .filter(|path| !RELEASED.iter().any(|folder| path.starts_with(folder)))
        .map(|path| format!("{path}: git holds what a build makes; `git rm --cached` it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lines_are_named_unless_they_cannot_be_broken() {
        let (wide, cell) = ("x ".repeat(60), "| x ".repeat(60));
        let text = format!("// {wide}\nlet a = {wide};\n// https://a/{wide}\n");
        let tree = SourceTree::from_files(&[
            ("host/a.rs", &text),
            ("docs/a.md", &format!("{wide}{wide}\n{cell}")),
        ]);
        let faults = widths(&tree);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("host/a.rs:1:") && faults[1].starts_with("docs/a.md:1:"));
    }

    #[test]
    fn what_a_build_makes_is_named() {
        let tree = SourceTree::from_files(&[
            ("a/__pycache__/b.txt", ""),
            ("plugins/dist/json.wasm", ""),
            ("tests/fixtures/1.0.0/json.wasm", ""),
            ("host/a.rs", ""),
        ]);
        assert_eq!(build_products(&tree).len(), 2);
    }
}
