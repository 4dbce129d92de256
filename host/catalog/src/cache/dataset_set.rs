//! The datasets as they were at one instant, each with its version: after a publish, a host of many
//! datasets reads the one that changed and not all of them.

use std::collections::HashMap;
use std::sync::Arc;

use yearbook_domain::{Dataset, Millis};

/// Every dataset that was served at one instant, and those that were retired before.
#[derive(Clone, Debug, Default)]
pub struct DatasetSet {
    served: HashMap<String, DatasetEntry>,
    /// Times at which the others were retired.
    retired: HashMap<String, Millis>,
}

#[derive(Clone, Debug)]
struct DatasetEntry {
    version: DatasetVersion,
    dataset: Arc<Dataset>,
}

/// Values of which any change of a dataset changes one.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct DatasetVersion {
    pub(crate) name: String,
    namespace: String,
    checked_at: i64,
    /// Number of the current snapshot. Numbers only grow, and none is given twice.
    pub(crate) current: i64,
    /// Number of retained snapshots.
    retained: i64,
}

impl DatasetSet {
    /// Returns the dataset called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Dataset>> {
        self.served.get(name).map(|entry| &entry.dataset)
    }

    /// Returns the time at which the dataset called `name` was retired; `None` where it is served,
    /// or there was never one.
    #[must_use]
    pub fn retired_at(&self, name: &str) -> Option<Millis> {
        self.retired.get(name).copied()
    }

    /// Returns all that are served, sorted by name.
    #[must_use]
    pub fn sorted(&self) -> Vec<Arc<Dataset>> {
        let mut sorted: Vec<_> =
            self.served.values().map(|entry| Arc::clone(&entry.dataset)).collect();
        // Not left to the database: each has its own idea of how text sorts.
        sorted.sort_by(|left, right| left.name.cmp(&right.name));
        sorted
    }

    /// Returns true when the dataset is as it was.
    pub(crate) fn is_current(&self, version: &DatasetVersion) -> bool {
        self.served.get(&version.name).is_some_and(|entry| entry.version == *version)
    }

    /// Returns the set with datasets as their releases make them. The next read reads them again.
    pub(crate) fn with_released<'a>(
        &self,
        released: impl Iterator<Item = &'a Arc<Dataset>>,
    ) -> Self {
        let mut after = self.clone();
        for dataset in released {
            let name = dataset.name.as_str();
            if self.get(name).is_some_and(|known| known.current.id == dataset.current.id) {
                continue;
            }
            let version = DatasetVersion {
                name: name.to_owned(),
                namespace: dataset.namespace.to_string(),
                checked_at: dataset.checked_at.0,
                // None that the database gives.
                current: -1,
                retained: 0,
            };
            let entry = DatasetEntry { version, dataset: Arc::clone(dataset) };
            after.served.insert(name.to_owned(), entry);
            after.retired.remove(name);
        }
        after
    }

    /// Returns the set of `versions`, each dataset from `read` where it was read again, else from
    /// this set, and of those that are `retired`.
    pub(crate) fn with_changes(
        &self,
        versions: Vec<DatasetVersion>,
        read: Vec<Dataset>,
        retired: HashMap<String, Millis>,
    ) -> Self {
        let mut read: HashMap<String, Dataset> =
            read.into_iter().map(|dataset| (dataset.name.as_str().to_owned(), dataset)).collect();
        let entry = |version: DatasetVersion| {
            let dataset = read
                .remove(&version.name)
                .map(Arc::new)
                .or_else(|| self.get(&version.name).cloned())?;
            Some((version.name.clone(), DatasetEntry { version, dataset }))
        };
        Self { served: versions.into_iter().filter_map(entry).collect(), retired }
    }
}
