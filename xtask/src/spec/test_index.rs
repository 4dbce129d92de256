//! Tests that exist: functions that cargo runs, rules of the catalog's suite, and functions of
//! the Python checks that are marked as proofs. Owns how they are recognised in the sources;
//! compiles nothing.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Folders with Rust tests.
const RUST: [&str; 5] = ["host", "plugins", "examples", "tests", "xtask"];

/// Folders with checks in Python.
const PYTHON: [&str; 2] = ["tests", "clients"];

/// Names of tests, each with the places where one is called so.
#[derive(Debug, Default)]
pub(super) struct TestIndex {
    places: HashMap<String, Vec<Vec<String>>>,
}

impl TestIndex {
    /// Every test below `root`.
    pub(super) fn collect(root: &Path) -> Result<Self> {
        let mut proofs = Self::default();
        for (folders, extension) in [(&RUST[..], "rs"), (&PYTHON[..], "py")] {
            for folder in folders {
                proofs.walk(root, &root.join(folder), extension)?;
            }
        }
        Ok(proofs)
    }

    #[cfg(test)]
    pub(super) fn from_rust(path: &str, text: &str) -> Self {
        let mut proofs = Self::default();
        proofs.add(Path::new(path), rust_tests(text));
        proofs
    }

    #[cfg(test)]
    pub(super) fn and(mut self, path: &str, text: &str) -> Self {
        self.add(Path::new(path), rust_tests(text));
        self
    }

    /// Places of the tests called `name`; `errors::name` asks for one in a file or folder `errors`.
    pub(super) fn find(&self, name: &str) -> Vec<String> {
        let mut parts = name.rsplit("::");
        let Some(places) = parts.next().and_then(|function| self.places.get(function)) else {
            return Vec::new();
        };
        let within: Vec<&str> = parts.collect();
        let matching = places
            .iter()
            .filter(|place| within.iter().all(|part| place.iter().any(|found| found == part)));
        matching.map(|place| place.join("/")).collect()
    }

    /// True where more than one test has this function's name, wherever it stands.
    pub(super) fn is_shared(&self, function: &str) -> bool {
        self.places.get(function).is_some_and(|places| places.len() > 1)
    }

    fn walk(&mut self, root: &Path, folder: &Path, extension: &str) -> Result<()> {
        let entries =
            folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    self.walk(root, &path, extension)?;
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let names =
                    if extension == "rs" { rust_tests(&text) } else { python_checks(&text) };
                self.add(path.strip_prefix(root).unwrap_or(&path), names);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, names: Vec<String>) {
        let stem = path.with_extension("");
        let place: Vec<String> =
            stem.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        for name in names {
            self.places.entry(name).or_default().push(place.clone());
        }
    }
}

/// Functions with a test attribute, without `#[ignore]` and without a condition, and the rules that
/// `rules! { … }` makes tests of.
pub(crate) fn rust_tests(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut is_test, mut ignored, mut in_rules) = (false, false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= ["#[test]", "#[tokio::test]", "#[tokio::test("]
                .iter()
                .any(|start| line.starts_with(start));
            // A condition may leave the test out of the build that is run.
            ignored |= line.starts_with("#[ignore") || line.starts_with("#[cfg");
        } else if let Some(name) = function(line, "fn ") {
            if is_test && !ignored {
                found.push(name);
            }
            (is_test, ignored) = (false, false);
        } else if line.starts_with("mod ")
            || line.starts_with("use ")
            || line.starts_with("struct ")
        {
            // Attributes of something else.
            (is_test, ignored) = (false, false);
        } else if line.starts_with("rules! {") {
            in_rules = true;
        } else if line == "}" {
            in_rules = false;
        } else if in_rules && let Some((_, rule)) = line.trim_end_matches(',').split_once(": ") {
            found.push(rule.to_owned());
        }
    }
    found
}

/// Functions at the top of a file that are marked: `@proof` writes down that they ran
/// (`tests/external/common/tally.py`).
fn python_checks(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let marked = lines.windows(2).filter(|pair| pair[0] == "@proof" && pair[1].starts_with("def "));
    marked.filter_map(|pair| function(pair[1], "def ")).collect()
}

/// The name in `fn name(` or `async fn name(`.
fn function(line: &str, keyword: &str) -> Option<String> {
    let rest = line.strip_prefix("pub ").unwrap_or(line);
    let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix(keyword)?;
    let name: String =
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_would_run_is_a_test() {
        let text = "#[test]\nfn plain() {}\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn later() {}\n#[test]\n#[ignore = \"slow\"]\nfn never() {}\nfn helper() {}\n\
            proptest! {\n    /// Says.\n    #[test]\n    fn random(x in 0..3) {}\n}\nrules! { $place;\n    history: listed,\n}\n";
        assert_eq!(rust_tests(text), ["plain", "later", "random", "listed"]);
    }

    #[test]
    fn what_no_run_executes_is_none() {
        let text = "#[cfg(feature = \"slow\")]\n#[test]\nfn conditional() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn plain() {}\n}\n\
            // #[test]\nfn commented() {}\n\
            #[test]\n#[cfg(windows)]\nfn elsewhere() {}\nasync fn helper() {}\n";
        assert_eq!(rust_tests(text), ["plain"]);
    }

    #[test]
    fn a_place_tells_tests_of_one_name_apart() {
        let proofs =
            TestIndex::from_rust("plugins/json/tests/rules.rs", "#[test]\nfn conforms() {}\n");
        for name in ["conforms", "json::conforms", "rules::conforms"] {
            assert_eq!(proofs.find(name), ["plugins/json/tests/rules"], "{name}");
        }
        assert!(proofs.find("csv::conforms").is_empty() && proofs.find("json::other").is_empty());
    }

    #[test]
    fn a_proof_in_python_is_a_marked_function_at_the_top() {
        let text = "import x\n@proof\ndef one(a):\n    @proof\n    def two():\n        pass\ndef helper(): pass\n\
            @cache\ndef other(): pass\n# @proof\ndef commented(): pass\n";
        assert_eq!(python_checks(text), ["one"]);
    }
}
