//! Tests that exist: functions that cargo runs, rules of the catalogue's suite, and functions of the Python checks. Owns how they are
//! recognised in the sources; compiles nothing.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Folders with Rust tests.
const RUST: [&str; 4] = ["host", "plugins", "tests", "xtask"];

/// Folders with checks in Python.
const PYTHON: [&str; 1] = ["tests"];

/// Names of tests, each with the places where one is called so.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    places: HashMap<String, Vec<Vec<String>>>,
}

impl Proofs {
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
    pub(super) fn of_rust(path: &str, text: &str) -> Self {
        let mut proofs = Self::default();
        proofs.add(Path::new(path), rust_tests(text));
        proofs
    }

    /// Whether a test is called `name`; `errors::name` asks for one in a file or folder `errors`.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut parts = name.rsplit("::");
        let Some(places) = parts.next().and_then(|function| self.places.get(function)) else { return false };
        let within: Vec<&str> = parts.collect();
        places.iter().any(|place| within.iter().all(|part| place.iter().any(|found| found == part)))
    }

    fn walk(&mut self, root: &Path, folder: &Path, extension: &str) -> Result<()> {
        let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    self.walk(root, &path, extension)?;
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let names = if extension == "rs" { rust_tests(&text) } else { python_checks(&text) };
                self.add(path.strip_prefix(root).unwrap_or(&path), names);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, names: Vec<String>) {
        let stem = path.with_extension("");
        let place: Vec<String> = stem.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        for name in names {
            self.places.entry(name).or_default().push(place.clone());
        }
    }
}

/// Functions with a test attribute and without `#[ignore]`, and the rules that `rules! { … }` makes tests of.
fn rust_tests(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut is_test, mut ignored, mut in_rules) = (false, false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= ["#[test]", "#[tokio::test]", "#[tokio::test("].iter().any(|start| line.starts_with(start));
            ignored |= line.starts_with("#[ignore");
        } else if let Some(name) = function(line, "fn ") {
            if is_test && !ignored {
                found.push(name);
            }
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

/// Functions at the top of a file.
fn python_checks(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.starts_with("def ").then(|| function(line, "def ")).flatten()).collect()
}

/// The name in `fn name(` or `async fn name(`.
fn function(line: &str, keyword: &str) -> Option<String> {
    let rest = line.strip_prefix("pub ").unwrap_or(line);
    let rest = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix(keyword)?;
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
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
    fn a_place_tells_tests_of_one_name_apart() {
        let proofs = Proofs::of_rust("plugins/json/tests/rules.rs", "#[test]\nfn conforms() {}\n");
        assert!(proofs.has("conforms") && proofs.has("json::conforms") && proofs.has("rules::conforms"));
        assert!(!proofs.has("csv::conforms") && !proofs.has("json::other"));
    }

    #[test]
    fn a_check_in_python_is_a_function_at_the_top() {
        assert_eq!(python_checks("import x\ndef one(a):\n    def two():\n        pass\nclass C:\n    def three(self): pass\n"), ["one"]);
    }
}
