//! Parts of pages that are written from sources: who may use what in ARCHITECTURE.md, and the
//! tables of the decisions. Owns the marks around them; `cargo xtask tidy --write` replaces what is
//! between.

use std::fs;

use anyhow::{Context as _, Result};

use super::{SourceTree, decisions, dependencies};
use crate::repository::Repository;

/// Line before a part, with the command that writes it.
const BEGIN: &str = "<!-- cargo xtask tidy --write: ";

/// Line behind a part.
const END: &str = "<!-- end -->";

/// Part of a page: the page, the part's name in its mark, and its text.
type Part = (&'static str, &'static str, fn(&SourceTree) -> String);

const PARTS: [Part; 3] = [
    ("ARCHITECTURE.md", "users", dependencies::sentences),
    ("docs/decisions/README.md", "decisions", decisions::in_force),
    ("docs/decisions/README.md", "history", decisions::history),
];

/// Parts that are not as their sources say.
pub(super) fn stale(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    for (page, name, text) in PARTS {
        let before = tree.texts.get(page).map_or("", String::as_str);
        match replace(before, name, &text(tree)) {
            None => faults.push(format!("{page}: the marks of the part `{name}` are not there")),
            Some(after) if after != before => faults
                .push(format!("{page}: `{name}` is out of date; run `cargo xtask tidy --write`")),
            Some(_) => {}
        }
    }
    faults
}

/// Writes the parts that are out of date, and prints their pages.
pub(super) fn write(repository: &Repository, tree: &SourceTree) -> Result<()> {
    let mut pages: Vec<&str> = PARTS.iter().map(|(page, ..)| *page).collect();
    pages.dedup();
    for page in pages {
        let before = tree.texts.get(page).with_context(|| format!("there is no {page}"))?;
        let parts = PARTS.iter().filter(|(of, ..)| *of == page);
        let after = parts.fold(before.clone(), |text, (_, name, part)| {
            replace(&text, name, &part(tree)).unwrap_or(text)
        });
        if after != *before {
            fs::write(repository.root().join(page), after)
                .with_context(|| format!("cannot write {page}"))?;
            println!("written: {page}");
        }
    }
    Ok(())
}

/// The page with `text` as its part `name`; `None` if the marks are not there.
fn replace(page: &str, name: &str, text: &str) -> Option<String> {
    let mark = format!("{BEGIN}{name} -->\n");
    let (before, rest) = page.split_once(&mark)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{mark}{text}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced() {
        let page = "a\n<!-- cargo xtask tidy --write: x -->\nold\n<!-- end -->\nb\n";
        assert_eq!(replace(page, "x", "new\n"), Some(page.replace("old", "new")));
        assert_eq!(replace(page, "y", "new\n"), None);
    }

    #[test]
    fn a_part_that_its_sources_contradict_is_a_fault() {
        let deny = "[bans]\ndeny = [{ crate = \"a\", wrappers = [\"yearbook-b\"] }]\n";
        let page = "<!-- cargo xtask tidy --write: users -->\n- Only `b` uses a. (cargo-deny)\n<!-- end -->\n";
        let files = [("deny.toml", deny), ("host/b/Cargo.toml", ""), ("ARCHITECTURE.md", page)];
        let of_architecture = |faults: Vec<String>| {
            faults.into_iter().filter(|fault| fault.starts_with("ARCH")).collect::<Vec<_>>()
        };
        assert_eq!(of_architecture(stale(&SourceTree::from_files(&files))), [""; 0]);
        let other = [files[0], files[1], ("ARCHITECTURE.md", &page.replace("uses a", "uses c"))];
        assert_eq!(of_architecture(stale(&SourceTree::from_files(&other))).len(), 1);
    }
}
