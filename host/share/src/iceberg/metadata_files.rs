//! Metadata files of tables, from memory or from the bucket. A file belongs to one version of one
//! stored file and is written once, but for a restored catalog (decision 0332), so what was read
//! once stays true. Never reads what a file says.

use bytes::Bytes;
use yearbook_cache::Cache;
use yearbook_domain::Digest;
use yearbook_http::Error;

use crate::ShareState;

/// Bytes of a metadata file that are read: those of a thousand versions of a wide table.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Bytes that are kept in memory: some thousand tables of ten versions.
const MAX_CACHED_BYTES: u64 = 32 << 20;

/// Bytes that an entry takes beside its text, about.
const ENTRY_BYTES: usize = 256;

/// Files by the digest of the stored file and the version that they describe.
pub(crate) struct MetadataFiles(Cache<(Digest, u64), Bytes>);

impl Default for MetadataFiles {
    fn default() -> Self {
        let weigh = |_: &(Digest, u64), text: &Bytes| {
            u32::try_from(text.len() + ENTRY_BYTES).unwrap_or(u32::MAX)
        };
        Self(Cache::weighted(MAX_CACHED_BYTES, weigh))
    }
}

impl MetadataFiles {
    /// Returns the text of the file called `name` that describes `version`, stored in the file
    /// `sha256`; none where the bucket has no such file.
    ///
    /// # Errors
    /// 503 or 500 where the bucket is asked and fails, or the file is longer than 16 MiB.
    pub(super) async fn get(
        &self,
        app: &ShareState,
        sha256: &Digest,
        version: u64,
        name: &str,
    ) -> Result<Option<Bytes>, Error> {
        let key = (*sha256, version);
        if let Some(text) = self.0.get(&key).await {
            return Ok(Some(text));
        }
        let found = app.core.storage.get_companion(sha256, name, MAX_FILE_BYTES).await?;
        if let Some(text) = &found {
            self.0.insert(key, text.clone()).await;
        }
        Ok(found)
    }
}
