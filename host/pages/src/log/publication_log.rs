//! The log in the memory of a server: its head, signed once for each state of the catalog, and the
//! tiles that were asked for. Full tiles are hashed once for all hosts, so what a request reads
//! does not grow with the log.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use yearbook_cache::Cache;
use yearbook_catalog::{Catalog, CatalogCache, CatalogError, LOG_SECRET};
use yearbook_domain::{DatasetName, LogEntry, SnapshotId};
use yearbook_http::{Core, Error};
use yearbook_log::{
    Checkpoint, Hash, HashTiles, InclusionProof, SigningKey, TILE_WIDTH, TileAddress, TileKind,
    TreeHasher, entry_bundle, inclusion_ranges,
};

/// Heads that are remembered: that of now, and of before for those who still wait for it.
const HEADS: u64 = 4;

/// Memory for tiles and bundles of entries, bytes.
const TILE_BYTES: u64 = 16 << 20;

/// Bytes that an entry of the cache takes besides its tile.
const ENTRY_BYTES: usize = 256;

/// Tiles that are read at once: anybody may ask, and clients with keys need the other connections.
const READS: usize = 2;

/// Longest wait for such a read.
const PATIENCE: Duration = Duration::from_secs(1);

/// Hashes of full tiles that one transaction stores.
const STORED_AT_ONCE: u64 = 32;

/// Levels of tiles above the leaves.
const LEVELS: Range<u8> = 1..8;

/// The log of what was published.
pub(crate) struct PublicationLog {
    catalog: Arc<Catalog>,
    catalog_cache: Arc<CatalogCache>,
    key: SigningKey,
    heads: Cache<i64, Arc<LogHead>>,
    /// The newest head, for times at which the database does not answer.
    newest: Mutex<Option<Arc<LogHead>>>,
    tiles: Cache<TileAddress, Bytes>,
    reads: Semaphore,
}

/// A head that was signed.
pub(crate) struct LogHead {
    /// Entries of the log.
    pub(crate) size: u64,
    /// The signed note.
    pub(crate) checkpoint: String,
}

impl PublicationLog {
    /// Fetches the secret, which the first host makes, and derives the key called `origin`.
    ///
    /// # Errors
    /// Fails when the database does not give the secret.
    pub(crate) async fn new(core: &Core, origin: &str) -> Result<Self, CatalogError> {
        let secret = core.catalog.secret(LOG_SECRET).await?;
        let weigh = |_: &TileAddress, tile: &Bytes| {
            u32::try_from(ENTRY_BYTES + tile.len()).unwrap_or(u32::MAX)
        };
        Ok(Self {
            catalog: Arc::clone(&core.catalog),
            catalog_cache: Arc::clone(&core.catalog_cache),
            key: SigningKey::new(origin, secret),
            heads: Cache::new(HEADS),
            newest: Mutex::default(),
            tiles: Cache::weighted(TILE_BYTES, weigh),
            reads: Semaphore::new(READS),
        })
    }

    /// Returns the key that checks what the log signs.
    pub(crate) fn verifier_key(&self) -> String {
        self.key.verifier().to_text()
    }

    /// Returns the head as of the catalog in memory, or, while the database does not answer, the
    /// last one: what was signed stays true.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without any.
    pub(crate) async fn head(&self) -> Result<Arc<LogHead>, Error> {
        let revision = self.catalog_cache.revision();
        let load = Box::pin(async { self.read_head().await.map(Arc::new) });
        let head = self.heads.try_get_with(revision, load);
        let newest = || self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        match head.await {
            Ok(head) => {
                *newest() = Some(Arc::clone(&head));
                Ok(head)
            }
            Err(failure) => newest().clone().ok_or_else(|| Arc::unwrap_or_clone(failure)),
        }
    }

    /// Returns whether the log has a tile; asks the database where the head in memory does not:
    /// another host may have signed a longer log since.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database does not answer, or others take the turn for too
    /// long.
    pub(crate) async fn has(&self, address: TileAddress) -> Result<bool, Error> {
        if address.is_within(self.head().await?.size) {
            return Ok(true);
        }
        let _permit = self.permit().await?;
        let size = self.catalog.log_size().await?;
        let has = address.is_within(size);
        if has {
            self.hash_full_tiles(size).await?;
        }
        Ok(has)
    }

    /// Returns the entry of a snapshot and the proof that the log holds it; `None` where it does
    /// not.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database does not answer.
    pub(crate) async fn proof(
        &self,
        name: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<(String, InclusionProof)>, Error> {
        let found = {
            let _permit = self.permit().await?;
            self.catalog.log_entry_of(name, id).await?
        };
        let Some((index, entry)) = found else { return Ok(None) };
        let mut head = self.head().await?;
        if index >= head.size {
            // The entry is younger than the catalog in memory.
            head = Arc::new(Box::pin(self.read_head()).await?);
        }
        let ranges = inclusion_ranges(index, head.size);
        let hashes = self.tiles(head.size, &ranges).await?.hashes(&ranges);
        let hashes = hashes.ok_or_else(incomplete)?;
        let entry = leaf(&entry)?;
        let proof = InclusionProof {
            entry: entry.clone().into_bytes(),
            index,
            hashes,
            checkpoint: head.checkpoint.clone(),
        };
        Ok(Some((entry, proof)))
    }

    /// Returns the bytes of a tile that the log has.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the database does not answer, or others take the turn for too
    /// long.
    pub(crate) async fn tile(&self, address: TileAddress) -> Result<Bytes, Error> {
        let load = async {
            let _permit = self.permit().await?;
            self.read_tile(address).await
        };
        self.tiles.try_get_with(address, load).await.map_err(Arc::unwrap_or_clone)
    }

    async fn permit(&self) -> Result<SemaphorePermit<'_>, Error> {
        let permit = timeout(PATIENCE, self.reads.acquire()).await;
        permit.ok().and_then(Result::ok).ok_or(Error::Unavailable)
    }

    async fn read_head(&self) -> Result<LogHead, Error> {
        // What this host shows already has its entry.
        self.catalog_cache.settled().await?;
        let size = self.catalog.log_size().await?;
        self.hash_full_tiles(size).await?;
        let whole = 0..size;
        let tiles = self.tiles(size, std::slice::from_ref(&whole)).await?;
        let root = tiles.root().ok_or_else(incomplete)?;
        Ok(LogHead { size, checkpoint: Checkpoint::sign(size, root, &self.key) })
    }

    /// Stores the hashes of full tiles that no host has stored yet. Every host finds the same.
    async fn hash_full_tiles(&self, size: u64) -> Result<(), Error> {
        for level in LEVELS {
            let full = size >> (8 * u32::from(level));
            let mut stored = if full == 0 { 0 } else { self.catalog.log_hash_count(level).await? };
            while stored < full {
                let mut hashes = Vec::new();
                for number in stored..full.min(stored + STORED_AT_ONCE) {
                    let kind = TileKind::Hashes(level - 1);
                    let below =
                        self.read_tile(TileAddress { kind, number, width: TILE_WIDTH }).await?;
                    let (below, _) = below.as_chunks::<32>();
                    // The pairs of a full tile are those of a tree of its hashes.
                    let mut tree = TreeHasher::default();
                    below.iter().for_each(|hash| tree.push(Hash(*hash)));
                    hashes.push(tree.root().0);
                }
                self.catalog.insert_log_hashes(level, stored, &hashes).await?;
                stored += hashes.len() as u64;
            }
        }
        Ok(())
    }

    /// Returns the tiles that the hashes of `ranges` need, of the tree of `size` entries.
    async fn tiles(&self, size: u64, ranges: &[Range<u64>]) -> Result<HashTiles, Error> {
        let mut tiles = HashTiles::new(size);
        for address in tiles.missing(ranges) {
            let bytes = self.tile(address).await?;
            tiles.insert(address, &bytes).map_err(|failure| broken(&failure))?;
        }
        Ok(tiles)
    }

    async fn read_tile(&self, address: TileAddress) -> Result<Bytes, Error> {
        let (first, width) = (address.first(), u64::from(address.width));
        let bytes = match address.kind {
            TileKind::Hashes(level) if level > 0 => {
                let hashes = self.catalog.log_hashes(level, first, width).await?;
                self.check_width(address, hashes.len())?;
                hashes.concat()
            }
            kind => {
                let entries = self.catalog.log_entries(first, width).await?;
                self.check_width(address, entries.len())?;
                let leaves = entries.iter().map(leaf).collect::<Result<Vec<_>, _>>()?;
                let leaves = leaves.iter().map(String::as_bytes);
                match kind {
                    TileKind::Entries => {
                        entry_bundle(leaves).map_err(|failure| broken(&failure))?
                    }
                    TileKind::Hashes(_) => leaves.flat_map(|leaf| Hash::leaf(leaf).0).collect(),
                }
            }
        };
        Ok(bytes.into())
    }

    fn check_width(&self, address: TileAddress, found: usize) -> Result<(), Error> {
        if found == usize::from(address.width) { Ok(()) } else { Err(incomplete()) }
    }
}

fn leaf(entry: &LogEntry) -> Result<String, Error> {
    entry.to_leaf().map_err(|failure| broken(&failure))
}

fn broken(failure: &dyn std::fmt::Display) -> Error {
    Error::internal("read the log of what was published", failure)
}

fn incomplete() -> Error {
    broken(&"the tables log_entries and log_hashes have a gap")
}
