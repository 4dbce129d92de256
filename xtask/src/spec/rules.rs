//! The specification as it is written: pages in Markdown, with rules as rows of tables,
//! `| id | wording | proof |`. Owns their form; does not know which tests exist.

use std::collections::HashSet;

/// First cell of a table's header that makes its rows rules.
const HEADER: &str = "Rule";

/// Columns of a row.
const CELLS: usize = 3;

/// Beginning of a proof that is still missing.
const WAITS: &str = "waits:";

/// File name of the page that lists all others.
const INDEX: &str = "README.md";

/// One page of the specification.
#[derive(Debug)]
pub(super) struct SpecPage {
    /// Path below the top of the source tree.
    pub(super) path: String,
    pub(super) text: String,
}

/// One testable sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) wording: String,
    pub(super) backing: Backing,
    /// Page and line, from 1: `docs/spec/rows.md:7`.
    pub(super) place: String,
}

/// Tests of a rule, or the reason for their absence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// Names of tests, each perhaps led by `<file or folder>::`.
    Tests(Vec<String>),
    /// No test yet, and the reason.
    Waits(String),
}

/// The rules of all pages, and their faults by page and line.
pub(super) fn parse(pages: &[SpecPage]) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut faults) = (Vec::new(), unlisted(pages));
    let mut ids = HashSet::new();
    for page in pages {
        // First cell of the table that the line is in.
        let mut header = None;
        for (index, line) in page.text.lines().enumerate() {
            let Some(cells) = cells(line) else {
                header = None;
                continue;
            };
            let place = format!("{}:{}", page.path, index + 1);
            match header {
                None if !is_id(cells[0]) => header = Some(cells[0]),
                Some(HEADER) if cells[0].starts_with("---") => {}
                Some(HEADER) => match rule(&cells, &place) {
                    Ok(rule) => {
                        if !ids.insert(rule.id.clone()) {
                            faults.push(format!("{place}: {} stands here a second time", rule.id));
                        }
                        rules.push(rule);
                    }
                    Err(fault) => faults.push(format!("{place}: {fault}")),
                },
                _ if is_id(cells[0]) => faults.push(format!(
                    "{place}: {} stands in a table whose header does not begin with '{HEADER}'",
                    cells[0]
                )),
                _ => {}
            }
        }
    }
    (rules, faults)
}

/// Pages that the index does not link to; nothing where there is no index.
fn unlisted(pages: &[SpecPage]) -> Vec<String> {
    let name = |page: &SpecPage| page.path.rsplit('/').next().unwrap_or_default().to_owned();
    let Some(index) = pages.iter().find(|page| name(page) == INDEX) else { return Vec::new() };
    let is_listed =
        |page: &SpecPage| name(page) == INDEX || index.text.contains(&format!("]({})", name(page)));
    let unlisted = pages.iter().filter(|page| !is_listed(page));
    unlisted.map(|page| format!("{} is not listed in {}", page.path, index.path)).collect()
}

/// Cells of a table's row; nothing for any other line.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// The rule in a row, or a sentence about its fault.
fn rule(cells: &[&str], place: &str) -> Result<Rule, String> {
    let id = cells[0];
    if !is_id(id) {
        return Err(format!(
            "'{id}' is no id; spell it spec-<section>-<word> or contract-<section>-<word>"
        ));
    }
    if cells.len() != CELLS || cells[1].is_empty() {
        return Err(format!("{id} needs an id, a sentence and a proof, and no other '|'"));
    }
    let Some(backing) = backing(cells[2]) else {
        return Err(format!("{id} has neither tests in backticks nor '{WAITS} <reason>'"));
    };
    Ok(Rule { id: id.to_owned(), wording: cells[1].to_owned(), backing, place: place.to_owned() })
}

/// Form of an id, as in `spec-4.1-cap` and `contract-2-order`: source, section, a word or more.
fn is_id(cell: &str) -> bool {
    let Some((source, rest)) = cell.split_once('-') else { return false };
    let Some((section, word)) = rest.split_once('-') else { return false };
    let word_like = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    matches!(source, "spec" | "contract")
        && section.starts_with(|c: char| c.is_ascii_digit())
        && section.chars().all(|c| c.is_ascii_digit() || c == '.')
        && !word.is_empty()
        && word.chars().all(word_like)
}

fn backing(cell: &str) -> Option<Backing> {
    if let Some(reason) = cell.strip_prefix(WAITS) {
        let reason = reason.trim();
        return (!reason.is_empty()).then(|| Backing::Waits(reason.to_owned()));
    }
    let names: Option<Vec<String>> = cell
        .split(',')
        .map(|name| Some(name.trim().strip_prefix('`')?.strip_suffix('`')?.to_owned()))
        .collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_:-".contains(c))
    };
    names.filter(|names| names.iter().all(is_name)).map(Backing::Tests)
}

#[cfg(test)]
impl SpecPage {
    /// A page with `rows` in a table of rules; the first row is on line 3.
    pub(super) fn of_rules(rows: &str) -> Self {
        Self {
            path: "spec/a.md".to_owned(),
            text: format!("| Rule | Says | Proved by |\n|---|---|---|\n{rows}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_rows(rows: &str) -> (Vec<Rule>, Vec<String>) {
        parse(&[SpecPage::of_rules(rows)])
    }

    fn page(path: &str, text: &str) -> SpecPage {
        SpecPage { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn rows_below_a_rule_header_are_rules_and_everything_else_is_prose() {
        let text = "# Rules\n| Field | Type |\n|---|---|\n| `limit` | integer |\n\n\
            | Rule | Says | Proved by |\n|---|---|---|\n\
            | spec-4.1-cap | It caps. | `a`, `b::c` |\n\n\
            | Rule | Says | Proved by |\n|---|---|---|\n\
            | contract-4-web | Later. | waits: not built |\n";
        let (rules, faults) = parse(&[page("spec/a.md", text)]);
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(rules[0].backing, Backing::Tests(vec!["a".to_owned(), "b::c".to_owned()]));
        assert_eq!(
            (rules[1].id.as_str(), rules[1].place.as_str()),
            ("contract-4-web", "spec/a.md:12")
        );
        assert_eq!(rules[1].backing, Backing::Waits("not built".to_owned()));
    }

    #[test]
    fn a_rule_with_neither_proof_nor_reason_is_a_fault() {
        for wrong in ["", "waits:", "soon", "`a` and `b`", "``"] {
            let (rules, faults) = parse_rows(&format!("| spec-1-a | Says. | {wrong} |"));
            assert!(
                rules.is_empty() && faults.len() == 1 && faults[0].contains("spec-1-a"),
                "{wrong}: {faults:?}"
            );
        }
    }

    #[test]
    fn slips_in_a_row_are_faults_not_silence() {
        for wrong in [
            "| spec-one-a | Says. | `a` |",
            "| rule 5 | Says. | `a` |",
            "| spec-1-a | Says. |",
            "| spec-1-a | a | b | `c` |",
            "| spec-1-a | Says. | `a` |\n| spec-1-a | Again. | `a` |",
        ] {
            assert_eq!(parse_rows(wrong).1.len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_rule_in_a_table_of_another_kind_or_without_a_header_is_a_fault() {
        for text in [
            "| Field | Type |\n|---|---|\n| spec-1-a | Says. | `a` |\n",
            "| spec-1-a | Says. | `a` |\n",
        ] {
            let (rules, faults) = parse(&[page("spec/a.md", text)]);
            assert!(rules.is_empty() && faults.len() == 1, "{text}: {faults:?}");
        }
    }

    #[test]
    fn an_id_that_two_pages_have_is_a_fault() {
        let rule = SpecPage::of_rules("| spec-1-a | Says. | `a` |");
        let again = SpecPage { path: "spec/b.md".to_owned(), text: rule.text.clone() };
        assert_eq!(parse(&[rule, again]).1, ["spec/b.md:3: spec-1-a stands here a second time"]);
    }

    #[test]
    fn a_page_that_the_index_does_not_list_is_a_fault() {
        let pages = [
            page("spec/README.md", "See [a](a.md).\n"),
            page("spec/a.md", ""),
            page("spec/b.md", ""),
        ];
        assert_eq!(parse(&pages).1, ["spec/b.md is not listed in spec/README.md"]);
    }
}
