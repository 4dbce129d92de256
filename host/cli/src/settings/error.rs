//! Errors of settings, each with the place where the setting was written.

use std::fmt;
use std::path::PathBuf;

/// Place where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// A settings file.
    File {
        /// Path as it was named.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// A variable of the environment, by its name.
    Variable(String),
    /// A flag of the command line, by its name.
    Flag(&'static str),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}, line {line}", path.display()),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::Flag(name) => write!(f, "{name}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The file is not TOML.
    #[error("{origin}: this is not TOML: {message}")]
    Syntax {
        /// Place where reading stopped.
        origin: SettingOrigin,
        /// The parser's sentence.
        message: String,
    },
    /// No such key.
    #[error("{origin}: unknown key `{key}`; the nearest known key is `{nearest}`")]
    Unknown {
        /// Place where it was written.
        origin: SettingOrigin,
        /// As it was written.
        key: String,
        /// Written the same way (a key of a file, or a variable).
        nearest: String,
    },
    /// The value does not fit the key.
    #[error("{origin}: `{key}` must be {expected}, not {found}")]
    Value {
        /// Place where it was written.
        origin: SettingOrigin,
        /// Path of the key.
        key: String,
        /// Description of the values that fit.
        expected: String,
        /// Value as written.
        found: String,
    },
    /// Values that fit alone do not fit together.
    #[error("these settings do not fit together: {message}")]
    Incompatible {
        /// Serde's sentence.
        message: String,
    },
    /// Two names of one setting disagree.
    #[error("{first} and {second} both set `{key}`, to different values; keep one of them")]
    Conflict {
        /// Path of the key.
        key: String,
        /// One place.
        first: SettingOrigin,
        /// The other.
        second: SettingOrigin,
    },
}

/// Everything that is wrong with the settings, so that one look mends it all.
#[derive(Clone, Debug)]
pub struct InvalidSettings(pub Vec<SettingError>);

impl fmt::Display for InvalidSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(problems) = self;
        match problems.as_slice() {
            [one] => write!(f, "a setting is wrong: {one}"),
            many => {
                write!(f, "{} settings are wrong", many.len())?;
                many.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for InvalidSettings {}
