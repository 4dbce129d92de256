//! The data packages under `datasets/`: a list of them, in the order of publication. Never reads
//! their tables.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// Every `datapackage.json` below `datasets`, by path: a dataset's versions stand in folders whose
/// names sort in the order of publication.
pub(crate) fn descriptors(datasets: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(datasets, &mut found)?;
    found.sort();
    if found.is_empty() {
        bail!("no datapackage.json below {}", datasets.display());
    }
    Ok(found)
}

/// The descriptors that no later version supersedes: what is served after all were published.
pub fn newest_versions(descriptors: &[PathBuf]) -> Vec<PathBuf> {
    unpublished(descriptors, |_| true)
}

/// Returns the descriptors left to publish where `published` datasets exist. Their superseded
/// versions are left out, since publishing an old one again would bring it back.
pub(crate) fn unpublished(
    descriptors: &[PathBuf],
    published: impl Fn(&str) -> bool,
) -> Vec<PathBuf> {
    let superseded = |at: usize| {
        let next = descriptors.get(at + 1);
        is_version(&descriptors[at])
            && next.is_some_and(|next| dataset(next) == dataset(&descriptors[at]))
            && dataset(&descriptors[at]).is_some_and(&published)
    };
    (0..descriptors.len()).filter(|&at| !superseded(at)).map(|at| descriptors[at].clone()).collect()
}

/// The dataset of a version, `<name>` of `datasets/<name>/<number>_<what>/datapackage.json`.
fn dataset(descriptor: &Path) -> Option<&str> {
    descriptor.parent()?.parent()?.file_name()?.to_str()
}

/// Returns true if the descriptor is one of several versions:
/// `datasets/<name>/<number>_<what>/datapackage.json`.
fn is_version(descriptor: &Path) -> bool {
    let folder = descriptor.parent().and_then(Path::file_name);
    folder.is_some_and(|name| {
        name.to_string_lossy().starts_with(|first: char| first.is_ascii_digit())
    })
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.file_name().is_some_and(|name| name == "datapackage.json") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_version_is_newest() {
        let paths: Vec<PathBuf> = [
            "d/a/datapackage.json",
            "d/b/1_old/datapackage.json",
            "d/b/2_new/datapackage.json",
            "d/c/datapackage.json",
        ]
        .map(PathBuf::from)
        .into();
        let expected: Vec<PathBuf> =
            ["d/a/datapackage.json", "d/b/2_new/datapackage.json", "d/c/datapackage.json"]
                .map(PathBuf::from)
                .into();
        assert_eq!(newest_versions(&paths), expected);
    }

    #[test]
    fn an_old_version_is_published_only_where_the_dataset_is_not_there_yet() {
        let paths: Vec<PathBuf> =
            ["d/b/1_old/datapackage.json", "d/b/2_new/datapackage.json"].map(PathBuf::from).into();
        assert_eq!(unpublished(&paths, |_| false), paths);
        assert_eq!(unpublished(&paths, |name| name == "b"), paths[1..]);
    }
}
