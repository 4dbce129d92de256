//! Checks of pages that show `cargo test --test TARGET FILTER`: the target is declared and has a
//! test that the filter finds, or the reader's run is of no test and looks like a good one. Runs
//! nothing.

use std::path::Path;

use serde::Deserialize;

use super::{SourceTree, numbered};
use crate::spec::rust_tests;

/// Options of `cargo test` that are followed by a value.
const WITH_VALUE: [&str; 5] = ["--package", "-p", "--features", "--profile", "--jobs"];

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    test: Vec<Target>,
}

/// `[[test]]` of a manifest.
#[derive(Deserialize)]
struct Target {
    name: String,
    path: String,
}

/// Commands of pages that would run no test.
pub(super) fn of_pages(tree: &SourceTree) -> Vec<String> {
    let targets = targets(tree);
    let mut faults = Vec::new();
    for (path, text) in tree.of_kind("md") {
        for (n, line) in numbered(text) {
            let Some((target, filter)) = command(line) else { continue };
            let Some((_, file)) = targets.iter().find(|(name, _)| name == target) else {
                faults.push(format!("{path}:{n}: no Cargo.toml declares the test {target}"));
                continue;
            };
            if let Some(filter) = filter
                && !tests(tree, &targets, file).iter().any(|test| test.contains(filter))
            {
                faults.push(format!("{path}:{n}: no test of {target} has {filter} in its name"));
            }
        }
    }
    faults
}

/// Target and filter of a line with `cargo test --test`.
fn command(line: &str) -> Option<(&str, Option<&str>)> {
    let (_, rest) = line.split_once("cargo test ")?;
    let rest = rest.split('`').next().unwrap_or_default();
    let mut words = rest.split_whitespace().take_while(|word| *word != "--" && *word != "#");
    let (mut target, mut filter) = (None, None);
    while let Some(word) = words.next() {
        if word == "--test" {
            target = words.next();
        } else if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            filter = filter.or(Some(word));
        }
    }
    Some((target?, filter))
}

/// Name and file of every declared target.
fn targets(tree: &SourceTree) -> Vec<(String, String)> {
    let manifests = tree.texts.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
    let targets = manifests.flat_map(|(path, text)| {
        // Templates of manifests are none; cargo reads all others.
        let tests = toml::from_str::<Manifest>(text).map(|manifest| manifest.test);
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        tests.unwrap_or_default().into_iter().map(move |target| {
            (target.name, folder.join(target.path).to_string_lossy().into_owned())
        })
    });
    targets.collect()
}

/// Tests of the target at `file` as cargo calls them, without the modules within a file.
fn tests(tree: &SourceTree, targets: &[(String, String)], file: &str) -> Vec<String> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    // Folders below that are targets of their own.
    let others: Vec<&Path> = targets
        .iter()
        .filter_map(|(_, other)| Path::new(other).parent())
        .filter(|other| *other != folder && other.starts_with(folder))
        .collect();
    let mut found = Vec::new();
    for (path, text) in tree.of_kind("rs") {
        let path = Path::new(path);
        let Ok(module) = path.strip_prefix(folder) else { continue };
        if others.iter().any(|other| path.starts_with(other)) {
            continue;
        }
        let module = module.with_extension("").to_string_lossy().replace('/', "::");
        found.extend(rust_tests(text).into_iter().map(|test| format!("{module}::{test}")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_runs_no_test_is_found() {
        let page = "    cargo test -p a --test all api::tags\n\
            cargo test --test all fleet # all hosts\n\
            `cargo test --test api tags`\n\
            cargo test cursor\n\
            cargo test --test fleet -- --ignored\n";
        let manifest = "[package]\nname = \"a\"\n\
            [[test]]\nname = \"all\"\npath = \"all.rs\"\n\
            [[test]]\nname = \"fleet\"\npath = \"fleet/main.rs\"\n";
        let tree = SourceTree::from_files(&[
            ("docs/a.md", page),
            ("tests/Cargo.toml", manifest),
            ("tests/api/tags.rs", "#[test]\nfn strong() {}\n"),
            ("tests/fleet/main.rs", "#[test]\nfn fleet() {}\n"),
        ]);
        assert_eq!(
            of_pages(&tree),
            [
                "docs/a.md:2: no test of all has fleet in its name",
                "docs/a.md:3: no Cargo.toml declares the test api",
            ]
        );
    }
}
