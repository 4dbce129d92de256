//! SHA-256 of files, always off the reactor.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use yearbook_domain::StoredFile;

use super::local;
use crate::Failure;

/// Bytes read at a time while hashing a local file.
const CHUNK: usize = 256 << 10;

/// Digest and size of a local file.
pub(super) async fn of_local(path: &Path) -> Result<StoredFile, Failure> {
    let path = path.to_owned();
    blocking(move || {
        let mut file = std::fs::File::open(&path).map_err(|source| local(&path, source))?;
        let mut digest = Running::default();
        let mut chunk = vec![0; CHUNK];
        loop {
            match file.read(&mut chunk).map_err(|source| local(&path, source))? {
                0 => return Ok(digest.finish()),
                read => digest.update(chunk.get(..read).unwrap_or_default()),
            }
        }
    })
    .await?
}

/// The digest of bytes that arrive piece by piece.
#[derive(Default)]
pub(super) struct Running {
    hasher: Sha256,
    bytes: u64,
}

impl Running {
    /// Takes in a piece on a thread that may block.
    pub(super) async fn and(mut self, piece: Bytes) -> Result<Self, Failure> {
        blocking(move || {
            self.update(&piece);
            self
        })
        .await
    }

    /// Digest and size of everything taken in.
    pub(super) fn finish(self) -> StoredFile {
        let sha256 = self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        StoredFile { sha256, bytes: self.bytes }
    }

    fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.bytes += piece.len() as u64;
    }
}

async fn blocking<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(job).await;
    done.map_err(|_| Failure::Stopped { what: "a digest".to_owned() })
}
