//! Writes Thrift's compact protocol: what page headers, indexes and the footer are spelled in.
//! Knows nothing of Parquet.
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>)

/// Types of elements and fields.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Appends one struct, field by field in ascending order of their ids.
pub(crate) struct Thrift<'a> {
    out: &'a mut Vec<u8>,
    /// The id of the field before, in this struct and those around it.
    last: Vec<u8>,
}

impl<'a> Thrift<'a> {
    /// Begins a struct.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, last: vec![0] }
    }

    pub(crate) fn bool(&mut self, id: u8, value: bool) {
        self.field(id, if value { TRUE } else { FALSE });
    }

    pub(crate) fn i16(&mut self, id: u8, value: i16) {
        self.field(id, I16);
        self.zigzag(value.into());
    }

    pub(crate) fn i32(&mut self, id: u8, value: i32) {
        self.field(id, I32);
        self.zigzag(value.into());
    }

    pub(crate) fn i64(&mut self, id: u8, value: i64) {
        self.field(id, I64);
        self.zigzag(value);
    }

    pub(crate) fn binary(&mut self, id: u8, value: &[u8]) {
        self.field(id, BINARY);
        self.bytes(value);
    }

    /// A struct as a field.
    pub(crate) fn nested(&mut self, id: u8, fields: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.element(fields);
    }

    pub(crate) fn bools(&mut self, id: u8, values: impl ExactSizeIterator<Item = bool>) {
        self.list(id, TRUE, values.len());
        self.out.extend(values.map(|value| if value { TRUE } else { FALSE }));
    }

    pub(crate) fn i32s(&mut self, id: u8, values: impl ExactSizeIterator<Item = i32>) {
        self.list(id, I32, values.len());
        values.for_each(|value| self.zigzag(value.into()));
    }

    pub(crate) fn i64s(&mut self, id: u8, values: impl ExactSizeIterator<Item = i64>) {
        self.list(id, I64, values.len());
        values.for_each(|value| self.zigzag(value));
    }

    pub(crate) fn binaries<'b>(&mut self, id: u8, values: impl ExactSizeIterator<Item = &'b [u8]>) {
        self.list(id, BINARY, values.len());
        values.for_each(|value| self.bytes(value));
    }

    /// A list of structs.
    pub(crate) fn structs<T>(
        &mut self,
        id: u8,
        items: impl ExactSizeIterator<Item = T>,
        mut fields: impl FnMut(&mut Self, T),
    ) {
        self.list(id, STRUCT, items.len());
        items.for_each(|item| self.element(|thrift| fields(thrift, item)));
    }

    /// Ends the struct.
    pub(crate) fn end(self) {
        self.out.push(0);
    }

    fn element(&mut self, fields: impl FnOnce(&mut Self)) {
        self.last.push(0);
        fields(self);
        self.last.pop();
        self.out.push(0);
    }

    fn field(&mut self, id: u8, kind: u8) {
        if let Some(last) = self.last.last_mut() {
            let delta = id - std::mem::replace(last, id);
            debug_assert!((1..16).contains(&delta), "fields ascend");
            self.out.push(delta << 4 | kind);
        }
    }

    fn list(&mut self, id: u8, kind: u8, length: usize) {
        self.field(id, LIST);
        match u8::try_from(length) {
            Ok(short) if short < 15 => self.out.push(short << 4 | kind),
            _ => {
                self.out.push(0xf0 | kind);
                varint(self.out, length as u64);
            }
        }
    }

    fn bytes(&mut self, value: &[u8]) {
        varint(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    fn zigzag(&mut self, value: i64) {
        varint(self.out, (value << 1 ^ value >> 63).cast_unsigned());
    }
}

/// Seven bits a byte, the least significant first.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_is_spelled_as_the_compact_protocol_says() {
        let mut out = Vec::new();
        let mut thrift = Thrift::new(&mut out);
        thrift.i32(1, -1);
        thrift.i64(3, 300);
        thrift.nested(4, |inner| inner.binary(2, b"ab"));
        thrift.bools(5, [true, false].into_iter());
        thrift.bool(7, true);
        thrift.structs(8, [1_i32, 2].iter(), |item, value| item.i32(1, *value));
        thrift.i64s(9, (0..16).map(|_| 1));
        thrift.end();
        let expected = [
            &[0x15, 0x01, 0x26, 0xd8, 0x04, 0x1c, 0x28, 2, b'a', b'b', 0][..],
            &[0x19, 0x21, 1, 2, 0x21, 0x19, 0x2c, 0x15, 2, 0, 0x15, 4, 0],
            &[0x19, 0xf6, 16],
            &[2; 16],
            &[0],
        ];
        assert_eq!(out, expected.concat());
    }
}
