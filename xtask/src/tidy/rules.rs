//! Checks that rules which prose cites exist, that it cites them by name, and that something
//! enforces each invariant.

use std::collections::BTreeSet;

use super::SourceTree;

/// Folder of the rules.
const SPEC: &str = "docs/spec/";

/// Page with the map and the invariants.
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Heading of the list of invariants, one paragraph below.
const INVARIANTS: &str = "## What never touches what\n";

/// Ids of rules that no page of the specification has.
pub(super) fn cited_rules(tree: &SourceTree) -> Vec<String> {
    let pages = tree.of_kind("md").filter(|(path, _)| path.starts_with(SPEC));
    let known: BTreeSet<&str> = pages
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .collect();
    let mut faults = Vec::new();
    for (path, n, line) in tree.prose().filter(|(path, _, _)| !path.starts_with("xtask/src/")) {
        for id in rule_ids(line).filter(|id| !known.contains(id)) {
            faults.push(format!("{path}:{n}: no page of docs/spec has a rule {id}"));
        }
    }
    faults
}

/// Citations by the number of a section, which moves, or of an issue, which is elsewhere.
pub(super) fn section_numbers(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, n, line) in tree.prose().filter(|(path, _, _)| !path.starts_with("xtask/src/tidy")) {
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            let numbered =
                words.peek().is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
            if numbered && matches!(word.as_str(), "spec" | "contract" | "issue") {
                faults
                    .push(format!("{path}:{n}: cite a rule of docs/spec by its id, not a number"));
            }
        }
    }
    faults
}

/// Invariants of ARCHITECTURE.md without the name of what enforces them, or with a test that does
/// not exist.
pub(super) fn invariants(tree: &SourceTree) -> Vec<String> {
    let page = tree.texts.get(ARCHITECTURE).map_or("", String::as_str);
    let Some((_, list)) = page.split_once(INVARIANTS) else {
        return vec![format!("{ARCHITECTURE}: there is no list of invariants")];
    };
    let mut faults = Vec::new();
    let items = list.split("\n\n").nth(1).unwrap_or_default().split("\n- ");
    for invariant in items.filter(|item| !item.starts_with("<!--")) {
        let first = invariant.trim_start_matches("- ").lines().next().unwrap_or_default();
        if !["(Cargo", "(cargo-deny)", "(clippy)", "(tidy)", "(test: "]
            .iter()
            .any(|mark| invariant.contains(mark))
        {
            faults.push(format!("{ARCHITECTURE}: nothing enforces \"{first}\""));
        }
        let named = invariant.split_once("(test: `").and_then(|(_, rest)| rest.split('`').next());
        if let Some(test) = named
            && !tree.of_kind("rs").any(|(_, text)| text.contains(&format!("fn {test}(")))
        {
            faults.push(format!("{ARCHITECTURE}: there is no test {test}"));
        }
    }
    faults
}

/// Ids of the form `spec-4.1-cap` in a line.
fn rule_ids(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || "-._".contains(c)))
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| {
            let section = word.strip_prefix("spec-").or_else(|| word.strip_prefix("contract-"));
            section.is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_digit())
                    && rest.contains('-')
                    && !rest.contains('_')
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_cited_by_ids_that_exist() {
        let tree = SourceTree::from_files(&[
            ("docs/spec/rows.md", "| Rule | Says |\n|---|---|\n| spec-4.1-cap | It caps. |\n"),
            ("host/a.rs", "//! spec-4.1-cap, and spec-4.1-gone.\n// Contract 3 says so.\n"),
        ]);
        assert_eq!(
            cited_rules(&tree),
            ["host/a.rs:1: no page of docs/spec has a rule spec-4.1-gone"]
        );
        assert_eq!(section_numbers(&tree).len(), 1);
    }

    #[test]
    fn an_invariant_names_what_enforces_it() {
        let page = "## What never touches what\nIntro.\n\n- A. (tidy)\n- B.\n  (test: `gone`)\n- C.\n\nEnd.\n";
        let tree =
            SourceTree::from_files(&[("ARCHITECTURE.md", page), ("host/a.rs", "fn here() {}\n")]);
        assert_eq!(
            invariants(&tree),
            ["ARCHITECTURE.md: there is no test gone", "ARCHITECTURE.md: nothing enforces \"C.\""]
        );
    }
}
