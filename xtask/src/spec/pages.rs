//! Pages of figures: each names the commit that it measured, in this history and without changes
//! beside it, or says that it is a draft. Owns that judgement; measures nothing.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command;
use crate::repository::Repository;

/// Every page that a command of xtask writes, and the figures of one again for machines.
const PAGES: [&str; 5] = [
    "docs/hostile-clients.md",
    "docs/benchmarks.md",
    "docs/benchmarks.json",
    "docs/scale.md",
    "docs/reliability.md",
];

/// Text before the reason why a page is a draft.
pub const DRAFT: &str = "**Draft:";

/// Text behind a commit that is not all that was measured.
pub const CHANGED: &str = " with uncommitted changes";

/// Faults of the pages. Drafts, and a history that is not here, are printed and are no
/// fault.
pub(super) fn faults(repository: &Repository) -> Result<Vec<String>> {
    let git = |arguments: &[&str]| {
        command::output(Command::new("git").current_dir(repository.root()).args(arguments))
    };
    let whole = git(&["rev-parse", "--is-shallow-repository"])
        .is_ok_and(|shallow| shallow.trim() == "false");
    if !whole {
        println!(
            "NOT CHECKED: whether the commits of pages of figures are in the history, which is not here as a whole"
        );
    }
    let mut faults = Vec::new();
    for page in PAGES {
        let path = repository.root().join(page);
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        match check_page(&text, |commit| {
            !whole || git(&["merge-base", "--is-ancestor", commit, "HEAD"]).is_ok()
        }) {
            PageVerdict::Good => {}
            PageVerdict::Draft(why) => println!("draft: {page}: {why}"),
            PageVerdict::Wrong(why) => faults.push(format!("{page} {why}")),
        }
    }
    Ok(faults)
}

#[derive(Debug, PartialEq, Eq)]
enum PageVerdict {
    Good,
    Draft(String),
    Wrong(String),
}

fn check_page(text: &str, is_in_history: impl Fn(&str) -> bool) -> PageVerdict {
    let named = text.lines().find_map(|line| Some((line, line.split_once(" Commit ")?.1)));
    let Some((line, rest)) = named else {
        return PageVerdict::Wrong("names no commit; it is made by a command of xtask".to_owned());
    };
    let commit: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
    if commit.len() < 7 {
        return PageVerdict::Wrong("names no commit; it is made by a command of xtask".to_owned());
    }
    if let Some((_, why)) = line.split_once(DRAFT) {
        return PageVerdict::Draft(why.split("**").next().unwrap_or_default().trim().to_owned());
    }
    if line.contains(CHANGED) {
        return PageVerdict::Wrong(format!(
            "measured {commit}{CHANGED}; measure again on a clean tree, or mark it '{DRAFT} why**'"
        ));
    }
    if !is_in_history(&commit) {
        return PageVerdict::Wrong(format!(
            "measured {commit}, which is not in the history; measure again, or mark it '{DRAFT} why**'"
        ));
    }
    PageVerdict::Good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_of_a_clean_commit_in_the_history_or_a_draft() {
        let known = |commit: &str| commit == "abcdef1";
        let of = |what: &str| {
            check_page(
                &format!("# Page\nMade by a command. Machine: one. Commit {what}. Load: 0.1.\n"),
                known,
            )
        };
        assert_eq!(of("abcdef1"), PageVerdict::Good);
        assert_eq!(
            of("abcdef1 with uncommitted changes **Draft: something else was built.**"),
            PageVerdict::Draft("something else was built.".to_owned())
        );
        assert_eq!(
            of("0123456. **Draft: it is gone.**"),
            PageVerdict::Draft("it is gone.".to_owned())
        );
        for (wrong, why) in [
            ("abcdef1 with uncommitted changes", "uncommitted"),
            ("0123456", "not in the history"),
            ("main", "no commit"),
            ("", "no commit"),
        ] {
            assert!(matches!(of(wrong), PageVerdict::Wrong(said) if said.contains(why)), "{wrong}");
        }
        assert!(matches!(check_page("# Page\n", known), PageVerdict::Wrong(_)));
    }
}
