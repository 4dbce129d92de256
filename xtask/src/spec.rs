//! `cargo xtask spec`: every rule in `docs/spec` is proved by tests that exist, or waits for a
//! stated reason; after a whole run, every one of these tests ran and passed. Pages of figures name
//! what they measured. Owns the verdicts and what is printed; runs no test.

use anyhow::{Context as _, Result, bail};

use crate::repository::Repository;

mod executed_tests;
pub(crate) mod pages;
mod rules;
mod test_index;

pub(crate) use executed_tests::ExecutedTests;
pub(crate) use test_index::rust_tests;

use rules::{Backing, Rule, SpecPage};
use test_index::TestIndex;

/// Folder of the pages, below the top of the source tree.
const FOLDER: &str = "docs/spec";

/// Prints the rules without a test, each with its reason; fails when the pages promise what the
/// sources don't keep.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let (rules, mut faults) = read(repository)?;
    let proofs = TestIndex::collect(repository.root())?;
    faults.extend(missing(&rules, &proofs));
    faults.extend(pages::faults(repository)?);

    let waiting: Vec<(&Rule, &str)> = rules
        .iter()
        .filter_map(|rule| {
            if let Backing::Waits(reason) = &rule.backing {
                Some((rule, reason.as_str()))
            } else {
                None
            }
        })
        .collect();
    for (rule, reason) in &waiting {
        println!("no test: {}: {} ({reason})", rule.id, rule.wording);
    }
    for fault in &faults {
        println!("fault: {fault}");
    }
    println!(
        "{} rules: {} proved, {} without a test",
        rules.len(),
        rules.len() - waiting.len(),
        waiting.len()
    );
    if rules.is_empty() {
        bail!("{FOLDER} has no rule");
    }
    fail_if_any(&faults)
}

/// Fails where a test that a rule names did not run, or did not pass, in the run that ends here.
pub(crate) fn check_executed(repository: &Repository, executed: &ExecutedTests) -> Result<()> {
    let (rules, _) = read(repository)?;
    let faults = not_executed(&rules, &TestIndex::collect(repository.root())?, executed);
    for fault in &faults {
        println!("fault: {fault}");
    }
    println!("{} tests ran and passed", executed.len());
    fail_if_any(&faults)
}

fn read(repository: &Repository) -> Result<(Vec<Rule>, Vec<String>)> {
    let folder = repository.root().join(FOLDER);
    let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
    let mut pages = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pages.push(SpecPage { path: format!("{FOLDER}/{name}"), text });
        }
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(rules::parse(&pages))
}

fn fail_if_any(faults: &[String]) -> Result<()> {
    match faults.len() {
        0 => Ok(()),
        1 => bail!("a fault in {FOLDER} or a page of figures; see above"),
        more => bail!("{more} faults in {FOLDER} or pages of figures; see above"),
    }
}

/// Every test that a rule names, with the rule.
fn rules_with_proofs(rules: &[Rule]) -> impl Iterator<Item = (&Rule, &String)> {
    rules.iter().flat_map(|rule| match &rule.backing {
        Backing::Tests(tests) => tests.iter().map(|test| (rule, test)).collect::<Vec<_>>(),
        Backing::Waits(_) => Vec::new(),
    })
}

/// Proofs that do not exist, or exist more than once.
fn missing(rules: &[Rule], proofs: &TestIndex) -> Vec<String> {
    let judge = |(rule, test): (&Rule, &String)| {
        let (place, id) = (&rule.place, &rule.id);
        match proofs.find(test).as_slice() {
            [] => Some(format!("{place}: {id} names {test}, and no test that runs is called so")),
            [_] => None,
            places => Some(format!(
                "{place}: {id} names {test}, which stands in {}; say which as file::test",
                places.join(" and ")
            )),
        }
    };
    rules_with_proofs(rules).filter_map(judge).collect()
}

/// Proofs that did not run.
fn not_executed(rules: &[Rule], proofs: &TestIndex, executed: &ExecutedTests) -> Vec<String> {
    let ran = |test: &str| {
        let function = test.rsplit("::").next().unwrap_or_default();
        executed.has(if proofs.is_shared(function) { test } else { function })
    };
    let idle = rules_with_proofs(rules).filter(|(_, test)| !ran(test));
    idle.map(|(rule, test)| {
        format!(
            "{}: {} names {test}, which did not run to its end in this run",
            rule.place, rule.id
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules in `rows`, without a fault.
    fn rules(rows: &str) -> Vec<Rule> {
        let (rules, faults) = rules::parse(&[SpecPage::of_rules(rows)]);
        assert_eq!(faults, Vec::<String>::new());
        rules
    }

    #[test]
    fn a_test_that_does_not_exist_is_a_fault() {
        let proofs = TestIndex::from_rust("suite/a.rs", "#[test]\nfn here() {}\n");
        let rules =
            rules("| spec-1-a | One. | `here` |\n| spec-1-b | Two. | `a::here`, `gone` |\n");
        assert_eq!(
            missing(&rules, &proofs),
            ["spec/a.md:4: spec-1-b names gone, and no test that runs is called so"]
        );
    }

    #[test]
    fn a_name_of_two_tests_is_a_fault_until_it_says_which() {
        let proofs = TestIndex::from_rust("a/one.rs", "#[test]\nfn same() {}\n")
            .and("b/two.rs", "#[test]\nfn same() {}\n");
        let rules = rules("| spec-1-a | One. | `same` |\n| spec-1-b | Two. | `two::same` |\n");
        assert_eq!(
            missing(&rules, &proofs),
            [
                "spec/a.md:3: spec-1-a names same, which stands in a/one and b/two; say which as file::test"
            ]
        );
    }

    #[test]
    fn a_test_that_did_not_run_is_a_fault() {
        let proofs =
            TestIndex::from_rust("a/one.rs", "#[test]\nfn same() {}\n#[test]\nfn alone() {}\n")
                .and("b/two.rs", "#[test]\nfn same() {}\n");
        let rules = rules(
            "| spec-1-a | One. | `one::same`, `one::alone` |\n| spec-1-b | Two. | `two::same` |\n",
        );
        let executed = ExecutedTests::from_lines([
            "PASS [   0.1s] yearbook-a one::same",
            "PASS [   0.1s] yearbook-a moved::elsewhere::alone",
        ]);
        assert_eq!(
            not_executed(&rules, &proofs, &executed),
            ["spec/a.md:4: spec-1-b names two::same, which did not run to its end in this run"]
        );
        assert_eq!(not_executed(&rules, &proofs, &ExecutedTests::default()).len(), 3);
    }
}
