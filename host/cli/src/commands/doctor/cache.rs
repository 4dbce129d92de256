//! Whether the folder of compiled plugins and the secret that seals them are ours alone: machine
//! code is loaded from there.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::{Finding, Status};
use crate::settings::RunSettings;

pub(super) fn is_ours(settings: &RunSettings) -> anyhow::Result<Finding> {
    let (folder, key) = (settings.cache_dir(), settings.cache_key_file());
    let folder_there = check_private(
        &folder,
        0o022,
        "others can write it, and machine code is loaded from it",
        "700",
    )?;
    let key_there = check_private(
        &key,
        0o077,
        "others can read or write it, and could seal machine code of their own",
        "600",
    )?;
    Ok((
        Status::Ok,
        match (folder_there, key_there) {
            (true, true) => format!("{} and its key are this user's alone", folder.display()),
            (true, false) => format!(
                "{} has no key; the next start makes one and compiles plugins anew",
                folder.display()
            ),
            (false, _) => format!("{} is made when it is first needed", folder.display()),
        },
    ))
}

/// Whether `path` is there; an error when it is not this user's, or open by any bit of `closed`.
fn check_private(path: &Path, closed: u32, why: &str, mode: &str) -> anyhow::Result<bool> {
    let metadata = match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        metadata => metadata.with_context(|| format!("cannot look at {}", path.display()))?,
    };
    let us = rustix::process::geteuid().as_raw();
    if metadata.uid() != us {
        bail!(
            "{} belongs to user {}, and this is user {us}; run doctor as the service's user, or chown it",
            path.display(),
            metadata.uid()
        );
    }
    if metadata.mode() & closed != 0 {
        bail!("{0}: {why}; chmod {mode} {0}", path.display());
    }
    Ok(true)
}
