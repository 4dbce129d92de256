//! The datasets as they were at one instant, with what tells whether one of them has moved since: a
//! host of many datasets reads the one that was published and not all of them.

use std::collections::HashMap;
use std::sync::Arc;

use yearbook_domain::Dataset;

/// Every dataset that was served at one instant.
#[derive(Clone, Debug, Default)]
pub struct DatasetSet(HashMap<String, DatasetEntry>);

#[derive(Clone, Debug)]
struct DatasetEntry {
    mark: DatasetVersion,
    dataset: Arc<Dataset>,
}

/// What any change of a dataset changes.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct DatasetVersion {
    pub(crate) name: String,
    namespace: String,
    checked_at: i64,
    /// Number of the current snapshot. Numbers only grow, and none is given twice.
    pub(crate) current: i64,
    /// How many snapshots are retained.
    retained: i64,
}

impl DatasetSet {
    /// The dataset called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Dataset>> {
        self.0.get(name).map(|shelved| &shelved.dataset)
    }

    /// All of them, sorted by name.
    #[must_use]
    pub fn sorted(&self) -> Vec<Arc<Dataset>> {
        let mut sorted: Vec<_> =
            self.0.values().map(|shelved| Arc::clone(&shelved.dataset)).collect();
        // Not left to the database: each has its own idea of how text sorts.
        sorted.sort_by(|left, right| left.name.cmp(&right.name));
        sorted
    }

    /// Whether the dataset is as it was.
    pub(crate) fn is_current(&self, mark: &DatasetVersion) -> bool {
        self.0.get(&mark.name).is_some_and(|shelved| shelved.mark == *mark)
    }

    /// What stands here now: as `marks` say, of `read` where it was read again, else of what stood
    /// here.
    pub(crate) fn with_changes(&self, marks: Vec<DatasetVersion>, read: Vec<Dataset>) -> Self {
        let mut read: HashMap<String, Dataset> =
            read.into_iter().map(|dataset| (dataset.name.as_str().to_owned(), dataset)).collect();
        let shelve = |mark: DatasetVersion| {
            let dataset =
                read.remove(&mark.name).map(Arc::new).or_else(|| self.get(&mark.name).cloned())?;
            Some((mark.name.clone(), DatasetEntry { mark, dataset }))
        };
        Self(marks.into_iter().filter_map(shelve).collect())
    }
}
