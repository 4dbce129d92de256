//! Names in paths of the share, and what they name (contract-12-names). Names have any case. A
//! table that is not shared looks like one that does not exist.

use std::sync::Arc;

use http::Uri;
use percent_encoding::percent_decode_str;
use yearbook_domain::Dataset;
use yearbook_http::Error;

use super::ShareRefusal;
use super::index::find_table;
use crate::ShareState;

/// Returns segment `index` of the path behind `/share/delta/` or `/share/iceberg/`, decoded. Of the
/// former 1 is the share, 3 the schema, 5 the table; of the latter 2 is the namespace, 4 the table.
pub(super) fn segment(uri: &Uri, index: usize) -> String {
    let raw = uri.path().split('/').nth(index + 3).unwrap_or_default();
    percent_decode_str(raw).decode_utf8_lossy().into_owned()
}

/// Checks the name of the share.
///
/// # Errors
/// 404 where it is another.
pub(super) fn check_share(app: &ShareState, uri: &Uri) -> Result<(), Error> {
    let name = segment(uri, 1);
    if name.eq_ignore_ascii_case(app.settings.name.as_str()) {
        return Ok(());
    }
    Err(ShareRefusal::UnknownName { kind: "share", name }.into())
}

/// Returns the tables of the schema that the path names, sorted by name.
///
/// # Errors
/// 404 where share or schema do not exist, or nothing of the schema is shared.
pub(super) fn schema_tables(app: &ShareState, uri: &Uri) -> Result<Vec<Arc<Dataset>>, Error> {
    check_share(app, uri)?;
    let name = segment(uri, 3);
    let found = app.index.tables_of(&app.core.catalog_cache, &name.to_ascii_lowercase());
    if found.is_empty() {
        return Err(ShareRefusal::UnknownName { kind: "schema", name }.into());
    }
    Ok(found)
}

/// Returns the dataset of the table that the path names.
///
/// # Errors
/// 404 where share, schema or table do not exist or the table is not shared.
pub(super) fn table(app: &ShareState, uri: &Uri) -> Result<Arc<Dataset>, Error> {
    check_share(app, uri)?;
    let (schema, name) = (segment(uri, 3), segment(uri, 5));
    // Names of datasets and namespaces are in lower case.
    let lower = (schema.to_ascii_lowercase(), name.to_ascii_lowercase());
    let dataset = find_table(&app.core.catalog_cache, &lower.0, &lower.1);
    let unknown = || ShareRefusal::UnknownName { kind: "table", name: format!("{schema}.{name}") };
    dataset.ok_or_else(|| unknown().into())
}
