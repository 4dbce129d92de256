//! Facts of columns that a reader's file tells and its package does not.

use std::sync::Arc;

use super::open::{open_bytes, unreadable_error};
use super::plugin_source::PluginBatches;
use super::source::TableSourceError;
use crate::error::PublishError;
use crate::package::DataPackage;

/// Longest unit and description that a file may give a column, bytes.
const FACT_BYTES: usize = 1024;

/// The package with units and descriptions that its file tells and it does not tell itself. Reads
/// as much of the file as its reader needs for that: the first chunk as a rule, all of it where the
/// format describes its columns at the end.
pub(crate) fn complete(package: &Arc<DataPackage>) -> Result<Arc<DataPackage>, PublishError> {
    let Some(source) = &package.reader_source else { return Ok(Arc::clone(package)) };
    let input = open_bytes(package)?;
    let facts = PluginBatches::open(package, source, input)
        .and_then(|mut batches| batches.columns().map_err(TableSourceError))
        .map_err(|why| unreadable_error(package, why))?;
    let mut completed = DataPackage::clone(package);
    for (column, facts) in completed.columns.iter_mut().zip(facts) {
        let bounded = |text: Option<String>| text.filter(|text| text.len() <= FACT_BYTES);
        column.unit = column.unit.take().or_else(|| bounded(facts.unit));
        column.description = column.description.take().or_else(|| bounded(facts.description));
    }
    Ok(Arc::new(completed))
}
