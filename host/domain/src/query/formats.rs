//! Formats that a client may name now.

/// Loaded formats by name, in the order in which a problem lists them. Pictures are taken like any
/// other format, but a problem names data formats alone (contract-9-image-formats).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedFormats<'a> {
    /// Formats that hold the rows.
    pub data: &'a [&'a str],
    /// Formats that show them, of a media type `image/*`.
    pub pictures: &'a [&'a str],
}

impl<'a> LoadedFormats<'a> {
    /// Returns whether a client may name `format`.
    #[must_use]
    pub fn contains(&self, format: &str) -> bool {
        self.data.contains(&format) || self.pictures.contains(&format)
    }
}

/// Data formats alone.
impl<'a> From<&'a [&'a str]> for LoadedFormats<'a> {
    fn from(data: &'a [&'a str]) -> Self {
        Self { data, pictures: &[] }
    }
}

/// Data formats alone.
impl<'a, const N: usize> From<&'a [&'a str; N]> for LoadedFormats<'a> {
    fn from(data: &'a [&'a str; N]) -> Self {
        Self { data, pictures: &[] }
    }
}
