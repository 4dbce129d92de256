//! Traps: what stopped a guest, with its figures, and as a short word that becomes a label.

/// The guest's fault: a call was stopped, by which limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// `cpu_ms_per_call`.
    #[error("stopped after {0} ms of processor time (sandbox.cpu_ms_per_call)")]
    Cpu(u64),
    /// `wall_ms_per_call`.
    #[error("stopped after {0} ms (sandbox.wall_ms_per_call)")]
    Wall(u64),
    /// `memory_bytes`.
    #[error("wanted more memory than {0} bytes (sandbox.memory_bytes)")]
    Memory(usize),
    /// `total_memory_bytes`: not this guest's fault.
    #[error(
        "the memory of all guests together, {bytes} bytes, is used up (sandbox.total_memory_bytes)"
    )]
    TotalMemory {
        /// Memory of all guests together, bytes.
        bytes: usize,
        /// Others held some of what this guest wanted; they will give it back.
        shared: bool,
    },
    /// `table_elements`.
    #[error("wanted a table of more than {0} elements (sandbox.table_elements)")]
    Table(usize),
    /// `stack_bytes`.
    #[error("used up its stack of {0} bytes (sandbox.stack_bytes)")]
    Stack(usize),
    /// `output_bytes_per_call`.
    #[error("returned more than {0} bytes in one call (sandbox.output_bytes_per_call)")]
    Output(usize),
    /// `note_bytes`.
    #[error("left notes of more than {0} bytes for its tail (sandbox.note_bytes)")]
    Notes(usize),
    /// `amplification`.
    #[error(
        "returned {returned} bytes for {allowed} that its input allows (sandbox.amplification)"
    )]
    Amplification {
        /// Bytes returned.
        returned: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// `read_amplification`.
    #[error(
        "made {returned} bytes of rows where its file allows {allowed} (sandbox.read_amplification)"
    )]
    ReadAmplification {
        /// Bytes of rows.
        returned: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// `transform_amplification`.
    #[error(
        "made {returned} bytes of rows, with its chain, where what was read allows {allowed} (sandbox.transform_amplification)"
    )]
    TransformAmplification {
        /// Bytes of rows.
        returned: usize,
        /// Bytes allowed.
        allowed: usize,
    },
    /// A splice that breaks a rule of the interface.
    #[error("returned a piece whose {0} (encoder.splice in the interface)")]
    Splice(String),
    /// Views that do not fit the schema.
    #[error("has views for {views} columns, and the schema has {columns} (encoding.views)")]
    Views {
        /// Views returned.
        views: usize,
        /// Columns of the schema.
        columns: usize,
    },
    /// Anything that WebAssembly itself stops: a panic, an access out of bounds.
    #[error("trapped: {0}")]
    Wasm(String),
}

impl Trap {
    /// Returns true where the input decides whether a guest runs into this limit. Processor time,
    /// stack and tables do not grow with rows in a guest that is well made.
    #[must_use]
    pub fn depends_on_input(&self) -> bool {
        matches!(
            self,
            Self::Memory(_)
                | Self::Output(_)
                | Self::Notes(_)
                | Self::Amplification { .. }
                | Self::TransformAmplification { .. }
        )
    }
}

/// Kind of a trap: [`Trap`] without its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// Processor time of a call.
    Cpu,
    /// Time of a call by the clock on the wall.
    Wall,
    /// Memory or tables.
    Memory,
    /// Stack.
    Stack,
    /// Bytes that one call returned.
    Output,
    /// Bytes of notes.
    Notes,
    /// Bytes returned for what came in.
    Amplification,
    /// Splices or views that break a rule.
    Reference,
    /// A panic, or anything else that WebAssembly stops.
    Wasm,
}

impl TrapKind {
    /// Every one, in the order in which they are counted.
    pub const ALL: [Self; 9] = [
        Self::Cpu,
        Self::Wall,
        Self::Memory,
        Self::Stack,
        Self::Output,
        Self::Notes,
        Self::Amplification,
        Self::Reference,
        Self::Wasm,
    ];

    /// As a label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wall => "wall",
            Self::Memory => "memory",
            Self::Stack => "stack",
            Self::Output => "output",
            Self::Notes => "notes",
            Self::Amplification => "amplification",
            Self::Reference => "reference",
            Self::Wasm => "wasm",
        }
    }
}

impl Trap {
    /// The limit, without its figures.
    #[must_use]
    pub fn kind(&self) -> TrapKind {
        match self {
            Self::Cpu(_) => TrapKind::Cpu,
            Self::Wall(_) => TrapKind::Wall,
            Self::Memory(_) | Self::TotalMemory { .. } | Self::Table(_) => TrapKind::Memory,
            Self::Stack(_) => TrapKind::Stack,
            Self::Output(_) => TrapKind::Output,
            Self::Notes(_) => TrapKind::Notes,
            Self::Amplification { .. }
            | Self::ReadAmplification { .. }
            | Self::TransformAmplification { .. } => TrapKind::Amplification,
            Self::Splice(_) | Self::Views { .. } => TrapKind::Reference,
            Self::Wasm(_) => TrapKind::Wasm,
        }
    }
}
