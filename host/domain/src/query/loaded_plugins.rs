//! Formats and transforms that a client may name now.

/// Loaded plugins by name, in the order in which a problem lists them. Pictures are taken like any
/// other format, but a problem names data formats alone (contract-9-image-formats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedPlugins<'a> {
    /// Formats that hold the rows.
    pub data: &'a [&'a str],
    /// Formats that show them, of a media type `image/*`.
    pub pictures: &'a [&'a str],
    /// Transforms, with the version that is loaded.
    pub transforms: &'a [(&'a str, &'a str)],
}

impl<'a> LoadedPlugins<'a> {
    /// Returns whether a client may name `format`.
    #[must_use]
    pub fn has_format(&self, format: &str) -> bool {
        self.data.contains(&format) || self.pictures.contains(&format)
    }
}

/// Data formats alone.
impl<'a> From<&'a [&'a str]> for LoadedPlugins<'a> {
    fn from(data: &'a [&'a str]) -> Self {
        Self { data, ..Self::default() }
    }
}

/// Data formats alone.
impl<'a, const N: usize> From<&'a [&'a str; N]> for LoadedPlugins<'a> {
    fn from(data: &'a [&'a str; N]) -> Self {
        Self { data, ..Self::default() }
    }
}
