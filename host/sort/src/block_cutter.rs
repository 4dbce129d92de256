//! Cuts of ordered rows: into blocks to be gathered, hashed and written, and into row groups. Where
//! the cuts fall depends on values and order alone, never on how the input or the runs were cut, so
//! the same table always makes the same file.

/// Rows of a row group at most.
pub const GROUP_ROWS: usize = 131_072;

/// Bytes of a row group, uncompressed; a single row may exceed it. Encoders in a sandbox hold one
/// in memory, so geometry must not make it large.
pub const GROUP_BYTES: usize = 16 << 20;

/// Rows and bytes of blocks and of row groups; a single row may exceed the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    block: RowsAndBytes,
    group: RowsAndBytes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RowsAndBytes {
    rows: usize,
    bytes: usize,
}

impl BlockLimits {
    /// Blocks of a stored file: pieces of its row groups.
    pub const FILE: Self = Self {
        block: RowsAndBytes { rows: 16_384, bytes: 4 << 20 },
        group: RowsAndBytes { rows: GROUP_ROWS, bytes: GROUP_BYTES },
    };

    /// Batches of `bytes` without row groups.
    pub(super) fn batches(bytes: usize) -> Self {
        let unbounded = RowsAndBytes { rows: usize::MAX, bytes: usize::MAX };
        Self { block: RowsAndBytes { rows: 16_384, bytes }, group: unbounded }
    }
}

/// The block and the row group in progress.
#[derive(Debug)]
pub(super) struct BlockCutter {
    limits: BlockLimits,
    block: RowsAndBytes,
    group: RowsAndBytes,
}

impl BlockCutter {
    pub(super) fn new(limits: BlockLimits) -> Self {
        Self { limits, block: RowsAndBytes::default(), group: RowsAndBytes::default() }
    }

    /// Returns whether the next row, of `size` bytes, begins a row group.
    pub(super) fn begins_group(&self, size: usize) -> bool {
        self.group.rows == 0 || self.group.is_full(self.limits.group, size)
    }

    /// Begins a row group.
    pub(super) fn begin_group(&mut self) {
        *self = Self::new(self.limits);
    }

    /// Takes in the next row, of `size` bytes; or leaves it out where the block ends before it, and
    /// says whether the row group does too.
    pub(super) fn push(&mut self, size: usize) -> Result<(), BlockEnd> {
        let group_full = self.group.is_full(self.limits.group, size);
        if group_full || self.block.is_full(self.limits.block, size) {
            self.block = RowsAndBytes::default();
            if group_full {
                self.group = RowsAndBytes::default();
            }
            return Err(BlockEnd { ends_group: group_full });
        }
        self.block.add(size);
        self.group.add(size);
        Ok(())
    }
}

impl RowsAndBytes {
    fn is_full(self, limit: Self, size: usize) -> bool {
        self.rows == limit.rows || (self.rows > 0 && self.bytes.saturating_add(size) > limit.bytes)
    }

    fn add(&mut self, size: usize) {
        self.rows += 1;
        self.bytes = self.bytes.saturating_add(size);
    }
}

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEnd {
    pub(super) ends_group: bool,
}
