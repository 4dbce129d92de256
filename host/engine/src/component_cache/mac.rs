//! The secret of one host's cache, and the seal that it puts on an entry (HMAC-SHA-256, RFC 2104).
//! A user who can write the cache's folder but not read the secret cannot make an entry that
//! counts.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::ownership;

/// Bytes of a seal.
pub(super) const SEAL_BYTES: usize = 32;

/// Bytes of a secret: as many as the hash has.
const SECRET_BYTES: usize = 32;

/// Purpose of a seal, so that no other use of the secret makes one; changes with the entries'
/// shape.
const PURPOSE: &[u8] = b"yearbook compiled plugin 1\0";

/// Makes and checks seals.
pub(super) struct MacKey {
    keyed: Hmac<Sha256>,
}

impl MacKey {
    /// Reads the secret, or makes one where there is none. Of several processes that make it at
    /// once one wins.
    ///
    /// # Errors
    /// A sentence, when the file cannot be made or read, is open to others or has another length.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let secret = match read_key(path)? {
            Some(secret) => secret,
            None => {
                create_key(path).map_err(|error| format!("cannot be made: {error}"))?;
                read_key(path)?.ok_or("is gone again")?
            }
        };
        let keyed = Hmac::new_from_slice(&secret).map_err(|error| error.to_string())?;
        Ok(Self { keyed })
    }

    /// The seal of an entry. `name`: whose machine code, for which engine.
    pub(super) fn sign(&self, name: &str, artifact: &[u8]) -> [u8; SEAL_BYTES] {
        self.mac(name, artifact).finalize().into_bytes().into()
    }

    /// Returns whether `seal` is the seal of this entry, in constant time.
    pub(super) fn verify(&self, name: &str, artifact: &[u8], seal: &[u8]) -> bool {
        self.mac(name, artifact).verify_slice(seal).is_ok()
    }

    fn mac(&self, name: &str, artifact: &[u8]) -> Hmac<Sha256> {
        // A name has neither zero bytes nor a length of its own choice, so no two entries are the
        // same text.
        self.keyed
            .clone()
            .chain_update(PURPOSE)
            .chain_update(name)
            .chain_update([0])
            .chain_update(artifact)
    }
}

fn read_key(path: &Path) -> Result<Option<[u8; SECRET_BYTES]>, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    ownership::check(&metadata)?;
    if open_to_others(&metadata) {
        return Err(
            "others may read or write it; remove it, and the next start makes another".to_owned()
        );
    }
    let mut content = Vec::with_capacity(SECRET_BYTES + 1);
    file.take(SECRET_BYTES as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|error| format!("cannot be read: {error}"))?;
    content.try_into().map(Some).map_err(|_| {
        format!("does not have {SECRET_BYTES} bytes; remove it, and the next start makes another")
    })
}

/// A file appears whole or not at all, and one that is there stays.
fn create_key(path: &Path) -> std::io::Result<()> {
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut secret)?;
    let partial =
        path.with_extension(format!("{}-{:08x}.partial", std::process::id(), getrandom::u32()?));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&partial).and_then(|mut file| file.write_all(&secret));
    let linked = written.and_then(|()| std::fs::hard_link(&partial, path));
    // None of it stays, even where the disk is full.
    let _ = std::fs::remove_file(&partial);
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

#[cfg(unix)]
fn open_to_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn open_to_others(_: &Metadata) -> bool {
    false
}
