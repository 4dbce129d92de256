//! The flat records of the WIT package as plain values: what crosses between host and guest. The
//! guest converts the generated bindings into these, and [`crate::testing`] makes them natively, so
//! both take the same path from here on.

/// A column, or a child of one; see `encoder.field`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawField {
    /// The column's name.
    pub(crate) name: String,
    /// Format string of the Arrow C data interface.
    pub(crate) format: String,
    /// Set where nulls may occur.
    pub(crate) nullable: bool,
    /// Set where the values follow as the next field.
    pub(crate) dictionary: bool,
    /// Number of the following fields that are children.
    pub(crate) children: u32,
    /// Key and value.
    pub(crate) metadata: Vec<(String, String)>,
}

/// See `encoder.schema`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawSchema {
    /// Pre-order.
    pub(crate) fields: Vec<RawField>,
    /// Key and value.
    pub(crate) metadata: Vec<(String, String)>,
}

/// See `encoder.array`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawArray {
    /// Rows, or elements of a child.
    pub(crate) length: u32,
    /// Number of nulls among them.
    pub(crate) null_count: u32,
    /// Number of the batch's buffers that belong to it.
    pub(crate) buffers: u32,
    /// Dictionary values only: as in the batch before.
    pub(crate) repeated: bool,
}

/// See `encoder.batch`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawBatch {
    /// At least 1.
    pub(crate) rows: u32,
    /// In the order of [`Schema::fields`](crate::Schema::fields).
    pub(crate) arrays: Vec<RawArray>,
    /// In the order of the arrays.
    pub(crate) buffers: Vec<RawBuffer>,
}

/// See `encoder.buffer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawBuffer {
    /// A copy of it.
    Bytes(Vec<u8>),
    /// Its length; the bytes stay with the host.
    Held(u32),
}

/// See `encoder.splice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawSplice {
    /// Bytes of the output that stand before.
    pub(crate) at: u32,
    /// Index among the batch's buffers.
    pub(crate) buffer: u32,
    /// Start of the range.
    pub(crate) offset: u32,
    /// Bytes of the range.
    pub(crate) length: u32,
}

/// See `reader.batch` and `transform.made-rows`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawRows {
    /// At least 1.
    pub(crate) rows: u32,
    /// One a column.
    pub(crate) arrays: Vec<RawArray>,
    /// In the order of the arrays.
    pub(crate) buffers: Vec<Vec<u8>>,
}

/// See `transform.batch`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawInputRows {
    /// Nothing of it is held or repeated.
    pub(crate) batch: RawBatch,
    /// One a row, where rows have groups.
    pub(crate) groups: Vec<u32>,
}

/// See `transform.made-rows`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawMadeRows {
    /// The made columns.
    pub(crate) rows: RawRows,
    /// Positions in the batch.
    pub(crate) take: Vec<u32>,
    /// Numbers of groups.
    pub(crate) groups: Vec<u32>,
}
