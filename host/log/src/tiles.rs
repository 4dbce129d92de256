//! Hashes of ranges, from tiles that are at hand. Says which tiles are missing; never fetches them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::tile::{TILE_WIDTH, TileAddress, TileKind};
use crate::tree::{self, Subtree, subtrees};
use crate::{Hash, LogError};

/// Binary levels in a tile.
const HEIGHT: u32 = 8;

/// Tiles of hashes of the tree of one size.
#[derive(Clone, Debug)]
pub struct HashTiles {
    size: u64,
    tiles: BTreeMap<(u8, u64), Vec<Hash>>,
}

impl HashTiles {
    /// Holds none of the tiles of the tree of `size` entries.
    #[must_use]
    pub fn new(size: u64) -> Self {
        Self { size, tiles: BTreeMap::new() }
    }

    /// Lists the tiles that the hashes of these ranges need and that are not here.
    #[must_use]
    pub fn missing(&self, ranges: &[Range<u64>]) -> BTreeSet<TileAddress> {
        let needed = ranges.iter().flat_map(subtrees).map(place);
        let missing =
            needed.filter(|(level, number, _)| !self.tiles.contains_key(&(*level, *number)));
        missing.map(|(level, number, _)| self.address(level, number)).collect()
    }

    /// Takes the bytes of a tile in.
    ///
    /// # Errors
    /// [`LogError::WrongTile`] where they are not as many hashes as the address says.
    pub fn insert(&mut self, address: TileAddress, bytes: &[u8]) -> Result<(), LogError> {
        let TileKind::Hashes(level) = address.kind else { return Err(LogError::WrongTile) };
        let (hashes, rest) = bytes.as_chunks::<32>();
        if !rest.is_empty() || hashes.len() != usize::from(address.width) {
            return Err(LogError::WrongTile);
        }
        self.tiles.insert((level, address.number), hashes.iter().copied().map(Hash).collect());
        Ok(())
    }

    /// Returns the hash of a range; `None` where a tile is missing, or for no entry.
    #[must_use]
    pub fn hash(&self, range: &Range<u64>) -> Option<Hash> {
        let hashes: Option<Vec<Hash>> =
            subtrees(range).into_iter().map(|subtree| self.subtree(subtree)).collect();
        tree::root(hashes?.into_iter())
    }

    /// Returns the hashes of ranges, as [`Self::hash`] does.
    #[must_use]
    pub fn hashes(&self, ranges: &[Range<u64>]) -> Option<Vec<Hash>> {
        ranges.iter().map(|range| self.hash(range)).collect()
    }

    /// Returns the root of the whole tree; `None` where a tile is missing.
    #[must_use]
    pub fn root(&self) -> Option<Hash> {
        if self.size == 0 { Some(Hash::empty()) } else { self.hash(&(0..self.size)) }
    }

    fn subtree(&self, subtree: Subtree) -> Option<Hash> {
        let (level, number, places) = place(subtree);
        let tile = self.tiles.get(&(level, number))?;
        let mut hashes = tile.get(places)?.to_vec();
        while hashes.len() > 1 {
            let (pairs, _) = hashes.as_chunks::<2>();
            hashes = pairs.iter().map(|[left, right]| Hash::parent(*left, *right)).collect();
        }
        hashes.first().copied()
    }

    /// Returns the address of a tile, which is partial at the right edge.
    fn address(&self, level: u8, number: u64) -> TileAddress {
        let full = TileAddress { kind: TileKind::Hashes(level), number, width: TILE_WIDTH };
        let there = self.size >> (HEIGHT * u32::from(level));
        let width = there.saturating_sub(full.first()).min(TILE_WIDTH.into());
        TileAddress { width: u16::try_from(width).unwrap_or(TILE_WIDTH), ..full }
    }
}

/// Returns the level and number of the tile that a subtree lies in, and the hashes that it covers.
fn place(subtree: Subtree) -> (u8, u64, Range<usize>) {
    let (level, within) = (subtree.height / HEIGHT, subtree.height % HEIGHT);
    let first = subtree.index << within;
    let begin = usize::try_from(first % u64::from(TILE_WIDTH)).unwrap_or_default();
    let level = u8::try_from(level).unwrap_or(u8::MAX);
    (level, first / u64::from(TILE_WIDTH), begin..begin + (1 << within))
}
