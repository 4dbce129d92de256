//! Owner of the folder and of the secret. A mode says nothing of its owner, who can change it at
//! any time: machine code is loaded from what belongs to this process's user, and from nothing
//! else.

use std::fs::Metadata;

/// Passes what belongs to the user of this process.
///
/// # Errors
/// A sentence, when it belongs to another user.
#[cfg(unix)]
pub(super) fn check(metadata: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    is_ours(metadata.uid(), us)
}

#[cfg(not(unix))]
pub(super) fn check(_: &Metadata) -> Result<(), String> {
    Ok(())
}

#[cfg(unix)]
fn is_ours(owner: u32, us: u32) -> Result<(), String> {
    if owner == us {
        return Ok(());
    }
    Err(format!(
        "it belongs to user {owner}, and this is user {us}; run as the service's user, or chown it"
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_another_user_is_refused_even_by_root_and_even_where_it_is_root_s() {
        for (owner, us, expected) in [
            (0, 0, true),
            (1000, 1000, true),
            (1000, 0, false),
            (0, 1000, false),
            (1000, 1001, false),
        ] {
            assert_eq!(is_ours(owner, us).is_ok(), expected, "{owner} {us}");
        }
    }
}
