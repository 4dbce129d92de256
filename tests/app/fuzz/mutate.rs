//! Damage that a network, a disk or an adversary does to correct bytes.

use yearbook_generate::SplitMix64;

/// Random numbers: the same ones for the same seed, in every release.
pub struct FuzzRng(SplitMix64);

impl FuzzRng {
    /// Numbers that begin at `seed`.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.any() % u64::try_from(end.max(1)).unwrap_or(u64::MAX))
            .unwrap_or_default()
    }

    /// One of `all`.
    fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// Pieces that break most readers: ends of ranges, signs, escapes, bytes that are no UTF-8.
const BOUNDARY_INPUTS: [&[u8]; 24] = [
    b"",
    b"\0",
    b"\r\n",
    b"%00",
    b"%",
    b"%0d%0a",
    b"../",
    b"\"",
    b"\\",
    b"\xff\xfe",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"-1",
    b"0",
    b"1e400",
    b"NaN",
    b"18446744073709551616",
    b"9223372036854775807",
    b"4294967295",
    b"\xff\xff\xff\xff",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"\xe2\x80\xae",
    b"{}",
    b"[[[[[[[[[[[[[[[[",
];

/// One of `corpus` with some damage, or a splice of two, with `words` where they hurt.
pub(super) fn damaged(corpus: &[Vec<u8>], words: &[&str], random: &mut FuzzRng) -> Vec<u8> {
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 if at < bytes.len() => {
                bytes[at..end].fill(*random.choose(&[&0, &0x7f, &0x80, &0xff]))
            }
            3 => drop(bytes.drain(at..end)),
            4 => {
                let again = bytes[at..end].repeat(1 + random.below(64));
                drop(bytes.splice(at..at, again));
            }
            5 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                let to = (from + 1 + random.below(200)).min(other.len());
                drop(bytes.splice(at..at, other[from..to].iter().copied()));
            }
            6 if !words.is_empty() => drop(bytes.splice(at..end, random.choose(words).bytes())),
            _ => drop(bytes.splice(at..end, random.choose(&BOUNDARY_INPUTS).iter().copied())),
        }
    }
    bytes
}
