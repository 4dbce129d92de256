//! The body of an answer on disk: decoded, hashed and bounded while it arrives. The file has no
//! name, so nothing of it is left however the process ends.

use std::fs::File;
use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc::Receiver;
use yearbook_domain::{Digest, FailureCause};

use crate::failure::{CheckFailure, too_large};

/// Content codings that are understood (RFC 9110, section 8.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyCoding {
    /// None.
    Identity,
    /// gzip, of any number of members.
    Gzip,
}

/// A whole body.
#[derive(Debug)]
pub(crate) struct DownloadedFile {
    /// The bytes without their coding; the position is the end.
    pub(crate) file: File,
    /// Digest of them.
    pub(crate) content: Digest,
}

/// Writes the chunks of `body` to a file in the system's temporary folder. Blocks until the sender
/// is gone.
///
/// # Errors
/// [`FailureCause::TooLarge`] beyond `max_bytes`, [`FailureCause::Answer`] for a broken coding,
/// [`FailureCause::Internal`] when the disk fails.
pub(crate) fn write_body(
    mut body: Receiver<Bytes>,
    coding: BodyCoding,
    max_bytes: u64,
) -> Result<DownloadedFile, CheckFailure> {
    let file = tempfile::tempfile().map_err(|error| disk_failure(&error))?;
    let target = BoundedFile { file, hasher: Sha256::new(), bytes: 0, max_bytes, fault: None };
    let mut decoder = match coding {
        BodyCoding::Identity => Decoder::Identity(target),
        BodyCoding::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(target))),
    };
    while let Some(chunk) = body.blocking_recv() {
        decoder.write(&chunk)?;
    }
    let BoundedFile { file, hasher, .. } = decoder.finish()?;
    Ok(DownloadedFile { file, content: Digest::from_sha256(hasher.finalize().into()) })
}

enum Decoder {
    Identity(BoundedFile),
    Gzip(Box<MultiGzDecoder<BoundedFile>>),
}

impl Decoder {
    fn write(&mut self, chunk: &[u8]) -> Result<(), CheckFailure> {
        match self {
            Self::Identity(file) => file.write_all(chunk).map_err(|error| file.explain(&error)),
            Self::Gzip(decoder) => {
                decoder.write_all(chunk).map_err(|error| decoder.get_ref().explain_decoding(&error))
            }
        }
    }

    fn finish(self) -> Result<BoundedFile, CheckFailure> {
        match self {
            Self::Identity(file) => Ok(file),
            Self::Gzip(mut decoder) => {
                if let Err(error) = decoder.try_finish() {
                    return Err(decoder.get_ref().explain_decoding(&error));
                }
                decoder.finish().map_err(|error| disk_failure(&error))
            }
        }
    }
}

/// A file that hashes what it takes, and takes no more than it may.
struct BoundedFile {
    file: File,
    hasher: Sha256,
    bytes: u64,
    max_bytes: u64,
    /// Reason for its last refusal, which a decoder in front of it may report as an error of its
    /// own.
    fault: Option<CheckFailure>,
}

impl BoundedFile {
    fn explain(&self, error: &io::Error) -> CheckFailure {
        self.fault.clone().unwrap_or_else(|| disk_failure(error))
    }

    fn explain_decoding(&self, error: &io::Error) -> CheckFailure {
        self.fault.clone().unwrap_or_else(|| {
            let reason = format!("the answer says that it is gzip and is not, or was cut: {error}");
            CheckFailure::temporary(FailureCause::Answer, reason)
        })
    }
}

impl Write for BoundedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let after = self.bytes.saturating_add(bytes.len() as u64);
        if after > self.max_bytes {
            self.fault = Some(too_large(self.max_bytes));
            return Err(io::Error::other("too large"));
        }
        if let Err(error) = self.file.write_all(bytes) {
            self.fault = Some(disk_failure(&error));
            return Err(error);
        }
        self.hasher.update(bytes);
        self.bytes = after;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn disk_failure(error: &io::Error) -> CheckFailure {
    let folder = std::env::temp_dir();
    let reason = format!(
        "cannot keep the answer in {}: {error}; free space there, or name another folder in TMPDIR",
        folder.display()
    );
    CheckFailure::new(FailureCause::Internal, reason)
}
