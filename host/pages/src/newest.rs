//! The newest datasets, as the home page and the feed of the catalog list them.

use std::cmp::Reverse;
use std::sync::Arc;

use yearbook_domain::Dataset;

/// Returns up to `most` datasets, the last committed first; of one instant, by name.
pub(super) fn newest_first(datasets: &[Arc<Dataset>], most: usize) -> Vec<&Dataset> {
    let mut newest: Vec<&Dataset> = datasets.iter().map(Arc::as_ref).collect();
    newest.sort_by_key(|dataset| (Reverse(dataset.current.created_at), dataset.name.as_str()));
    newest.truncate(most);
    newest
}
