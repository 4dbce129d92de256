//! Preview facts in memory, read when they are first asked for. Those of a snapshot that this
//! version computes never change, so they outlive revisions. Others hold for one revision, and so
//! does that a snapshot has none: the next publication stores them.

use std::sync::Arc;

use yearbook_cache::Cache;
use yearbook_domain::preview_facts::FACTS_VERSION;
use yearbook_domain::{DatasetName, PreviewFacts, SnapshotId};

use super::revisioned::RevisionedCache;
use crate::{Catalog, CatalogError};

/// Bytes of facts in memory, by their stored form: all of the few thousand datasets that most
/// catalogs have, and the most read of more.
const MAX_BYTES: u64 = 64 << 20;

/// Reads of one revision that are remembered: they join concurrent reads of the same facts, and
/// keep those that are missing from being looked for again.
const MAX_READS: u64 = 512;

type FactsKey = (DatasetName, SnapshotId);

/// Facts by dataset and snapshot.
pub(super) struct PreviewFactsCache {
    known: Cache<FactsKey, Arc<PreviewFacts>>,
    reads: RevisionedCache<FactsKey, Option<Arc<PreviewFacts>>>,
}

impl PreviewFactsCache {
    pub(super) fn new(revision: i64) -> Self {
        let weigh = |_: &FactsKey, facts: &Arc<PreviewFacts>| {
            u32::try_from(facts.to_json().len()).unwrap_or(u32::MAX)
        };
        Self {
            known: Cache::weighted(MAX_BYTES, weigh),
            reads: RevisionedCache::new(revision, || Cache::new(MAX_READS)),
        }
    }

    /// Returns true where the facts of a snapshot are in memory.
    pub(super) fn has(&self, dataset: &DatasetName, id: &SnapshotId) -> bool {
        self.known.contains_key(&(dataset.clone(), *id))
    }

    /// Returns the facts of a snapshot.
    ///
    /// # Errors
    /// [`CatalogError::Shared`] when the database has to be read and fails.
    pub(super) async fn get(
        &self,
        store: &Catalog,
        revision: i64,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<Arc<PreviewFacts>>, CatalogError> {
        let key = (dataset.clone(), *id);
        if let Some(facts) = self.known.get(&key).await {
            return Ok(Some(facts));
        }
        let fetch = async {
            let facts = store.preview_facts(dataset, id).await?.map(Arc::new);
            if let Some(facts) = facts.as_ref().filter(|facts| facts.version == FACTS_VERSION) {
                self.known.insert(key.clone(), Arc::clone(facts)).await;
            }
            Ok(facts)
        };
        let reads = self.reads.for_revision(revision);
        reads.try_get_with(key.clone(), fetch).await.map_err(CatalogError::Shared)
    }
}
