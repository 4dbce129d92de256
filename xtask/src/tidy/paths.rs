//! Checks that what prose points at is there: links of Markdown and paths of the source tree.

use std::path::{Component, Path, PathBuf};

use super::{SourceTree, numbered};

/// Folders at the top whose paths are checked where prose names them.
const TOP: [&str; 10] = [
    "host/",
    "plugins/",
    "tests/",
    "xtask/",
    "docs/",
    "wit/",
    "migrations/",
    "datasets/",
    "deploy/",
    "examples/",
];

/// Pages about what was, with the names of then.
const HISTORY: [&str; 2] = ["CHANGELOG.md", "docs/decisions/history/"];

/// Beginnings of paths that only a build makes, or that an example makes up.
const MADE_UP: [&str; 4] = ["plugins/dist", "xtask/target", "docs/NUL", "deploy/yearbook"];

/// Links of Markdown to files, folders and headings that do not exist.
pub(super) fn links(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in tree.of_kind("md") {
        for (n, line) in numbered(text).filter(|(_, line)| !line.starts_with("    ")) {
            for target in targets(line) {
                if target.contains("://") || target.starts_with("mailto:") || target.contains(' ') {
                    continue;
                }
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let full = if file.is_empty() { path.to_owned() } else { beside(path, file) };
                if !tree.has(&full) {
                    faults.push(format!("{path}:{n}: {target} does not exist"));
                } else if !anchor.is_empty()
                    && tree.texts.get(&full).is_some_and(|page| !has_heading(page, anchor))
                {
                    faults.push(format!("{path}:{n}: {full} has no heading #{anchor}"));
                }
            }
        }
    }
    faults
}

/// Paths below the top that prose names and that do not exist.
pub(super) fn cited_paths(tree: &SourceTree) -> Vec<String> {
    let mut faults = Vec::new();
    let is_history = |path: &str| HISTORY.iter().any(|page| path.starts_with(page));
    for (path, n, line) in tree.prose().filter(|(path, _, _)| !is_history(path)) {
        for cited in cited(line) {
            if !tree.has(cited) && !tree.has(&format!("{cited}.rs")) {
                faults.push(format!("{path}:{n}: {cited} does not exist"));
            }
        }
    }
    faults
}

/// Targets of the links in a line: `](target)` and `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let reference = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target.trim());
    inline.chain(reference).collect()
}

/// Paths in a line that begin with a folder at the top and are spelled out.
fn cited(line: &str) -> Vec<&str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let mut found = Vec::new();
    for top in TOP {
        for (start, _) in line.match_indices(top) {
            let before = line.get(..start).and_then(|before| before.chars().next_back());
            let rest = line.get(start..).unwrap_or_default();
            let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
            let (cited, after) = rest.split_at(end);
            let cited = cited.trim_end_matches(['.', '/', '-']);
            // `{a,b}`, `*` and `…` name several.
            let several = after.starts_with(['*', '{', '<', '…', '$']);
            let part_of_more = before.is_some_and(|c| is_path(c) || "$}~".contains(c));
            if !part_of_more
                && !several
                && cited.contains('/')
                && !MADE_UP.iter().any(|made_up| cited.starts_with(made_up))
            {
                found.push(cited);
            }
        }
    }
    found
}

/// `target` as seen from the page at `path`, without `.` and `..`.
fn beside(path: &str, target: &str) -> String {
    let mut full = PathBuf::new();
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir => {
                full.pop();
            }
            Component::Normal(part) => full.push(part),
            _ => {}
        }
    }
    full.to_string_lossy().into_owned()
}

/// True where a heading of `page` has `anchor` as GitHub spells it.
fn has_heading(page: &str, anchor: &str) -> bool {
    page.lines().filter(|line| line.starts_with('#')).any(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let spelled: String = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        spelled == anchor
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_folders_and_headings() {
        let tree = SourceTree::from_files(&[
            (
                "docs/a.md",
                "[b](b.md#two-words) [c](c.md) [up](../host) [no](b.md#three)\n[d]: gone.md\n",
            ),
            ("docs/b.md", "# One\n## Two words\n"),
            ("host/a.rs", ""),
        ]);
        let faults = links(&tree);
        assert_eq!(
            faults,
            [
                "docs/a.md:1: c.md does not exist",
                "docs/a.md:1: docs/b.md has no heading #three",
                "docs/a.md:2: gone.md does not exist"
            ]
        );
    }

    #[test]
    fn paths_in_prose_exist() {
        let text =
            "//! See `docs/b.md`, host/a and tests/gone.rs, not plugins/*/src nor a/docs/x.\n";
        let tree = SourceTree::from_files(&[("host/a.rs", text), ("docs/b.md", "")]);
        assert_eq!(cited_paths(&tree), ["host/a.rs:1: tests/gone.rs does not exist"]);
    }
}
