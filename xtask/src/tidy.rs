//! `cargo xtask tidy`: the house rules that no compiler checks. Owns the list of checks and the
//! source tree that they read; the exceptions stand beside each check. Changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::command;
use crate::repository::Repository;

mod decisions;
mod dependencies;
mod examples;
mod features;
mod files;
mod generated;
mod imports;
mod paths;
mod rules;
mod test_commands;
mod words;

/// Texts longer than this are data, not sources.
const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Brings the generated parts of pages up to date.
pub(crate) fn write(repository: &Repository) -> Result<()> {
    generated::write(repository, &SourceTree::read(repository)?)
}

/// Prints every fault as `path:line: sentence`; fails where there is one.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let tree = SourceTree::read(repository)?;
    let mut faults: Vec<String> = [
        files::widths,
        files::build_products,
        paths::links,
        paths::cited_paths,
        rules::cited_rules,
        rules::section_numbers,
        decisions::cited,
        dependencies::lists,
        generated::stale,
        imports::circles,
        rules::invariants,
        words::statuses,
        words::plugin_names,
        words::unsafe_code,
        words::documentation,
        words::type_names,
        examples::of_the_sdk,
        test_commands::of_pages,
    ]
    .iter()
    .flat_map(|check| check(&tree))
    .collect();
    faults.extend(features::check(repository)?);
    for fault in &faults {
        println!("fault: {fault}");
    }
    match faults.len() {
        0 => Ok(()),
        count => bail!("{count} house rules are broken; see above"),
    }
}

/// Files that git tracks, or would track.
#[derive(Debug, Default)]
struct SourceTree {
    /// Text by path below the top.
    texts: BTreeMap<String, String>,
    /// Paths of all files.
    files: BTreeSet<String>,
    /// Paths of all folders.
    folders: BTreeSet<String>,
}

impl SourceTree {
    /// Reads what `git ls-files` lists.
    fn read(repository: &Repository) -> Result<Self> {
        let mut git = std::process::Command::new("git");
        git.current_dir(repository.root()).args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let listed = command::output(&mut git).context("cannot list the sources")?;
        let mut tree = Self::default();
        for path in listed.lines() {
            let Ok(bytes) = std::fs::read(repository.root().join(path)) else { continue };
            let text = (bytes.len() <= MAX_SOURCE_BYTES).then(|| String::from_utf8(bytes));
            tree.insert(path, text.and_then(Result::ok));
        }
        Ok(tree)
    }

    fn insert(&mut self, path: &str, text: Option<String>) {
        self.files.insert(path.to_owned());
        for folder in Path::new(path).ancestors().skip(1) {
            self.folders.insert(folder.to_string_lossy().into_owned());
        }
        if let Some(text) = text {
            self.texts.insert(path.to_owned(), text);
        }
    }

    /// True for a file or a folder.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.contains(path) || self.folders.contains(path)
    }

    /// Path and text of the files whose name ends with `.extension`.
    fn of_kind(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        let suffix = format!(".{extension}");
        self.texts
            .iter()
            .filter(move |(path, _)| path.ends_with(&suffix))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Lines of prose, by path and line number from 1: Markdown outside code blocks, comments of
    /// Rust, of Python and of shell scripts.
    fn prose(&self) -> impl Iterator<Item = (&str, usize, &str)> {
        let markdown = self.of_kind("md").flat_map(|(path, text)| {
            numbered(text)
                .filter(|(_, line)| !line.starts_with("    "))
                .map(move |(n, l)| (path, n, l))
        });
        let comments = [("rs", "//"), ("py", "#"), ("sh", "#"), ("wit", "//")];
        let comments = comments.into_iter().flat_map(|(extension, mark)| {
            self.of_kind(extension).flat_map(move |(path, text)| {
                numbered(text)
                    .filter(move |(_, line)| line.trim_start().starts_with(mark))
                    .map(move |(n, l)| (path, n, l))
            })
        });
        markdown.chain(comments)
    }

    #[cfg(test)]
    fn from_files(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.insert(path, Some((*text).to_owned()));
        }
        tree
    }
}

/// Lines with their numbers, from 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// The part of a Rust file that is no test: nothing of a file of tests, and what stands before the
/// first module of tests.
fn product_code<'a>(path: &str, text: &'a str) -> &'a str {
    let is_test = path
        .split('/')
        .any(|part| matches!(part, "tests" | "benches" | "examples" | "suite" | "template"))
        || path.ends_with("/tests.rs")
        || path.ends_with("/testing.rs");
    if is_test {
        return "";
    }
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Lines of code with their numbers: those of `text` that are no comment.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    numbered(text).filter(|(_, line)| !line.trim_start().starts_with("//"))
}
