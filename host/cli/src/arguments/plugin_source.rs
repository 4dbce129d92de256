//! A plugin as it is named on the command line: a file, or a reference to a registry.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use yearbook_registry::{ReferenceError, RegistryReference};

/// A plugin on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginSource {
    /// A file: a component, or a core module.
    File(PathBuf),
    /// A component in a registry.
    Registry(RegistryReference),
}

impl FromStr for PluginSource {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // No file has such a name, so an address of another kind is refused for what it is.
        if text.contains("://") {
            RegistryReference::parse(text).map(Self::Registry)
        } else {
            Ok(Self::File(text.into()))
        }
    }
}

impl fmt::Display for PluginSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Registry(reference) => reference.fmt(f),
        }
    }
}

impl PluginSource {
    /// Folder of the file; the working directory for a reference.
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::File(path) => path.parent().unwrap_or(Path::new("")),
            Self::Registry(_) => Path::new(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_file_unless_it_begins_as_a_reference_contract_14() {
        assert_eq!("a/b.wasm".parse(), Ok(PluginSource::File("a/b.wasm".into())));
        let reference: Result<PluginSource, _> = "oci://localhost:5000/a:1".parse();
        assert!(matches!(reference, Ok(PluginSource::Registry(_))));
        assert!("OCI://localhost:5000/a".parse::<PluginSource>().is_err());
        let advice = "download it and name the file";
        let refused = "https://example.org/lines.wasm".parse::<PluginSource>();
        assert!(refused.is_err_and(|error| error.to_string().contains(advice)));
    }
}
