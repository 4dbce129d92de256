//! An error with more to it than sentences: a list for people, members for machines.

use std::fmt;

use serde_json::{Map, Value};

/// An error whose details are shown in their own shape, below or beside its sentence.
#[derive(Clone, Debug)]
pub struct DetailedError {
    /// What failed.
    pub message: String,
    /// What people see below the message; empty, or starts with a line break.
    pub text: String,
    /// What machines get beside `error`.
    pub members: Map<String, Value>,
}

impl fmt::Display for DetailedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DetailedError {}
