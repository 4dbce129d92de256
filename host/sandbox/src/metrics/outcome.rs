//! How responses end, and what stops a guest, as short words with a fixed number of values: they
//! become labels.

use crate::failure::{EncodeError, GenerateError, Trap};

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseOutcome {
    /// All of it was made.
    Completed,
    /// The plugin cannot carry the schema, or a dataset: 422.
    UnsupportedSchema,
    /// The plugin takes no such option: 422.
    InvalidOption,
    /// The input was more than the plugin can take within its limits: 413 or 422.
    TooLarge,
    /// The plugin reported its own fault.
    Internal,
    /// The plugin was stopped; by what, [`TrapKind`] tells.
    Trapped,
    /// The plugin's files break a rule.
    BadOutput,
    /// The scan failed.
    Input,
    /// The host failed.
    Host,
    /// The client went away, or took nothing for too long.
    Abandoned,
}

impl ResponseOutcome {
    /// Every one, in the order of [`super::Counts::outcomes`].
    pub const ALL: [Self; 10] = [
        Self::Completed,
        Self::UnsupportedSchema,
        Self::InvalidOption,
        Self::TooLarge,
        Self::Internal,
        Self::Trapped,
        Self::BadOutput,
        Self::Input,
        Self::Host,
        Self::Abandoned,
    ];

    /// As a label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::UnsupportedSchema => "unsupported_schema",
            Self::InvalidOption => "invalid_option",
            Self::TooLarge => "too_large",
            Self::Internal => "internal",
            Self::Trapped => "trapped",
            Self::BadOutput => "bad_output",
            Self::Input => "input",
            Self::Host => "host",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether the plugin is to blame.
    #[must_use]
    pub fn is_failure_of_the_plugin(self) -> bool {
        matches!(self, Self::Internal | Self::Trapped | Self::BadOutput)
    }
}

/// What stopped a guest: [`Trap`] without its figures.
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
    /// A panic, or anything else that WebAssembly stops.
    Wasm,
}

impl TrapKind {
    /// Every one, in the order of [`super::Counts::traps`].
    pub const ALL: [Self; 8] = [
        Self::Cpu,
        Self::Wall,
        Self::Memory,
        Self::Stack,
        Self::Output,
        Self::Notes,
        Self::Amplification,
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
            Self::Wasm => "wasm",
        }
    }
}

impl Trap {
    /// Which limit, without its figures.
    #[must_use]
    pub fn kind(&self) -> TrapKind {
        match self {
            Self::Cpu(_) => TrapKind::Cpu,
            Self::Wall(_) => TrapKind::Wall,
            Self::Memory(_) | Self::TotalMemory { .. } | Self::Table(_) => TrapKind::Memory,
            Self::Stack(_) => TrapKind::Stack,
            Self::Output(_) => TrapKind::Output,
            Self::Notes(_) => TrapKind::Notes,
            Self::Amplification { .. } => TrapKind::Amplification,
            Self::Wasm(_) => TrapKind::Wasm,
        }
    }
}

/// A failure as it is counted: its outcome, and what stopped the guest.
pub(crate) trait ClassifyOutcome {
    fn ending(&self) -> (ResponseOutcome, Option<TrapKind>);
}

impl ClassifyOutcome for EncodeError {
    fn ending(&self) -> (ResponseOutcome, Option<TrapKind>) {
        match self {
            Self::UnsupportedSchema(_) => (ResponseOutcome::UnsupportedSchema, None),
            Self::InvalidOption(_) => (ResponseOutcome::InvalidOption, None),
            Self::TooLarge { trap, .. } => (ResponseOutcome::TooLarge, Some(trap.kind())),
            Self::Internal { .. } => (ResponseOutcome::Internal, None),
            Self::Trapped { trap, .. } => (ResponseOutcome::Trapped, Some(trap.kind())),
            Self::Input(_) => (ResponseOutcome::Input, None),
            Self::Busy { .. } | Self::ShareUsedUp | Self::Host(_) => (ResponseOutcome::Host, None),
        }
    }
}

impl ClassifyOutcome for GenerateError {
    fn ending(&self) -> (ResponseOutcome, Option<TrapKind>) {
        match self {
            Self::UnsupportedDataset(_) => (ResponseOutcome::UnsupportedSchema, None),
            Self::InvalidOption(_) => (ResponseOutcome::InvalidOption, None),
            Self::TooLarge { trap, .. } => (ResponseOutcome::TooLarge, Some(trap.kind())),
            Self::Internal { .. } => (ResponseOutcome::Internal, None),
            Self::Trapped { trap, .. } => (ResponseOutcome::Trapped, Some(trap.kind())),
            Self::Output { .. } => (ResponseOutcome::BadOutput, None),
            Self::MemoryUsedUp { .. } | Self::Host(_) => (ResponseOutcome::Host, None),
        }
    }
}
