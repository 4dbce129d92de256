//! Nulls: definition levels out of validity bitmaps, and values without the places of nulls.

use crate::thrift::varint;

/// A bitmap's bits from `start` on, moved to begin on a byte; what is behind them is 0.
pub(crate) fn bits(out: &mut Vec<u8>, bitmap: &[u8], start: usize, length: usize) {
    let (from, shift) = (start / 8, start % 8);
    let count = length.div_ceil(8);
    let begin = out.len();
    if shift == 0 {
        out.extend_from_slice(&bitmap[from..from + count]);
    } else {
        let next = |at: usize| bitmap.get(at).copied().unwrap_or(0);
        out.extend(
            (from..from + count).map(|at| bitmap[at] >> shift | next(at + 1) << (8 - shift)),
        );
    }
    if let Some(last) = out[begin..].last_mut()
        && !length.is_multiple_of(8)
    {
        *last &= (1 << (length % 8)) - 1;
    }
}

/// Number of set bits among a bitmap's first ones.
pub(crate) fn count(bitmap: &[u8], length: usize) -> usize {
    let (words, rest) = bitmap[..length / 8].as_chunks::<8>();
    let words: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let rest: u32 = rest.iter().map(|byte| byte.count_ones()).sum();
    let last = if length.is_multiple_of(8) {
        0
    } else {
        (bitmap[length / 8] & ((1 << (length % 8)) - 1)).count_ones()
    };
    (words + rest + last) as usize
}

/// Appends the levels of a page of an optional column: 1 for a value, 0 for null. `valid` is the
/// page's own bitmap; `None` where no row is null.
pub(crate) fn levels(out: &mut Vec<u8>, rows: usize, nulls: usize, valid: Option<&[u8]>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    match valid {
        // One run of bits: its layout is that of the bitmap.
        Some(valid) if nulls > 0 && nulls < rows => {
            varint(out, (rows.div_ceil(8) as u64) << 1 | 1);
            out.extend_from_slice(valid);
        }
        // One run of the same level.
        _ => {
            varint(out, (rows as u64) << 1);
            out.push(u8::from(nulls == 0));
        }
    }
    let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Appends the values whose bits are set. `valid` begins with the first value.
pub(crate) fn append_valid<T: Copy>(out: &mut Vec<T>, values: &[T], valid: &[u8]) {
    out.reserve(values.len());
    let (eights, rest) = values.as_chunks::<8>();
    for (eight, &byte) in eights.iter().zip(valid) {
        if byte == 0xff {
            out.extend_from_slice(eight);
        } else {
            append_by_mask(out, eight, byte);
        }
    }
    if let Some(&byte) = valid.get(eights.len()) {
        append_by_mask(out, rest, byte);
    }
}

fn append_by_mask<T: Copy>(out: &mut Vec<T>, values: &[T], mut byte: u8) {
    while let Some(value) = values.get(byte.trailing_zeros() as usize) {
        out.push(*value);
        byte &= byte - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bitmap(bits: &[bool]) -> Vec<u8> {
        bits.chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit)))
            .collect()
    }

    #[test]
    fn bits_move_to_the_start_of_a_byte() {
        let all: Vec<bool> = (0..77).map(|at| at * at % 7 < 3).collect();
        let whole = bitmap(&all);
        for start in 0..20 {
            for length in 0..all.len() - start {
                let mut bytes = vec![9];
                bits(&mut bytes, &whole, start, length);
                assert_eq!(bytes[1..], bitmap(&all[start..start + length]));
                assert_eq!(
                    count(&bytes[1..], length),
                    all[start..start + length].iter().filter(|bit| **bit).count()
                );
            }
        }
    }

    #[test]
    fn values_close_up_where_nulls_were() {
        for length in [0, 1, 7, 8, 9, 64, 100] {
            let valid: Vec<bool> = (0..length).map(|at| at % 16 < 8 || at % 3 == 0).collect();
            let values: Vec<usize> = (0..length).collect();
            let mut bytes = Vec::new();
            append_valid(&mut bytes, &values, &bitmap(&valid));
            let expected: Vec<_> = values.into_iter().filter(|at| valid[*at]).collect();
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn levels_are_one_run() {
        let mut out = Vec::new();
        levels(&mut out, 100, 0, None);
        levels(&mut out, 3, 3, Some(&[0]));
        levels(&mut out, 9, 2, Some(&[0b1111_0101, 1]));
        assert_eq!(
            out,
            [
                [3, 0, 0, 0, 200, 1, 1].as_slice(),
                &[2, 0, 0, 0, 6, 0],
                &[3, 0, 0, 0, 5, 0b1111_0101, 1]
            ]
            .concat()
        );
    }
}
