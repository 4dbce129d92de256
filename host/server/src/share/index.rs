//! The tables of the share in the order of its lists: schema, then name (contract-12-licence).
//! Made anew when the catalog changed, not for each request. Never reads the database.

use std::sync::{Arc, Mutex, PoisonError};

use yearbook_catalog::CatalogCache;
use yearbook_domain::Dataset;

/// The tables of one view of the catalog.
type Tables = Arc<[Arc<Dataset>]>;

/// The tables of the present view.
#[derive(Default)]
pub(crate) struct TableIndex(Mutex<Option<(Tables, Tables)>>);

impl TableIndex {
    /// Returns every table, sorted by schema and name: the datasets whose current version may be
    /// handed on as a file.
    pub(super) fn tables(&self, live: &CatalogCache) -> Tables {
        let datasets = live.datasets();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tables)) = &*known
            && Arc::ptr_eq(of, &datasets)
        {
            return Arc::clone(tables);
        }
        let shared = datasets.iter().filter(|dataset| is_shared(dataset));
        let mut tables: Vec<Arc<Dataset>> = shared.cloned().collect();
        // Stable: within a schema they stay sorted by name.
        tables.sort_by(|one, other| one.namespace.as_str().cmp(other.namespace.as_str()));
        let tables: Tables = tables.into();
        *known = Some((datasets, Arc::clone(&tables)));
        tables
    }
}

/// Returns whether the licence lets the current file be handed on.
pub(super) fn is_shared(dataset: &Dataset) -> bool {
    dataset.current.bulk_redistribution
}
