//! The columns that a file says it has against those of the schema, whatever the format.

use yearbook_domain::Column;

use crate::publish::{FaultList, quote};

/// Whether a file's columns are those of the schema, in its order.
pub(crate) fn check_column_names(found: &[String], columns: &[Column], faults: &mut FaultList) {
    for column in columns.iter().filter(|column| !found.contains(&column.name)) {
        faults.add_file(Some(&column.name), || {
            "is in the schema but not in the file; add it, or take it out of the schema".to_owned()
        });
    }
    for name in found.iter().filter(|name| columns.iter().all(|column| column.name != **name)) {
        faults.add_file(None, || {
            format!(
                "column {} is in the file but not in the schema; describe it, or remove it",
                quote(name.as_bytes())
            )
        });
    }
    if faults.is_empty() {
        let first = found
            .iter()
            .enumerate()
            .find(|(at, name)| columns.get(*at).is_none_or(|column| column.name != **name));
        if let Some((at, name)) = first {
            let expected = columns.get(at).map_or("none", |column| column.name.as_str());
            faults.add_file(None, || {
                format!("column {} of the file is {name:?} where the schema has {expected:?}; list each once, in the same order", at + 1)
            });
        } else if found.len() != columns.len() {
            faults.add_file(None, || {
                format!("the file has {} columns, the schema {}", found.len(), columns.len())
            });
        }
    }
}
