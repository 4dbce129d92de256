//! Data packages below the paths that an operator names (contract-8-packages). Reads names of files
//! alone.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Name of a descriptor. With a word and a dot before it, several lie in one folder.
const DESCRIPTOR: &str = "datapackage.json";

/// Folders below a named one that are looked through.
const MAX_DEPTH: usize = 8;

/// A descriptor to refresh, or a path that leads to none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPackage {
    /// Path of the descriptor, or the path as it was named.
    pub path: PathBuf,
    /// Reason for which there is nothing to refresh.
    pub fault: Option<String>,
}

/// Finds the packages that `paths` name: descriptors, and folders of them at any depth down to 8.
/// Each is found once, those of a folder in the order of their names. Hidden files and folders are
/// left out.
#[must_use]
pub fn find_packages(paths: &[PathBuf]) -> Vec<FoundPackage> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for path in paths {
        let before = (found.len(), seen.len());
        search(path, 0, &mut seen, &mut found);
        // A folder that was looked through before has shown its packages then.
        if found.len() == before.0 && seen.len() > before.1 {
            let fault = format!(
                "no data package is in it: neither {DESCRIPTOR} nor NAME.{DESCRIPTOR}, in no folder below"
            );
            found.push(FoundPackage { path: path.clone(), fault: Some(fault) });
        }
    }
    found
}

/// Looks through `path`; what cannot be read is a fault of its own, and the rest is found.
fn search(path: &Path, depth: usize, seen: &mut BTreeSet<PathBuf>, found: &mut Vec<FoundPackage>) {
    if let Err(error) = search_readable(path, depth, seen, found) {
        found.push(FoundPackage { path: path.to_owned(), fault: Some(error.to_string()) });
    }
}

fn search_readable(
    path: &Path,
    depth: usize,
    seen: &mut BTreeSet<PathBuf>,
    found: &mut Vec<FoundPackage>,
) -> io::Result<()> {
    // Links may lead to what was seen already, or in a circle.
    if !seen.insert(path.canonicalize()?) {
        return Ok(());
    }
    if !path.is_dir() {
        found.push(FoundPackage { path: path.to_owned(), fault: None });
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for entry in entries {
        let name = entry.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        let is_descriptor = name == DESCRIPTOR || name.ends_with(&format!(".{DESCRIPTOR}"));
        let is_folder = entry.is_dir() && depth < MAX_DEPTH;
        if is_folder || (is_descriptor && !entry.is_dir()) {
            search(&entry, depth + 1, seen, found);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_folder_stands_for_the_packages_below_it_contract_8() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for file in [
            "all/b/datapackage.json",
            "all/b/rows.csv",
            "all/a/deep/datapackage.json",
            "all/gdp.datapackage.json",
            "all/cpi.datapackage.json",
            "all/other.json",
            "all/.hidden/datapackage.json",
            "empty/readme.md",
            "single.json",
        ] {
            std::fs::create_dir_all(place(file).parent().unwrap()).unwrap();
            std::fs::write(place(file), "{}").unwrap();
        }
        // In a circle, and to what is found already.
        std::os::unix::fs::symlink(place("all"), place("all/b/up")).unwrap();
        // To nowhere, which is no reason to overlook the others.
        let dangling = place("all/a/deep/x.datapackage.json");
        std::os::unix::fs::symlink(place("gone"), dangling).unwrap();
        let paths = ["all", "all/b", "single.json", "empty", "nowhere"].map(place).to_vec();
        let found = find_packages(&paths);
        let good: Vec<_> = found
            .iter()
            .filter(|found| found.fault.is_none())
            .map(|found| found.path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            good,
            [
                "all/a/deep/datapackage.json",
                "all/b/datapackage.json",
                "all/cpi.datapackage.json",
                "all/gdp.datapackage.json",
                "single.json"
            ]
        );
        let faults: Vec<_> = found.iter().filter_map(|found| found.fault.as_deref()).collect();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].contains("No such file"), "{faults:?}");
        assert!(faults[1].starts_with("no data package is in it"), "{faults:?}");
        assert!(faults[2].contains("No such file"), "{faults:?}");
    }
}
