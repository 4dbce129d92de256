//! A log over HTTP: its tiles and texts, and the checks that are made of them.

use anyhow::{Context as _, anyhow, bail};
use http::Method;
use yearbook_domain::LogEntry;
use yearbook_log::{
    Checkpoint, Hash, HashTiles, LogError, TILE_WIDTH, TileAddress, TileKind, TreeHasher,
    check_consistency, consistency_ranges, read_bundle,
};
use yearbook_outbound::{OutboundClient, OutboundRequest, Url};

use crate::http_client;

/// Longest answer that is read, bytes: a bundle of the longest entries.
const MAX_ANSWER_BYTES: u64 = 17 << 20;

/// A log at an address.
pub(super) struct RemoteLog {
    base: String,
    client: OutboundClient,
}

impl RemoteLog {
    pub(super) fn new(url: &str) -> anyhow::Result<Self> {
        let client = http_client::new_remote_client(http_client::TIMEOUT)?;
        Ok(Self { base: url.trim_end_matches('/').to_owned(), client })
    }

    /// The text at `path`.
    pub(super) async fn text(&self, path: &str) -> anyhow::Result<String> {
        String::from_utf8(self.get(path).await?).with_context(|| format!("{path} is no text"))
    }

    /// Checks that the tiles have the root that was signed.
    pub(super) async fn check_root(&self, head: &Checkpoint) -> anyhow::Result<()> {
        let mut tiles = HashTiles::new(head.size);
        let whole = 0..head.size;
        self.fill(&mut tiles, std::slice::from_ref(&whole)).await?;
        if tiles.root() != Some(head.root) {
            bail!("the tiles of {} do not have the root that was signed", self.base);
        }
        Ok(())
    }

    /// Checks that the log goes on from an older checkpoint.
    pub(super) async fn check_goes_on(
        &self,
        older: &Checkpoint,
        newer: &Checkpoint,
    ) -> anyhow::Result<()> {
        let ranges = consistency_ranges(older.size, newer.size);
        let mut tiles = HashTiles::new(newer.size);
        self.fill(&mut tiles, &ranges).await?;
        let proof = tiles.hashes(&ranges).ok_or(LogError::WrongTile)?;
        check_consistency((older.size, older.root), (newer.size, newer.root), &proof)?;
        Ok(())
    }

    /// Reads every entry and checks that the tree over them is the one that was signed; returns the
    /// number of bundles.
    pub(super) async fn check_entries(&self, head: &Checkpoint) -> anyhow::Result<u64> {
        let mut tree = TreeHasher::default();
        let mut bundles = 0;
        while tree.size() < head.size {
            let width = (head.size - tree.size()).min(TILE_WIDTH.into());
            let width = u16::try_from(width).unwrap_or(TILE_WIDTH);
            let address = TileAddress { kind: TileKind::Entries, number: bundles, width };
            let bundle = self.tile(address).await?;
            for entry in read_bundle(&bundle, width)? {
                let leaf = std::str::from_utf8(entry).ok().and_then(LogEntry::from_leaf);
                leaf.with_context(|| format!("entry {} is none of a publication", tree.size()))?;
                tree.push(Hash::leaf(entry));
            }
            bundles += 1;
        }
        if tree.root() != head.root {
            bail!("the entries of {} do not have the root that was signed", self.base);
        }
        Ok(bundles)
    }

    async fn fill(
        &self,
        tiles: &mut HashTiles,
        ranges: &[std::ops::Range<u64>],
    ) -> anyhow::Result<()> {
        for address in tiles.missing(ranges) {
            tiles.insert(address, &self.tile(address).await?)?;
        }
        Ok(())
    }

    async fn tile(&self, address: TileAddress) -> anyhow::Result<Vec<u8>> {
        self.get(&format!("/log/tile/{address}")).await
    }

    async fn get(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let address = format!("{}{path}", self.base);
        let url = Url::parse(&address).map_err(|_| {
            anyhow!(
                "{address:?} is no address; write that of the service, https://data.example.org"
            )
        })?;
        let response = self.client.send(&OutboundRequest::new(Method::GET, url)).await?;
        let status = response.status();
        if !status.is_success() {
            bail!("{address} answers {status}");
        }
        Ok(response.into_body(MAX_ANSWER_BYTES)?.read().await?)
    }
}
