//! Positions in a dictionary as runs of one value and runs of packed bits, whichever is shorter
//! (<https://parquet.apache.org/docs/file-format/data-pages/encodings/>, RLE).

use crate::thrift::varint;

/// Positions that are packed together.
const GROUP_VALUES: usize = 8;
/// Groups of one value that are worth a run of their own.
const MIN_RUN_GROUPS: usize = 2;

/// Bits that the greatest position takes. At least one, which is what other writers say too.
pub(crate) fn width(greatest: u16) -> u32 {
    (u16::BITS - greatest.leading_zeros()).max(1)
}

/// Appends positions below 2^`width`.
pub(crate) fn write(out: &mut Vec<u8>, positions: &[u16], width: u32) {
    let mut packed = 0; // where the run of packed bits began that is not written yet
    let mut at = 0;
    let (groups, rest) = positions.as_chunks::<GROUP_VALUES>();
    while at < groups.len() {
        let value = groups[at][0];
        let same = |group: &[u16; GROUP_VALUES]| {
            group.iter().fold(true, |same, &position| same & (position == value))
        };
        if !same(&groups[at]) {
            at += 1;
            continue;
        }
        let end = at + groups[at..].iter().take_while(|group| same(group)).count();
        if end - at < MIN_RUN_GROUPS {
            at = end;
            continue;
        }
        pack(out, &positions[packed * GROUP_VALUES..at * GROUP_VALUES], width);
        let ends = end == groups.len() && rest.iter().all(|&position| position == value);
        let rows = (end - at) * GROUP_VALUES + if ends { rest.len() } else { 0 };
        varint(out, (rows as u64) << 1);
        out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
        if ends {
            return;
        }
        (at, packed) = (end, end);
    }
    pack(out, &positions[packed * GROUP_VALUES..], width);
}

fn pack(out: &mut Vec<u8>, positions: &[u16], width: u32) {
    if positions.is_empty() {
        return;
    }
    let groups = positions.len().div_ceil(GROUP_VALUES);
    varint(out, (groups as u64) << 1 | 1);
    macro_rules! widths {
        ($($width:literal)*) => {
            match width {
                $($width => bits::<$width>(out, positions),)*
                _ => bits::<16>(out, positions),
            }
        };
    }
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
}

/// One loop for each width, so that shifts are constants. A last group that is not full is filled
/// up with zeros.
fn bits<const WIDTH: usize>(out: &mut Vec<u8>, positions: &[u16]) {
    let (groups, rest) = positions.as_chunks::<GROUP_VALUES>();
    let start = out.len();
    out.resize(start + positions.len().div_ceil(GROUP_VALUES) * WIDTH, 0);
    let (packed, _) = out[start..].as_chunks_mut::<WIDTH>();
    for (group, packed) in groups.iter().zip(packed.iter_mut()) {
        *packed = one::<WIDTH>(group);
    }
    if let (false, Some(packed)) = (rest.is_empty(), packed.last_mut()) {
        let mut group = [0; GROUP_VALUES];
        group[..rest.len()].copy_from_slice(rest);
        *packed = one::<WIDTH>(&group);
    }
}

#[inline(always)]
fn one<const WIDTH: usize>(group: &[u16; GROUP_VALUES]) -> [u8; WIDTH] {
    let half = |half: [u16; 4]| {
        u64::from(half[0])
            | u64::from(half[1]) << WIDTH
            | u64::from(half[2]) << (2 * WIDTH)
            | u64::from(half[3]) << (3 * WIDTH)
    };
    let low = half([group[0], group[1], group[2], group[3]]);
    let high = half([group[4], group[5], group[6], group[7]]);
    let bytes = (u128::from(low) | u128::from(high) << (4 * WIDTH)).to_le_bytes();
    std::array::from_fn(|at| bytes[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads runs back, after the format's description.
    fn read(mut bytes: &[u8], width: u32, length: usize) -> (Vec<u16>, usize) {
        let (mut positions, mut runs) = (Vec::new(), 0);
        while positions.len() < length {
            runs += 1;
            let (mut header, mut shift) = (0_usize, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                header |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let width = width as usize;
            if header & 1 == 0 {
                let value = (0..width.div_ceil(8))
                    .fold(0, |value, at| value | u16::from(bytes[at]) << (8 * at));
                bytes = &bytes[width.div_ceil(8)..];
                positions.extend(std::iter::repeat_n(value, header >> 1));
            } else {
                let (packed, rest) = bytes.split_at((header >> 1) * width);
                bytes = rest;
                let bit = |at: usize| u16::from(packed[at / 8] >> (at % 8) & 1);
                positions.extend(
                    (0..(header >> 1) * 8).map(|at| {
                        (0..width).fold(0, |value, of| value | bit(at * width + of) << of)
                    }),
                );
            }
        }
        assert!(bytes.is_empty());
        positions.truncate(length);
        (positions, runs)
    }

    #[test]
    fn positions_of_every_width_come_back() {
        for wide in 1..=16 {
            let mask = u16::MAX >> (16 - wide);
            assert_eq!(width(mask), wide);
            for length in [0, 1, 7, 8, 9, 15, 16, 17, 100, 1000] {
                let positions: Vec<u16> = (0..length)
                    .map(|at: u16| at.wrapping_mul(40_503).rotate_left(5) & mask)
                    .collect();
                let mut out = Vec::new();
                write(&mut out, &positions, wide);
                assert_eq!(read(&out, wide, positions.len()).0, positions, "{wide} {length}");
            }
        }
        assert_eq!(width(0), 1);
    }

    #[test]
    fn repeated_positions_are_runs() {
        for (lengths, expected) in [
            (vec![100], 1),
            (vec![16, 1], 2),
            (vec![3, 40, 5], 3),
            (vec![7, 9, 15], 1),
            (vec![3, 100, 100, 100], 6),
        ] {
            let value = |at: usize| u16::try_from(at * 100).unwrap_or(0);
            let positions: Vec<u16> = lengths
                .iter()
                .enumerate()
                .flat_map(|(at, &length)| std::iter::repeat_n(value(at + 1), length))
                .collect();
            let mut out = Vec::new();
            write(&mut out, &positions, 9);
            assert_eq!(read(&out, 9, positions.len()), (positions, expected), "{lengths:?}");
        }
    }
}
