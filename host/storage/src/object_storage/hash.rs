//! Digests and block sums of files, always off the reactor.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use yearbook_domain::{Digest, StoredFile};

use super::block_checksums::{BlockChecksumBuilder, BlockChecksums};
use crate::StorageFailure;

/// Bytes read at a time while hashing a local file.
const HASH_BUFFER_BYTES: usize = 256 << 10;

/// Digest, size and block sums of a local file, `named` so in messages; and the file, for the one
/// who reads it next.
pub(super) async fn hash_local_file(
    mut file: File,
    named: &Path,
) -> Result<(File, (StoredFile, BlockChecksums)), StorageFailure> {
    let path = named.to_owned();
    run_blocking(move || {
        let digest = file.rewind().and_then(|()| hash_file(&mut file));
        digest
            .map(|digest| (file, digest))
            .map_err(|source| StorageFailure::local("read", &path, source))
    })
    .await?
}

/// Blocking: the same, of all that is left to read.
pub(super) fn hash_file(file: &mut File) -> std::io::Result<(StoredFile, BlockChecksums)> {
    let mut digest = FileHasher::default();
    let mut chunk = vec![0; HASH_BUFFER_BYTES];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(digest.finish()),
            read => digest.update(chunk.get(..read).unwrap_or_default()),
        }
    }
}

/// The digest of bytes that arrive piece by piece.
#[derive(Default)]
pub(super) struct FileHasher {
    hasher: Sha256,
    sums: BlockChecksumBuilder,
    bytes: u64,
}

impl FileHasher {
    /// Takes in a piece on a thread that may block.
    pub(super) async fn and(mut self, piece: Bytes) -> Result<Self, StorageFailure> {
        run_blocking(move || {
            self.update(&piece);
            self
        })
        .await
    }

    /// Digest, size and block sums of everything taken in.
    pub(super) fn finish(self) -> (StoredFile, BlockChecksums) {
        let sha256 = Digest::from_sha256(self.hasher.finalize().into());
        (StoredFile { sha256, bytes: self.bytes }, self.sums.finish())
    }

    fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.sums.update(piece);
        self.bytes += piece.len() as u64;
    }
}

/// Runs `job` on a thread that may block.
pub(super) async fn run_blocking<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StorageFailure> {
    let done = tokio::task::spawn_blocking(job).await;
    done.map_err(|_| StorageFailure::ShuttingDown { what: "a stored file".to_owned() })
}
