//! Buffers of one column under construction: validity from the first null on, offsets, values.

use crate::reader::ReadType;

#[derive(Debug)]
pub(super) struct ValueBuffer {
    pub(super) read_type: ReadType,
    /// Least significant bit first; empty as long as there is no null.
    pub(super) validity: Vec<u8>,
    pub(super) nulls: u32,
    /// Values so far.
    pub(super) length: usize,
    pub(super) offsets: Vec<u8>,
    pub(super) values: Vec<u8>,
}

impl ValueBuffer {
    pub(super) fn new(read_type: ReadType) -> Self {
        let offsets =
            if read_type == ReadType::Text { vec![0; size_of::<i32>()] } else { Vec::new() };
        Self { read_type, validity: Vec::new(), nulls: 0, length: 0, offsets, values: Vec::new() }
    }

    pub(super) fn push_valid(&mut self) {
        if self.nulls > 0 {
            push_bit(&mut self.validity, self.length, true);
        }
        self.length += 1;
    }

    pub(super) fn push_null(&mut self) {
        if self.nulls == 0 {
            // Everything before it is valid.
            self.validity = vec![0xff; self.length / 8];
            let rest = self.length % 8;
            if rest > 0 {
                self.validity.push((1 << rest) - 1);
            }
        }
        push_bit(&mut self.validity, self.length, false);
        match self.read_type {
            ReadType::Text => self.push_offset(),
            ReadType::Integer | ReadType::Number => self.values.extend_from_slice(&[0; 8]),
            ReadType::Boolean => push_bit(&mut self.values, self.length, false),
        }
        self.nulls += 1;
        self.length += 1;
    }

    pub(super) fn push_offset(&mut self) {
        let end = i32::try_from(self.values.len()).unwrap_or(i32::MAX);
        self.offsets.extend_from_slice(&end.to_le_bytes());
    }
}

pub(super) fn push_bit(bits: &mut Vec<u8>, at: usize, value: bool) {
    if at.is_multiple_of(8) {
        bits.push(0);
    }
    if let Some(last) = bits.last_mut() {
        *last |= u8::from(value) << (at % 8);
    }
}
