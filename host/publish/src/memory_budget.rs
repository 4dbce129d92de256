//! Memory that publishing a table may use, and its shares.

/// Bytes for everything but rows that are sorted: chunks being read, a record of CSV three times
/// (96 MiB at most), series of previews (128 MiB at most), pages being written.
const OTHER_BYTES: u64 = 256 << 20;

/// Bytes that publishing one table may use, about: rows beyond it go through temporary files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishMemory {
    bytes: u64,
}

impl Default for PublishMemory {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

impl PublishMemory {
    /// Bytes of the default budget.
    pub const DEFAULT_BYTES: u64 = 1 << 30;

    /// Bytes below which reading and writing alone take more.
    pub const MIN_BYTES: u64 = 64 << 20;

    /// A budget of `bytes`. Half of it at least goes to rows, so a budget below 512 MiB may be
    /// exceeded by what a table of very many series or a very long record needs besides.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Bytes of a table's rows and their sort keys.
    pub(crate) fn table_bytes(self) -> usize {
        share(self.row_bytes(), 3, 4)
    }

    /// Bytes of the primary keys that are sorted beside the table.
    pub(crate) fn key_bytes(self) -> usize {
        share(self.row_bytes(), 1, 4)
    }

    /// Bytes of the fingerprints of each of two snapshots that are compared.
    pub(crate) fn fingerprint_bytes(self) -> usize {
        share(self.row_bytes(), 1, 2)
    }

    fn row_bytes(self) -> u64 {
        self.bytes - OTHER_BYTES.min(self.bytes / 2)
    }
}

fn share(bytes: u64, part: u64, of: u64) -> usize {
    usize::try_from(bytes / of * part).unwrap_or(usize::MAX)
}
