//! Checks of what lies on this machine: settings in force, the data directory, and the folder of
//! compiled plugins. Never opens a connection.

use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context as _, bail};
use yearbook_sandbox::CACHE_RESERVED_BYTES;

use super::{Finding, Status};
use crate::context::{CommandContext, redact_password};
use crate::settings::{Assignment, RawSetting, RunSettings};

/// Settings in force that are not the defaults, with their sources. Never fails: wrong settings are
/// refused before any command runs.
pub(super) fn effective_settings(context: &CommandContext) -> Finding {
    let settings = &context.settings;
    let file = settings
        .file
        .as_deref()
        .map_or_else(|| "no settings file".to_owned(), |path| path.display().to_string());
    let written: Vec<String> = settings.written.iter().map(describe).collect();
    let rest = if written.is_empty() {
        "every value is the default".to_owned()
    } else {
        written.join("; ")
    };
    (Status::Ok, format!("{file}; {rest}"))
}

fn describe(assignment: &Assignment) -> String {
    let value = match &assignment.value {
        RawSetting::Text(text) => text.clone(),
        RawSetting::Typed(serde_json::Value::String(text)) => text.clone(),
        RawSetting::Typed(value) => value.to_string(),
    };
    let value = match assignment {
        _ if assignment.key.ends_with("url") => redact_password(&value),
        _ if assignment.is_secret() => "***".to_owned(),
        _ => value,
    };
    format!("{} = {value} ({})", assignment.key, assignment.origin)
}

/// Checks that the data directory is writable, and closed to other users.
///
/// # Errors
/// A sentence that says what to do about it.
pub(super) fn check_data_dir(path: &Path) -> anyhow::Result<Finding> {
    if !path.exists() {
        return Ok((Status::Ok, format!("{} is made when it is first needed", path.display())));
    }
    let probe = path.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"")
        .with_context(|| format!("{} is not writable; give it to this user", path.display()))?;
    std::fs::remove_file(&probe).with_context(|| format!("cannot remove {}", probe.display()))?;
    let mode = std::fs::metadata(path)
        .with_context(|| format!("cannot look at {}", path.display()))?
        .permissions()
        .mode()
        & 0o777;
    if mode & 0o077 != 0 {
        return Ok((
            Status::Warn,
            format!(
                "{0} is open to other users (mode {mode:03o}); it holds secrets: chmod 700 {0}",
                path.display()
            ),
        ));
    }
    let disk = rustix::fs::statvfs(path)
        .with_context(|| format!("cannot look at the disk of {}", path.display()))?;
    Ok(evaluate_room(path, disk.f_bavail.saturating_mul(disk.f_frsize)))
}

fn evaluate_room(path: &Path, free: u64) -> Finding {
    let free_mib = free >> 20;
    if free < CACHE_RESERVED_BYTES {
        return (
            Status::Warn,
            format!(
                "the disk of {} has {free_mib} MiB free: compiled plugins are not kept, and a full one stops counted requests; free some room",
                path.display()
            ),
        );
    }
    (Status::Ok, format!("{} is writable, and its disk has {free_mib} MiB free", path.display()))
}

/// Checks that the folder of compiled plugins and the secret that seals them belong to this user
/// alone: machine code is loaded from there.
///
/// # Errors
/// A sentence with the command that sets it right.
pub(super) fn check_cache(settings: &RunSettings) -> anyhow::Result<Finding> {
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

/// True where `path` exists; an error when it is not this user's, or open by any bit of `closed`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_nearly_full_is_warned_of_contract_6() {
        let check = |free| evaluate_room(Path::new("/var/lib/yearbook"), free);
        assert_eq!(check(128 << 20).0, Status::Ok);
        let (status, message) = check((128 << 20) - 1);
        assert_eq!(status, Status::Warn);
        assert!(message.contains("/var/lib/yearbook has 127 MiB free"), "{message}");
    }
}
