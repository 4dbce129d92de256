//! Object container files of Avro, as far as manifests need them: one block, no compression. Never
//! knows what a record means; callers write fields in the order of their schema.

/// First bytes of a container.
const MAGIC: &[u8] = b"Obj\x01";

/// Mark between blocks. A fixed one makes the same file of the same content.
const SYNC: &[u8; 16] = b"yearbook/iceberg";

/// The encoded fields of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AvroRecord(Vec<u8>);

impl AvroRecord {
    /// Adds an `int` or a `long`: zigzag, seven bits a byte.
    pub(super) fn long(&mut self, value: i64) {
        let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
        loop {
            let low = u8::try_from(rest & 0x7f).unwrap_or_default();
            rest >>= 7;
            if rest == 0 {
                return self.0.push(low);
            }
            self.0.push(low | 0x80);
        }
    }

    /// Adds `bytes`.
    pub(super) fn bytes(&mut self, value: &[u8]) {
        self.long(i64::try_from(value.len()).unwrap_or(i64::MAX));
        self.0.extend_from_slice(value);
    }

    /// Adds a `string`.
    pub(super) fn string(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// Adds the branch of a union of null and another type: 0 or 1.
    pub(super) fn branch(&mut self, is_set: bool) {
        self.long(i64::from(is_set));
    }

    /// Adds an array whose items `write` adds.
    pub(super) fn array<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        if items.len() > 0 {
            self.long(i64::try_from(items.len()).unwrap_or(i64::MAX));
            items.for_each(|item| write(self, item));
        }
        self.long(0);
    }
}

/// Makes a container of one record.
pub(super) fn container(schema: &str, metadata: &[(&str, String)], record: &AvroRecord) -> Vec<u8> {
    let mut head = AvroRecord::default();
    let standard = [("avro.schema", schema.to_owned()), ("avro.codec", "null".to_owned())];
    let entries: Vec<_> = standard.iter().chain(metadata).collect();
    head.array(entries.into_iter(), |head, (name, value)| {
        head.string(name);
        head.string(value);
    });
    let mut block = AvroRecord::default();
    block.long(1);
    block.bytes(&record.0);
    [MAGIC, &head.0, SYNC, &block.0, SYNC].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_specification() {
        for (value, expected) in [
            (0, vec![0]),
            (-1, vec![1]),
            (1, vec![2]),
            (-64, vec![0x7f]),
            (64, vec![0x80, 1]),
            (i64::MIN, vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ] {
            let mut record = AvroRecord::default();
            record.long(value);
            assert_eq!(record.0, expected, "{value}");
        }
    }
}
