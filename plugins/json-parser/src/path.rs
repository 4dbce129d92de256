//! Paths of values: names and positions from the root to a value.

use std::fmt;

/// Longest name that a path shows, characters.
const SHOWN: usize = 60;

/// An array or object that is open.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    /// With the name read last.
    Object(String),
    /// With the position of the value at hand.
    Array(u64),
}

impl Frame {
    pub(crate) fn object() -> Self {
        Self::Object(String::new())
    }

    pub(crate) fn array() -> Self {
        Self::Array(0)
    }

    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }
}

/// The path of a value.
#[derive(Debug, Clone, Copy)]
pub struct JsonPath<'a>(pub(crate) &'a [Frame]);

impl<'a> JsonPath<'a> {
    /// Number of names and positions; 0 for the root.
    #[must_use]
    pub fn depth(self) -> usize {
        self.0.len()
    }

    /// The name at a depth from 0; `None` where there is a position, or nothing.
    #[must_use]
    pub fn name(self, depth: usize) -> Option<&'a str> {
        match self.0.get(depth) {
            Some(Frame::Object(name)) => Some(name),
            _ => None,
        }
    }

    /// The position at a depth from 0; `None` where there is a name, or nothing.
    #[must_use]
    pub fn position(self, depth: usize) -> Option<u64> {
        match self.0.get(depth) {
            Some(Frame::Array(position)) => Some(*position),
            _ => None,
        }
    }

    /// Returns whether the names and positions at the first depths are `names`; none stands for any
    /// position.
    #[must_use]
    pub fn begins_with(self, names: &[Option<&str>]) -> bool {
        names.len() <= self.0.len()
            && names.iter().enumerate().all(|(depth, name)| match name {
                Some(_) => self.name(depth) == *name,
                None => self.position(depth).is_some(),
            })
    }
}

impl fmt::Display for JsonPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for frame in self.0 {
            match frame {
                Frame::Array(position) => write!(f, "[{position}]")?,
                Frame::Object(name) => {
                    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                    let short: String = name.chars().take(SHOWN).collect();
                    if plain { write!(f, ".{short}")? } else { write!(f, "[{short:?}]")? }
                }
            }
        }
        Ok(())
    }
}
