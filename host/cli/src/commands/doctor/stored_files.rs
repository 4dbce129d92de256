//! Checks that the files of snapshots exist, and with `--deep` that their bytes are as published.

use yearbook_catalog::Catalog;
use yearbook_domain::StoredFile;
use yearbook_storage::ObjectStorage;

use super::{CheckList, Finding, Status};
use crate::output::pluralize;

/// Names of damaged things that one line lists; the rest are counted.
const MAX_LISTED: usize = 5;

/// Every current snapshot's file must be there whole; an older one that is not is a warning, since
/// only pinned requests and cursors need it.
pub(super) async fn snapshots(
    checks: &mut CheckList,
    store: &Catalog,
    files: &ObjectStorage,
    deep: bool,
) {
    checks.add("snapshots", verify_files(store, files, deep).await);
}

async fn verify_files(
    store: &Catalog,
    files: &ObjectStorage,
    deep: bool,
) -> anyhow::Result<Finding> {
    let sound = async |file: &StoredFile| {
        if deep { files.is_intact(file).await } else { files.exists(file).await }
    };
    let datasets = store.datasets().await?;
    let mut broken = Vec::new();
    for dataset in &datasets {
        if !sound(&dataset.current.file).await? {
            broken.push(dataset.name.to_string());
        }
    }
    let wrong = if deep { "is missing or damaged" } else { "is missing or has the wrong size" };
    if !broken.is_empty() {
        let (first, rest) = broken.split_at(broken.len().min(MAX_LISTED));
        let more =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        anyhow::bail!(
            "the stored file of {}{more} {wrong}; restore it, or publish the package again",
            first.join(", ")
        );
    }
    let mut old = 0;
    for file in store.referenced_files().await? {
        old += usize::from(!sound(&file).await?);
    }
    if old > 0 {
        return Ok((
            Status::Warn,
            format!(
                "older snapshots or changes whose stored file {wrong}: {old}; requests that need them fail: restore them"
            ),
        ));
    }
    let read = if deep { ", and every byte is what was published" } else { "; --deep reads them" };
    let all = pluralize(datasets.len() as u64, "dataset");
    Ok((Status::Ok, format!("the stored files of {all} are there{read}")))
}
