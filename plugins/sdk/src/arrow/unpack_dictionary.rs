//! Dictionary-encoded text as plain text: each row's value is copied from its dictionary, in blocks
//! of a fixed length where values are short. Only the keys cross, and few bytes of them.

use crate::batch::ColumnBuffers;
use crate::column::{Bits, Column, Strings};
use crate::{Error, Field, Values};

/// State of a column's dictionary between batches.
#[derive(Debug, Default)]
pub(super) struct TextDictionary {
    /// Of the dictionary that the rest was made of; 0 for none.
    version: u64,
    values: ValueBlocks,
}

/// Values in blocks of their own, and how long each is. Behind the last stands an empty one, for
/// null.
#[derive(Debug, Default)]
enum ValueBlocks {
    /// There is one that is longer than any block, or the dictionary is large beside its rows.
    #[default]
    None,
    Of16(Vec<([u8; 16], u32)>),
    Of32(Vec<([u8; 32], u32)>),
    Of64(Vec<([u8; 64], u32)>),
}

impl TextDictionary {
    /// `array`, which is a dictionary-encoded column `field`, as a plain one.
    pub(super) fn unpack(
        &mut self,
        field: &Field,
        array: &ColumnBuffers,
    ) -> Result<ColumnBuffers, Error> {
        let column = Column::new(field, array);
        let Values::Dictionary(dictionary) = &column.values else { return Err(internal(field)) };
        let Values::Utf8(strings) = &dictionary.values.values else { return Err(internal(field)) };
        let (keys, count) = (&*dictionary.keys, dictionary.values.length);
        if self.version != dictionary.version {
            *self = Self {
                version: dictionary.version,
                values: ValueBlocks::new(strings, dictionary.values.validity(), count, keys.len()),
            };
        }
        let spare = dictionary
            .values
            .validity()
            .map(|valid| combine_validity(keys, column.validity(), valid, count));
        let validity = spare
            .as_deref()
            .map(|bytes| Bits::new(bytes, array.length))
            .or(column.validity().copied());
        // A null's key may be anything; it becomes that of the empty value behind the last.
        let key = |row: usize, key: i32| {
            if validity.is_some_and(|bits| !bits.get(row)) {
                count
            } else {
                key_index(key).min(count)
            }
        };
        let (offsets, bytes) = match &self.values {
            ValueBlocks::Of16(values) => blocks(values, keys, key),
            ValueBlocks::Of32(values) => blocks(values, keys, key),
            ValueBlocks::Of64(values) => blocks(values, keys, key),
            ValueBlocks::None => copies(strings, keys, count, key)?,
        };
        let validity = validity.map_or_else(Vec::new, |bits| bits.bytes().to_vec());
        let null_count = if validity.is_empty() { 0 } else { count_nulls(&validity, array.length) };
        Ok(ColumnBuffers {
            length: array.length,
            null_count,
            buffers: vec![validity, offsets, bytes],
            held: None,
            children: Vec::new(),
            dictionary: None,
        })
    }
}

impl ValueBlocks {
    fn new(
        strings: &Strings<'_, i32>,
        valid: Option<&Bits<'_>>,
        count: usize,
        rows: usize,
    ) -> Self {
        let longest = (0..count).map(|value| strings.range(value).1).max().unwrap_or(0);
        match longest {
            _ if count > rows => Self::None,
            0..=16 => Self::Of16(table(strings, valid, count)),
            17..=32 => Self::Of32(table(strings, valid, count)),
            33..=64 => Self::Of64(table(strings, valid, count)),
            _ => Self::None,
        }
    }
}

fn table<const N: usize>(
    strings: &Strings<'_, i32>,
    valid: Option<&Bits<'_>>,
    count: usize,
) -> Vec<([u8; N], u32)> {
    let value = |value: usize| {
        let mut block = [0; N];
        if valid.is_some_and(|bits| !bits.get(value)) {
            return (block, 0);
        }
        let text = strings.bytes(value);
        block[..text.len()].copy_from_slice(text);
        (block, u32::try_from(text.len()).unwrap_or(0))
    };
    (0..count).map(value).chain([([0; N], 0)]).collect()
}

/// Offsets and values of the rows, from blocks: one copy of a fixed length a row.
fn blocks<const N: usize>(
    values: &[([u8; N], u32)],
    keys: &[i32],
    key: impl Fn(usize, i32) -> usize,
) -> (Vec<u8>, Vec<u8>) {
    let mut offsets = vec![0; (keys.len() + 1) * 4];
    let longest = values.iter().map(|(_, length)| *length as usize).max().unwrap_or(0);
    let mut bytes = vec![0; longest * keys.len() + N];
    let mut end = 0_u32;
    for (row, (offset, &of_row)) in
        offsets.as_chunks_mut::<4>().0[1..].iter_mut().zip(keys).enumerate()
    {
        let (block, length) = &values[key(row, of_row)];
        let at = end as usize;
        bytes[at..at + N].copy_from_slice(block);
        end += length;
        *offset = end.to_le_bytes();
    }
    bytes.truncate(end as usize);
    (offsets, bytes)
}

/// The same from values of any length.
fn copies(
    strings: &Strings<'_, i32>,
    keys: &[i32],
    count: usize,
    key: impl Fn(usize, i32) -> usize,
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let mut offsets = Vec::with_capacity((keys.len() + 1) * 4);
    let mut bytes = Vec::new();
    offsets.extend_from_slice(&[0; 4]);
    for (row, &of_row) in keys.iter().enumerate() {
        let value = key(row, of_row);
        if value < count {
            bytes.extend_from_slice(strings.bytes(value));
        }
        let end = i32::try_from(bytes.len())
            .map_err(|_| Error::Internal("a batch has more than 2 GiB of text".to_owned()))?;
        offsets.extend_from_slice(&end.to_le_bytes());
    }
    Ok((offsets, bytes))
}

/// Validity of the rows where values may be null, too.
fn combine_validity(
    keys: &[i32],
    of_keys: Option<&Bits<'_>>,
    of_values: &Bits<'_>,
    count: usize,
) -> Vec<u8> {
    let mut bits = vec![0; keys.len().div_ceil(8)];
    for (row, &key) in keys.iter().enumerate() {
        let valid = of_keys.is_none_or(|bits| bits.get(row))
            && key_index(key) < count
            && of_values.get(key_index(key));
        bits[row / 8] |= u8::from(valid) << (row % 8);
    }
    bits
}

fn count_nulls(validity: &[u8], length: usize) -> usize {
    let bits = Bits::new(validity, length);
    (0..length).filter(|&row| !bits.get(row)).count()
}

fn key_index(key: i32) -> usize {
    usize::try_from(key).unwrap_or(usize::MAX)
}

fn internal(field: &Field) -> Error {
    Error::Internal(format!("column `{}` is no dictionary of text", field.name))
}
