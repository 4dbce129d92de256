//! Initial size of a part's buffer: that of the last part, so that it need not grow. Owns nothing
//! but the guess.

/// Most bytes that are taken on a guess, since a guest's memory is bounded and no guess is sure.
pub(crate) const LARGEST: usize = 8 << 20;

/// Estimate of the next part's size from the last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BufferEstimate {
    /// Bytes that a row became, rounded up; 0 before the first part.
    row_bytes: usize,
}

impl BufferEstimate {
    /// A buffer for a part of so many rows.
    pub(crate) fn buffer(self, rows: usize) -> Vec<u8> {
        Vec::with_capacity(rows.saturating_mul(self.row_bytes).min(LARGEST))
    }

    /// A part of so many rows had so many bytes.
    pub(crate) fn update(&mut self, rows: usize, bytes: usize) {
        self.row_bytes = bytes / rows.max(1) + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_as_large_as_the_last_part_was_and_never_larger_than_its_bound() {
        let mut guess = BufferEstimate::default();
        assert_eq!(guess.buffer(100).capacity(), 0);
        guess.update(100, 999);
        assert_eq!(guess.buffer(50).capacity(), 500);
        assert_eq!(guess.buffer(usize::MAX).capacity(), LARGEST);
    }
}
