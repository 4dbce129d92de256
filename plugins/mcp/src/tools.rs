//! The list of tools with their schemas, which `build.rs` writes out of `tools.json`.

/// The tools as clients are told of them: a JSON array.
pub(crate) const LIST: &str = include_str!(concat!(env!("OUT_DIR"), "/tools.json"));

/// Each tool with the names of its arguments, and of those that it requires.
const ARGUMENTS: &[(&str, &[&str], &[&str])] = include!(concat!(env!("OUT_DIR"), "/arguments.rs"));

/// Names of the arguments of a tool.
pub(crate) struct ArgumentNames {
    /// All of them.
    pub(crate) known: &'static [&'static str],
    /// Names that it requires.
    pub(crate) required: &'static [&'static str],
}

/// Names of the arguments of the tool `name`. `None` where there is no such tool.
pub(crate) fn arguments(name: &str) -> Option<ArgumentNames> {
    let (_, known, required) = ARGUMENTS.iter().find(|(tool, ..)| *tool == name)?;
    Some(ArgumentNames { known, required })
}
