//! Addresses of tiles and of bundles of entries (C2SP `tlog-tiles`), and the form of bundles.

use std::fmt;

use crate::LogError;

/// Hashes of a full tile, and entries of a full bundle.
pub const TILE_WIDTH: u16 = 256;

/// Levels that a tree of 2^64 entries has.
pub(crate) const LEVELS: u8 = 8;

/// Digits of one path element.
const ELEMENT: usize = 3;

/// Content of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileKind {
    /// Hashes of this level, leaves at 0.
    Hashes(u8),
    /// The entries themselves.
    Entries,
}

/// Address of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileAddress {
    /// Its content.
    pub kind: TileKind,
    /// Its place among those of its kind.
    pub number: u64,
    /// Hashes or entries that it has, [`TILE_WIDTH`] at most; fewer in a partial tile.
    pub width: u16,
}

impl TileAddress {
    /// Parses what follows `/tile/` in an address; `None` for anything that a log would not write.
    #[must_use]
    pub fn parse(path: &str) -> Option<Self> {
        let (kind, rest) = path.split_once('/')?;
        let kind = match kind {
            "entries" => TileKind::Entries,
            level => TileKind::Hashes(decimal(level)?.try_into().ok().filter(|l| *l < 64)?),
        };
        let (number, width) = match rest.split_once(".p/") {
            None => (rest, TILE_WIDTH),
            Some((number, width)) => {
                let width = decimal(width)?.try_into().ok()?;
                (number, Some(width).filter(|width| (1..TILE_WIDTH).contains(width))?)
            }
        };
        let address = Self { kind, number: parse_number(number)?, width };
        (address.to_string() == path).then_some(address)
    }

    /// Returns the index of its first hash or entry among all of its kind.
    #[must_use]
    pub fn first(self) -> u64 {
        self.number.saturating_mul(TILE_WIDTH.into())
    }

    /// Returns true where a log of `size` entries has it, whole.
    #[must_use]
    pub fn is_within(self, size: u64) -> bool {
        let level = match self.kind {
            TileKind::Hashes(level) => level,
            TileKind::Entries => 0,
        };
        let there = if level < LEVELS { size >> (8 * u32::from(level)) } else { 0 };
        self.first().saturating_add(self.width.into()) <= there
    }
}

impl fmt::Display for TileAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TileKind::Hashes(level) => write!(f, "{level}/")?,
            TileKind::Entries => f.write_str("entries/")?,
        }
        let mut elements = Vec::new();
        let mut number = self.number;
        loop {
            elements.push(number % 1_000);
            number /= 1_000;
            if number == 0 {
                break;
            }
        }
        while let Some(element) = elements.pop() {
            let mark = if elements.is_empty() { "" } else { "x" };
            let slash = if elements.is_empty() { "" } else { "/" };
            write!(f, "{mark}{element:03}{slash}")?;
        }
        if self.width == TILE_WIDTH { Ok(()) } else { write!(f, ".p/{}", self.width) }
    }
}

/// Parses a number as an address has it, `x001/x234/067`.
fn parse_number(text: &str) -> Option<u64> {
    text.split('/').try_fold(0_u64, |number, element| {
        let digits = element.strip_prefix('x').unwrap_or(element);
        let is_whole = digits.len() == ELEMENT && digits.bytes().all(|byte| byte.is_ascii_digit());
        let value: u64 = digits.parse().ok().filter(|_| is_whole)?;
        number.checked_mul(1_000)?.checked_add(value)
    })
}

fn decimal(text: &str) -> Option<u32> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

/// Writes entries as a bundle: each behind its length, a u16, the high byte first.
///
/// # Errors
/// [`LogError::WrongTile`] for an entry of 64 KiB or more.
pub fn entry_bundle<'e>(entries: impl Iterator<Item = &'e [u8]>) -> Result<Vec<u8>, LogError> {
    let mut bundle = Vec::new();
    for entry in entries {
        let length = u16::try_from(entry.len()).map_err(|_| LogError::WrongTile)?;
        bundle.extend(length.to_be_bytes());
        bundle.extend(entry);
    }
    Ok(bundle)
}

/// Reads the entries of a bundle.
///
/// # Errors
/// [`LogError::WrongTile`] where it does not have exactly `width` of them.
pub fn read_bundle(mut bundle: &[u8], width: u16) -> Result<Vec<&[u8]>, LogError> {
    let mut entries = Vec::new();
    while let Some((length, rest)) = bundle.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length));
        let (entry, rest) = rest.split_at_checked(length).ok_or(LogError::WrongTile)?;
        entries.push(entry);
        bundle = rest;
    }
    let is_whole = bundle.is_empty() && entries.len() == usize::from(width);
    if is_whole { Ok(entries) } else { Err(LogError::WrongTile) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn tiles_have_the_addresses_of_c2sp_contract_21() {
        let hashes = |level| TileKind::Hashes(level);
        for (text, kind, number, width) in [
            ("0/000", hashes(0), 0, 256),
            ("0/001.p/112", hashes(0), 1, 112),
            ("2/x001/x234/067", hashes(2), 1_234_067, 256),
            ("entries/x001/000.p/5", TileKind::Entries, 1_000, 5),
        ] {
            let address = TileAddress { kind, number, width };
            assert_eq!(address.to_string(), text);
            assert_eq!(TileAddress::parse(text), Some(address), "{text}");
        }
        for wrong in [
            "",
            "0",
            "0/",
            "0/0",
            "0/0000",
            "00/000",
            "64/000",
            "-1/000",
            "0/x000/001",
            "0/001/002",
            "0/x001/x002",
            "0/000.p/0",
            "0/000.p/256",
            "0/000.p/01",
            "0/000.p/",
            "Entries/000",
            "0/000/",
            "0/+01",
            "0/x18/446/744/073/709/551/616",
            "0/000.p/+5",
        ] {
            assert_eq!(TileAddress::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_log_has_the_tiles_of_its_size_and_no_others_contract_21() {
        // The example of C2SP.
        for (path, expected) in [
            ("0/272", true),
            ("0/273", false),
            ("0/273.p/112", true),
            ("0/273.p/113", false),
            ("1/000", true),
            ("1/001.p/17", true),
            ("1/001.p/18", false),
            ("2/000.p/1", true),
            ("2/000.p/2", false),
            ("3/000.p/1", false),
            ("63/000.p/1", false),
            ("entries/273.p/112", true),
            ("entries/273.p/113", false),
        ] {
            assert_eq!(TileAddress::parse(path).unwrap().is_within(70_000), expected, "{path}");
        }
    }

    #[test]
    fn bundles_come_back_and_damaged_ones_are_found() {
        let entries: [&[u8]; 3] = [b"one", b"", b"three"];
        let bundle = entry_bundle(entries.into_iter()).unwrap();
        assert_eq!(read_bundle(&bundle, 3).unwrap(), entries);
        for (bytes, width) in [(&bundle[..], 2), (&bundle[..], 4), (&bundle[..bundle.len() - 1], 3)]
        {
            assert_eq!(read_bundle(bytes, width), Err(LogError::WrongTile));
        }
        assert!(entry_bundle(std::iter::once(&[0; 65_536][..])).is_err());
    }
}
