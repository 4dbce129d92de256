//! Rendered values of a dictionary.

/// Texts by number, kept as long as their version is the same.
#[derive(Debug, Default)]
pub(super) struct Entries {
    version: u64,
    bytes: Vec<u8>,
    /// End of each.
    ends: Vec<usize>,
}

impl Entries {
    /// Renders `count` texts, unless those that are there have this version.
    pub(super) fn render(
        &mut self,
        version: u64,
        count: usize,
        render: impl Fn(usize, &mut Vec<u8>),
    ) {
        if self.version == version {
            return;
        }
        self.version = version;
        self.bytes.clear();
        self.ends.clear();
        for number in 0..count {
            render(number, &mut self.bytes);
            self.ends.push(self.bytes.len());
        }
    }

    /// A text; empty for a number that there is not.
    #[inline]
    pub(super) fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { Some(0) } else { self.ends.get(number - 1).copied() };
        let end = self.ends.get(number).copied();
        start.zip(end).and_then(|(start, end)| self.bytes.get(start..end)).unwrap_or_default()
    }
}
