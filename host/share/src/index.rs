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

    /// Returns the tables of `schema`, sorted by name; empty where nothing of it is shared.
    pub(super) fn tables_of(&self, live: &CatalogCache, schema: &str) -> Vec<Arc<Dataset>> {
        let tables = self.tables(live);
        let start = tables.partition_point(|table| table.namespace.as_str() < schema);
        let of_schema = |table: &&Arc<Dataset>| table.namespace.as_str() == schema;
        tables[start..].iter().take_while(of_schema).cloned().collect()
    }
}

/// Returns the schemas of `tables`, which are in the order of the index.
pub(super) fn schemas(tables: &[Arc<Dataset>]) -> Vec<&str> {
    let mut names: Vec<&str> = tables.iter().map(|table| table.namespace.as_str()).collect();
    names.dedup();
    names
}

/// Returns the table `name` of `schema`; none where there is none or it is not shared.
pub(super) fn find_table(live: &CatalogCache, schema: &str, name: &str) -> Option<Arc<Dataset>> {
    let dataset = live.dataset(name)?;
    (is_shared(&dataset) && dataset.namespace.as_str() == schema).then_some(dataset)
}

/// Returns whether the licence lets the current file be handed on.
fn is_shared(dataset: &Dataset) -> bool {
    dataset.current.bulk_redistribution
}
