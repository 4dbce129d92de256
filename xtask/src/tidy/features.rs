//! Features of dependencies: with tests they are as without, or everything above them is compiled
//! twice, once for the tests and once for the program.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::command;
use crate::repository::Repository;

/// Sets of features by package: one for what runs here, perhaps one for macros and build scripts.
type FeatureSets = BTreeMap<String, BTreeSet<String>>;

/// Returns the faults.
pub(super) fn check(repository: &Repository) -> Result<Vec<String>> {
    let read = |edges: &str| -> Result<FeatureSets> {
        let tree = ["tree", "--workspace", "--prefix", "none", "--format", "{p}\t{f}", "--edges"];
        Ok(parse(&command::output(repository.cargo().args(tree).arg(edges))?))
    };
    Ok(compare(&read("normal,build")?, &read("normal,build,dev")?))
}

fn parse(printed: &str) -> FeatureSets {
    let mut sets = FeatureSets::new();
    for (package, features) in printed.lines().filter_map(|line| line.split_once('\t')) {
        // A subtree that was printed before is marked, and says the same.
        let features = features.trim_end_matches(" (*)").to_owned();
        sets.entry(package.to_owned()).or_default().insert(features);
    }
    sets
}

fn compare(alone: &FeatureSets, with_tests: &FeatureSets) -> Vec<String> {
    // Of a set that tests do not show, cargo may have left the subtree out: two packages above that
    // differ in it alone look the same, and only the first is printed whole.
    let differ = alone.iter().filter(|(package, sets)| {
        with_tests.get(*package).is_some_and(|with| !with.is_subset(sets))
    });
    let fault = |(package, sets): (&String, &BTreeSet<String>)| {
        let with = with_tests.get(package).into_iter().flatten();
        format!(
            "tests/Cargo.toml: tests want {package} with {with:?}, the program with {sets:?}: name \
             it under [dependencies] there, so that it is not compiled twice",
            with = with.collect::<Vec<_>>()
        )
    };
    differ.map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_want_is_a_fault() {
        let alone = parse("rustix v1.1.6\tfs,time\nsyn v2.0.1\tfull\nsyn v2.0.1\tfull (*)\n");
        let with = "rustix v1.1.6\tfs,thread,time\nsyn v2.0.1\tfull\ninsta v1.49.0\tjson\n";
        let faults = compare(&alone, &parse(with));
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("rustix v1.1.6") && faults[0].contains("thread"), "{faults:?}");
        assert!(compare(&alone, &alone).is_empty());
        let macros = parse("rustix v1.1.6\tfs,time\nrustix v1.1.6\tfs\n");
        assert!(compare(&macros, &alone).is_empty(), "a subtree that is not printed again");
    }
}
