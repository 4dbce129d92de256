//! Parts of a response: bytes of the guest with ranges of its input put in. Owns the checks on
//! splices and the join, which copies each byte once, or not at all where a range is large enough
//! to travel by itself. Never sees a guest.

use arrow::buffer::Buffer;
use bytes::Bytes;
use yearbook_engine::Trap;

use crate::guest::bindings::exports::yearbook::plugin::encoder as wire;

/// Ranges from this length on are not copied: they go to the client as segments of their own. Below
/// it a copy costs less than what every segment costs on its way.
const SEGMENT_BYTES: usize = 4 << 10;

/// Memory that shared ranges may keep alive, as a multiple of the bytes that a part shares of one
/// buffer: where they are a smaller part of it, they are copied.
const KEPT_BYTES: usize = 4;

/// Ranges up to this length, most texts of a dictionary and most of what stands between them, are
/// copied with what follows them, which is then cut off: a length that the compiler knows takes no
/// call and no branch.
pub(super) const SHORT_BYTES: usize = 32;

/// Weight of a splice beside the bytes that it names.
const SPLICE_BYTES: usize = size_of::<wire::Splice>();

/// A part, checked.
#[derive(Debug)]
pub(crate) struct EncodedPart {
    bytes: Vec<u8>,
    splices: Vec<wire::Splice>,
    /// The input that splices name; empty without any.
    buffers: Vec<Buffer>,
    length: usize,
    /// For the tail.
    pub(crate) note: Vec<u8>,
}

impl EncodedPart {
    /// Checks a guest's piece. `buffers` are those of its batch, `limit` what a call may return.
    ///
    /// # Errors
    /// [`Trap::Splice`] with the rule that a splice breaks, [`Trap::Output`].
    pub(crate) fn check(
        piece: wire::Piece,
        buffers: impl ExactSizeIterator<Item = Buffer>,
        limit: usize,
    ) -> Result<Self, Trap> {
        let wire::Piece { bytes, splices, note } = piece;
        let buffers: Vec<Buffer> = if splices.is_empty() { Vec::new() } else { buffers.collect() };
        let mut length = bytes.len();
        let mut last = 0;
        for (index, splice) in splices.iter().enumerate() {
            check_splice(splice, &buffers, bytes.len(), last)
                .map_err(|rule| Trap::Splice(format!("splice {index} {rule}")))?;
            last = splice.at;
            length = length.saturating_add(splice.length as usize);
            if length > limit {
                return Err(Trap::Output(limit));
            }
        }
        Ok(Self { bytes, splices, buffers, length, note })
    }

    /// Bytes of the response.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Weight of what was given out: bytes of the response, the note, and each splice itself.
    pub(crate) fn weight(&self) -> usize {
        let splices = self.splices.len().saturating_mul(SPLICE_BYTES);
        self.length.saturating_add(self.note.len()).saturating_add(splices)
    }

    /// Its length, and its note, which is gone from here.
    pub(crate) fn take_note(&mut self) -> (usize, Vec<u8>) {
        (self.length, std::mem::take(&mut self.note))
    }

    /// Appends its bytes. Has room for [`SHORT_BYTES`] behind them.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        out.reserve(self.length.saturating_add(SHORT_BYTES));
        self.each_range(|from, length, _| match from.first_chunk::<SHORT_BYTES>() {
            Some(more) if length <= SHORT_BYTES => {
                let end = out.len() + length;
                out.extend_from_slice(more);
                out.truncate(end);
            }
            _ => out.extend_from_slice(&from[..length]),
        });
    }

    /// Appends its bytes to a body. A part without splices is not copied.
    pub(crate) fn append_to_body(self, body: &mut BodyBuilder) {
        if self.splices.is_empty() {
            return body.push(self.bytes);
        }
        let shared = self.shared_buffers();
        if shared.iter().all(Option::is_none) {
            body.reserve(self.length);
        }
        self.each_range(|from, length, splice| {
            let long = splice.filter(|_| length >= SEGMENT_BYTES);
            match long.and_then(|splice| Some((splice, shared[splice.buffer as usize].as_ref()?))) {
                Some((splice, buffer)) => {
                    let start = splice.offset as usize;
                    body.push_shared(buffer.slice(start..start + length));
                }
                None => body.extend(&from[..length]),
            }
        });
    }

    /// The buffers of which ranges are better shared than copied.
    fn shared_buffers(&self) -> Vec<Option<Bytes>> {
        let mut bytes = vec![0_usize; self.buffers.len()];
        for splice in &self.splices {
            let length = splice.length as usize;
            if length >= SEGMENT_BYTES {
                bytes[splice.buffer as usize] += length;
            }
        }
        let buffers = self.buffers.iter().zip(bytes);
        let share = |(buffer, bytes): (&Buffer, usize)| {
            let worth = bytes > 0 && bytes.saturating_mul(KEPT_BYTES) >= buffer.capacity();
            worth.then(|| Bytes::from_owner(buffer.clone()))
        };
        buffers.map(share).collect()
    }

    /// Calls `with` for each range of the output in order: with what begins with it, its length,
    /// and its splice where it is one of the input.
    fn each_range<'a>(&'a self, mut with: impl FnMut(&'a [u8], usize, Option<&'a wire::Splice>)) {
        let mut written = 0;
        for splice in &self.splices {
            let at = splice.at as usize;
            if at > written {
                with(&self.bytes[written..], at - written, None);
                written = at;
            }
            let buffer = self.buffers[splice.buffer as usize].as_slice();
            with(&buffer[splice.offset as usize..], splice.length as usize, Some(splice));
        }
        if written < self.bytes.len() {
            with(&self.bytes[written..], self.bytes.len() - written, None);
        }
    }
}

/// The rule that a splice breaks, if it does.
fn check_splice(
    splice: &wire::Splice,
    buffers: &[Buffer],
    bytes: usize,
    last: u32,
) -> Result<(), String> {
    let wire::Splice { at, buffer, offset, length } = *splice;
    if at < last {
        return Err(format!("stands at {at}, before the one that precedes it at {last}"));
    }
    if at as usize > bytes {
        return Err(format!("stands at {at}, and the piece has {bytes} bytes"));
    }
    let Some(range) = buffers.get(buffer as usize) else {
        return Err(format!("names buffer {buffer}, and the batch has {}", buffers.len()));
    };
    if length == 0 {
        return Err("is empty".to_owned());
    }
    let end = u64::from(offset) + u64::from(length);
    if end > range.len() as u64 {
        return Err(format!("ends at {end} of buffer {buffer}, which has {} bytes", range.len()));
    }
    Ok(())
}

/// Bytes of a response in segments: small ranges are copied together, large ones stay where they
/// are.
#[derive(Debug, Default)]
pub(crate) struct BodyBuilder {
    segments: Vec<Bytes>,
    open: Vec<u8>,
}

impl BodyBuilder {
    /// Bytes in order; none is empty.
    pub(crate) fn finish(mut self) -> Vec<Bytes> {
        self.close();
        self.segments
    }

    /// Appends a copy.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
    }

    fn reserve(&mut self, bytes: usize) {
        self.open.reserve(bytes);
    }

    fn push(&mut self, bytes: Vec<u8>) {
        if self.open.is_empty() {
            self.open = bytes;
        } else {
            self.extend(&bytes);
        }
    }

    fn push_shared(&mut self, range: Bytes) {
        self.close();
        self.segments.push(range);
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.segments.push(std::mem::take(&mut self.open).into());
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn splice(at: u32, buffer: u32, offset: u32, length: u32) -> wire::Splice {
        wire::Splice { at, buffer, offset, length }
    }

    fn check(
        bytes: &[u8],
        splices: &[wire::Splice],
        buffers: &[Buffer],
    ) -> Result<EncodedPart, Trap> {
        let piece =
            wire::Piece { bytes: bytes.to_vec(), splices: splices.to_vec(), note: Vec::new() };
        EncodedPart::check(piece, buffers.iter().cloned(), 1 << 20)
    }

    fn joined(piece: EncodedPart) -> (Vec<u8>, Vec<usize>) {
        let mut copied = Vec::new();
        piece.append_to(&mut copied);
        assert_eq!(copied.len(), piece.len());
        let mut body = BodyBuilder::default();
        piece.append_to_body(&mut body);
        let segments = body.finish();
        assert_eq!(segments.concat(), copied);
        (copied, segments.iter().map(Bytes::len).collect())
    }

    #[test]
    fn ranges_stand_where_the_splices_say() {
        let buffers = [Buffer::from(b"north"), Buffer::from(b"south")];
        let all = [splice(0, 0, 0, 5), splice(1, 1, 1, 2), splice(1, 1, 1, 2), splice(2, 0, 4, 1)];
        let piece = check(b"-+", &all, &buffers).unwrap();
        assert_eq!(joined(piece).0, b"north-ouou+h");
        assert_eq!(joined(check(b"alone", &[], &buffers).unwrap()).0, b"alone");

        // Short ones, which are copied with what follows, beside longer ones and the last bytes.
        let bytes: Vec<u8> = (0..100).collect();
        let all = [(3, 2), (5, 1), (20, 32), (60, 33), (99, 1), (40, 31)];
        let splices = all.map(|(offset, length)| splice(0, 0, offset, length));
        let expected = all.map(|(offset, length)| &bytes[offset as usize..][..length as usize]);
        let piece = check(b"", &splices, &[Buffer::from(bytes.as_slice())]).unwrap();
        assert_eq!(joined(piece).0, expected.concat());
    }

    #[test]
    fn bytes_between_splices_stand_as_the_guest_wrote_them() {
        let bytes: Vec<u8> = (0..100).collect();
        let places = [1, 1, 3, 35, 68, 99, 100];
        let splices = places.map(|at| splice(at, 0, 0, 1));
        let mut expected = bytes.clone();
        places.iter().rev().for_each(|&at| expected.insert(at as usize, b'x'));
        let piece = check(&bytes, &splices, &[Buffer::from(b"x")]).unwrap();
        assert_eq!(joined(piece).0, expected);
    }

    #[test]
    fn a_range_that_is_large_and_most_of_its_buffer_is_not_copied() {
        let large = Buffer::from_vec(vec![b'x'; SEGMENT_BYTES * 8]);
        let whole = u32::try_from(large.len()).unwrap();
        let some = u32::try_from(SEGMENT_BYTES).unwrap();
        let buffers = [large];
        let lengths = |splices: &[wire::Splice]| joined(check(b"ab", splices, &buffers).unwrap()).1;
        assert_eq!(lengths(&[splice(1, 0, 0, whole)]), [1, SEGMENT_BYTES * 8, 1]);
        // A small part of what it would keep alive; with others it is a larger one.
        assert_eq!(lengths(&[splice(1, 0, 0, some)]), [SEGMENT_BYTES + 2]);
        let two = [splice(1, 0, 0, some), splice(1, 0, some, some)];
        assert_eq!(lengths(&two), [1, SEGMENT_BYTES, SEGMENT_BYTES, 1]);
        assert_eq!(lengths(&[splice(0, 0, 5, 7)]), [9]);
    }

    #[test]
    fn a_splice_that_breaks_a_rule_is_refused_by_its_index() {
        let buffers = [Buffer::from(b"north"), Buffer::default()];
        for (splices, rule) in [
            (vec![splice(0, 0, 0, 6)], "ends at 6"),
            (vec![splice(0, 0, 5, 1)], "ends at 6"),
            (vec![splice(0, 0, u32::MAX, u32::MAX)], "ends at 8589934590"),
            (vec![splice(0, 1, 0, 1)], "ends at 1 of buffer 1"),
            (vec![splice(0, 2, 0, 1)], "names buffer 2"),
            (vec![splice(0, u32::MAX, 0, 1)], "names buffer 4294967295"),
            (vec![splice(3, 0, 0, 1)], "stands at 3"),
            (vec![splice(0, 0, 0, 0)], "is empty"),
            (vec![splice(2, 0, 0, 1), splice(1, 0, 0, 1)], "splice 1 stands at 1"),
        ] {
            match check(b"ab", &splices, &buffers).unwrap_err() {
                Trap::Splice(sentence) => assert!(sentence.contains(rule), "{sentence}"),
                other => panic!("{other}"),
            }
        }
        let many = vec![splice(0, 0, 0, 5); 1 << 18];
        assert_eq!(check(b"ab", &many, &buffers).unwrap_err(), Trap::Output(1 << 20));
    }
}
