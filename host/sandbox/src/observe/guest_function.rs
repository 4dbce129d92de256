//! Functions of the interface, as dumps name them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A function of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuestFunction {
    /// `describe` of any world.
    Describe,
    /// `encoding.open`, `reading.open` or `transforming.open`, the making of the instance included.
    Open,
    /// `encoding.head`.
    Head,
    /// `encoding.part`.
    Part,
    /// `encoding.tail`.
    Tail,
    /// `generator.generate`.
    Generate,
    /// `reading.push` or `transforming.push`.
    Push,
    /// `reading.columns`.
    Columns,
    /// `reading.pull`.
    Pull,
    /// `transform.plan`.
    Plan,
    /// `transforming.output`.
    Output,
    /// `transforming.prime`.
    Prime,
    /// `transforming.finish`.
    Finish,
    /// `adapter.answer`.
    Answer,
    /// `adapter.frame`.
    Frame,
    /// `adapter.refuse`.
    Refuse,
}

impl GuestFunction {
    /// Name in a dump's file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Open => "open",
            Self::Head => "head",
            Self::Part => "part",
            Self::Tail => "tail",
            Self::Generate => "generate",
            Self::Push => "push",
            Self::Columns => "columns",
            Self::Pull => "pull",
            Self::Plan => "plan",
            Self::Output => "output",
            Self::Prime => "prime",
            Self::Finish => "finish",
            Self::Answer => "answer",
            Self::Frame => "frame",
            Self::Refuse => "refuse",
        }
    }
}

impl fmt::Display for GuestFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
