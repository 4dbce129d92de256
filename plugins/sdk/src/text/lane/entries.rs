//! Cells of which there are few different ones: rendered once, copied from then on.

use crate::raw::put;

/// Rendered cells, each after its lead; the last is null.
#[derive(Debug, Default)]
pub(in super::super) struct Entries {
    version: u64,
    bytes: Vec<u8>,
    ranges: Vec<(usize, usize)>,
}

impl Entries {
    /// Renders `values` cells and null, unless what is there is of the same version.
    pub(super) fn fill(&mut self, lead: &[u8], version: u64, values: usize, null: &[u8], render: impl Fn(usize, &mut Vec<u8>)) {
        if self.version == version {
            return;
        }
        self.version = version;
        self.bytes.clear();
        self.ranges.clear();
        for value in 0..values {
            self.add(lead, |out| render(value, out));
        }
        self.add(lead, |out| out.extend_from_slice(null));
        // Lets the last ones be copied in blocks of 16 bytes too.
        self.bytes.extend_from_slice(&[0; 16]);
    }

    fn add(&mut self, lead: &[u8], render: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(lead);
        render(&mut self.bytes);
        self.ranges.push((start, self.bytes.len() - start));
    }

    /// Appends a cell; what is beyond the last is null.
    #[inline(always)]
    pub(super) fn put(&self, value: usize, out: &mut Vec<u8>) {
        let (start, length) = self.ranges[value.min(self.ranges.len() - 1)];
        put(out, &self.bytes, start, length);
    }
}
