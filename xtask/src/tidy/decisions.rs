//! Records of decisions: each has a number, a title, and perhaps a line that says what became of
//! it. Owns the tables that list them, and the check that a cited one is there.

use std::collections::BTreeMap;

use super::{SourceTree, numbered};

/// Folder of the records, and below it that of those which only explain the past.
const FOLDER: &str = "docs/decisions/";
const HISTORY: &str = "history/";

/// Words that begin a line about what became of a decision.
const STATUS: [&str; 2] = ["Superseded ", "Extended "];

/// A record, by what a table shows of it.
struct DecisionRecord<'a> {
    number: &'a str,
    /// Path below [`FOLDER`].
    file: &'a str,
    title: &'a str,
    status: Vec<&'a str>,
}

/// Records without a title or with another one's number, and cited ones that do not exist.
pub(super) fn cited(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    let mut numbers = BTreeMap::new();
    for record in records(tree) {
        let path = format!("{FOLDER}{}", record.file);
        if record.title.is_empty() {
            faults.push(format!("{path}:1: a decision begins with `# {} Title`", record.number));
        }
        if numbers.insert(record.number, record.file).is_some() {
            faults.push(format!("{path}: another decision has the number {}", record.number));
        }
    }
    for (path, n, line) in tree.prose() {
        for (_, rest) in line.match_indices("decision ").map(|(at, _)| line.split_at(at + 9)) {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if number.len() == 4 && !numbers.contains_key(number.as_str()) {
                faults.push(format!("{path}:{n}: there is no decision {number}"));
            }
        }
    }
    faults
}

/// Table of the records that a reader needs.
pub(super) fn in_force(tree: &SourceTree) -> String {
    table(tree, |file| !file.starts_with(HISTORY))
}

/// Table of the records that explain the past.
pub(super) fn history(tree: &SourceTree) -> String {
    table(tree, |file| file.starts_with(HISTORY))
}

fn table(tree: &SourceTree, listed: impl Fn(&str) -> bool) -> String {
    let mut records = records(tree);
    records.sort_by_key(|record| record.number);
    let files: BTreeMap<&str, &str> = records.iter().map(|one| (one.number, one.file)).collect();
    let rows = records.iter().filter(|record| listed(record.file)).map(|record| {
        let status: Vec<String> = record.status.iter().map(|line| linked(line, &files)).collect();
        let (number, title, file) = (record.number, record.title, record.file);
        format!("| {number} | [{title}]({file}) | {} |\n", status.join(" "))
    });
    format!(
        "| number | decision | what became of it |\n|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

fn records(tree: &SourceTree) -> Vec<DecisionRecord<'_>> {
    let pages = tree.of_kind("md").filter_map(|(path, text)| {
        let file = path.strip_prefix(FOLDER).filter(|file| *file != "README.md")?;
        let number = file.trim_start_matches(HISTORY).split('-').next()?;
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.and_then(|title| title.strip_prefix(number)).unwrap_or_default();
        let head = numbered(text).take_while(|(n, line)| *n < 6 && !line.starts_with('-'));
        let is_status = |line: &&str| STATUS.iter().any(|word| line.starts_with(word));
        let status = head.map(|(_, line)| line).filter(is_status).collect();
        Some(DecisionRecord { number, file, title: title.trim(), status })
    });
    pages.collect()
}

/// A line with the numbers in brackets as links, as a page beside the records has them.
fn linked(line: &str, files: &BTreeMap<&str, &str>) -> String {
    let mut parts = line.split('[');
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(']').unwrap_or((part, ""));
        // The record's own link, if it has one there, leads from the record.
        let rest = match rest.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, behind)) => behind,
            None => rest,
        };
        let file = files.get(number).copied().unwrap_or_default();
        linked += &format!("[{number}]({file}){rest}");
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_titled_numbered_once_and_there() {
        let tree = SourceTree::from_files(&[
            ("docs/decisions/0001-a.md", "# 0001 A\n"),
            ("docs/decisions/0002-b.md", "# B\n"),
            ("docs/decisions/history/0001-c.md", "# 0001 C\n"),
            ("host/a.rs", "// decision 0001, decision 0003\n"),
        ]);
        assert_eq!(
            cited(&tree),
            [
                "docs/decisions/0002-b.md:1: a decision begins with `# 0002 Title`",
                "docs/decisions/history/0001-c.md: another decision has the number 0001",
                "host/a.rs:1: there is no decision 0003",
            ]
        );
    }

    #[test]
    fn a_table_has_titles_and_what_became_of_them() {
        let a = "# 0001 A `b`\n\nExtended by [0002](../0002-b.md), for c.\nText.\n\n[0002]: x\n";
        let tree = SourceTree::from_files(&[
            ("docs/decisions/history/0001-a.md", a),
            ("docs/decisions/0002-b.md", "# 0002 B\n\nText [0001].\n"),
        ]);
        let head = "| number | decision | what became of it |\n|---|---|---|\n";
        assert_eq!(in_force(&tree), format!("{head}| 0002 | [B](0002-b.md) |  |\n"));
        let row = "| 0001 | [A `b`](history/0001-a.md) | Extended by [0002](0002-b.md), for c. |\n";
        assert_eq!(history(&tree), format!("{head}{row}"));
    }
}
