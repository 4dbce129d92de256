//! The list of rules as it is written: rows of Markdown tables, `| id | wording | proof |`. Owns
//! their form; does not know which tests exist.

use std::collections::HashSet;

/// Columns of a row.
const CELLS: usize = 3;

/// What begins a proof that is still missing.
const WAITS: &str = "waits:";

/// One testable sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) wording: String,
    pub(super) backing: Backing,
    /// Where it stands in the list, from 1.
    pub(super) line: usize,
}

/// What stands behind a rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// Names of tests, each perhaps led by `<file or folder>::`.
    Tests(Vec<String>),
    /// Nothing yet, and why.
    Waits(String),
}

/// The rules of `text`, and what is wrong with it by line.
pub(super) fn parse(text: &str) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    let mut ids = HashSet::new();
    for (line, row) in text.lines().enumerate().map(|(index, row)| (index + 1, row.trim())) {
        let Some(cells) = row.strip_prefix('|').and_then(|row| row.strip_suffix('|')) else {
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        if !is_id(cells[0]) {
            // A head or a ruler, unless it is a rule with a slip in its name.
            if cells[0] != "Rule" && !cells[0].starts_with("---") {
                faults.push(format!("line {line}: '{}' is no id; spell it spec-<section>-<word> or contract-<section>-<word>", cells[0]));
            }
            continue;
        }
        if cells.len() != CELLS || cells[1].is_empty() {
            faults.push(format!(
                "line {line}: {} needs an id, a sentence and a proof, and no other '|'",
                cells[0]
            ));
            continue;
        }
        if !ids.insert(cells[0]) {
            faults.push(format!("line {line}: {} stands here a second time", cells[0]));
        }
        match backing(cells[2]) {
            Some(backing) => rules.push(Rule {
                id: cells[0].to_owned(),
                wording: cells[1].to_owned(),
                backing,
                line,
            }),
            None => faults.push(format!(
                "line {line}: {} has neither tests in backticks nor '{WAITS} <reason>'",
                cells[0]
            )),
        }
    }
    (rules, faults)
}

/// `spec-4.1-cap`, `contract-2-order`: where it comes from, its section, and a word or more.
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
mod tests {
    use super::*;

    #[test]
    fn rows_are_rules_and_everything_else_is_prose() {
        let text = "# Rules\n| Rule | Says | Proved by |\n|---|---|---|\n| spec-4.1-cap | It caps. | `a`, `b::c` |\n\n| contract-4-web | Later. | waits: not built |\n";
        let (rules, faults) = parse(text);
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!(rules[0].backing, Backing::Tests(vec!["a".to_owned(), "b::c".to_owned()]));
        assert_eq!((rules[1].id.as_str(), rules[1].line), ("contract-4-web", 6));
        assert_eq!(rules[1].backing, Backing::Waits("not built".to_owned()));
    }

    #[test]
    fn a_rule_with_neither_proof_nor_reason_is_a_fault() {
        for wrong in ["", "waits:", "soon", "`a` and `b`", "``"] {
            let (rules, faults) = parse(&format!("| spec-1-a | Says. | {wrong} |"));
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
        ] {
            assert_eq!(parse(wrong).1.len(), 1, "{wrong}");
        }
        assert_eq!(parse("| spec-1-a | Says. | `a` |\n| spec-1-a | Again. | `a` |").1.len(), 1);
    }
}
