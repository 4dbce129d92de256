//! Version of a release: what the manifests, the change log and git must agree on.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::command;
use crate::repository::Repository;

/// Places of the version, each with the text before it.
const PLACES: [(&str, &str); 3] = [
    ("Cargo.toml", "\nversion = \""),
    ("clients/python/src/yearbook_client/__init__.py", "\n__version__ = \""),
    ("clients/r/DESCRIPTION", "\nVersion: "),
];

/// Page with the notes.
const CHANGES: &str = "CHANGELOG.md";

/// The version on which all places agree.
pub(super) fn agreed(repository: &Repository) -> Result<String> {
    let mut versions = Vec::new();
    for (file, before) in PLACES {
        let text = read(repository, file)?;
        versions
            .push((file, after(&text, before).with_context(|| format!("{file} has no version"))?));
    }
    let first = versions[0].1.clone();
    ensure!(versions.iter().all(|(_, version)| *version == first), "versions differ: {versions:?}");
    Ok(first)
}

/// Text from `before` to the end of the number.
fn after(text: &str, before: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'))?;
    rest.get(..end).filter(|version| !version.is_empty()).map(str::to_owned)
}

/// The section of the change log about `version`. A draft takes what is not released yet.
pub(super) fn notes(repository: &Repository, version: &str, draft: bool) -> Result<String> {
    let page = read(repository, CHANGES)?;
    let heading = format!("[{version}] - ");
    match (section(&page, &heading), section(&page, "[Unreleased]")) {
        (Some(notes), _) => Ok(format!("Yearbook {version}\n\n{notes}\n")),
        (None, Some(notes)) if draft => Ok(format!("Yearbook {version}, a draft\n\n{notes}\n")),
        _ => bail!("{CHANGES} has no section `## {heading}YYYY-MM-DD` with a change in it"),
    }
}

/// Text below the heading of level 2 that begins with `heading`; `None` if there is none.
fn section<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    let sections = page.split("\n## ").skip(1);
    let found = sections.filter_map(|section| section.split_once('\n'));
    let mut found = found.filter(|(title, _)| title.starts_with(heading));
    found.next().map(|(_, text)| text.trim()).filter(|text| !text.is_empty())
}

/// Fails where something is not committed, or the version has a tag.
pub(super) fn tag_is_free(repository: &Repository, version: &str) -> Result<()> {
    let git = |arguments: &[&str]| {
        command::output(Command::new("git").current_dir(repository.root()).args(arguments))
    };
    let changed = git(&["status", "--porcelain"])?;
    ensure!(changed.is_empty(), "commit or remove these first, or use --draft:\n{changed}");
    let tags = git(&["tag", "--list", &format!("v{version}")])?;
    ensure!(tags.is_empty(), "v{version} has been released: raise the version in {PLACES:?}");
    Ok(())
}

fn read(repository: &Repository, file: &str) -> Result<String> {
    fs::read_to_string(repository.root().join(file)).with_context(|| format!("cannot read {file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stands_behind_its_key() {
        assert_eq!(after("a\nVersion: 0.1.0\nb", "\nVersion: ").as_deref(), Some("0.1.0"));
        assert_eq!(
            after("a\nversion = \"1.2.3-rc.1\"\n", "\nversion = \"").as_deref(),
            Some("1.2.3-rc.1")
        );
        assert_eq!(after("version.workspace = true\n", "\nversion = \""), None);
    }

    #[test]
    fn notes_are_one_section_and_never_an_empty_one() {
        let page = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n### For clients\n- A.\n\n## [0.1.0] - 2026-11-01\n- B.\n";
        assert_eq!(section(page, "[0.2.0] - "), Some("### For clients\n- A."));
        assert_eq!(section(page, "[0.1.0] - "), Some("- B."));
        assert_eq!(section(page, "[Unreleased]"), None);
        assert_eq!(section(page, "[0.3.0] - "), None);
    }
}
