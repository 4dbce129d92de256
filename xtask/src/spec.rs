//! `cargo xtask spec`: every rule in `docs/rules.md` is proved by a test that exists, or waits for a stated reason. Owns the
//! verdict and what is printed; runs no test.

use anyhow::{Context as _, Result, bail};

use crate::repository::Repository;

mod list;
mod proofs;

use list::{Backing, Rule};
use proofs::Proofs;

/// The list, below the top of the source tree.
const LIST: &str = "docs/rules.md";

/// Prints the rules without a test, each with its reason; fails when the list promises what the sources don't keep.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let path = repository.root().join(LIST);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let (rules, mut faults) = list::parse(&text);
    let proofs = Proofs::collect(repository.root())?;
    faults.extend(missing(&rules, &proofs));

    let waiting: Vec<(&Rule, &str)> = rules
        .iter()
        .filter_map(|rule| if let Backing::Waits(reason) = &rule.backing { Some((rule, reason.as_str())) } else { None })
        .collect();
    for (rule, reason) in &waiting {
        println!("no test: {}: {} ({reason})", rule.id, rule.wording);
    }
    for fault in &faults {
        println!("fault: {fault}");
    }
    println!("{} rules: {} proved, {} without a test", rules.len(), rules.len() - waiting.len(), waiting.len());
    if rules.is_empty() {
        bail!("{LIST} has no rule");
    }
    if !faults.is_empty() {
        bail!("{} in {LIST}; see above", if faults.len() == 1 { "a fault".to_owned() } else { format!("{} faults", faults.len()) });
    }
    Ok(())
}

/// What is named as a proof and isn't there.
fn missing(rules: &[Rule], proofs: &Proofs) -> Vec<String> {
    let mut faults = Vec::new();
    for rule in rules {
        let Backing::Tests(tests) = &rule.backing else { continue };
        for test in tests.iter().filter(|test| !proofs.has(test)) {
            faults.push(format!("line {}: {} names {test}, and no test that runs is called so", rule.line, rule.id));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_does_not_exist_is_a_fault() {
        let proofs = Proofs::of_rust("suite/a.rs", "#[test]\nfn here() {}\n");
        let (rules, faults) = list::parse("| spec-1-a | One. | `here` |\n| spec-1-b | Two. | `a::here`, `gone` |\n");
        assert!(faults.is_empty());
        assert_eq!(missing(&rules, &proofs), ["line 2: spec-1-b names gone, and no test that runs is called so"]);
    }
}
