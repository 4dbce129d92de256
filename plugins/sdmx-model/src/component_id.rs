//! Ids of columns.

/// Ids that a column never has, since they are the model's own or head columns of SDMX-CSV.
const RESERVED: [&str; 13] = [
    "TIME_PERIOD",
    "OBS_VALUE",
    "OBS_STATUS",
    "CONF_STATUS",
    "MEASURE",
    "STRUCTURE",
    "STRUCTURE_ID",
    "STRUCTURE_NAME",
    "DATAFLOW",
    "ACTION",
    "SERIES_KEY",
    "OBS_KEY",
    "REPORTING_YEAR_START_DAY",
];

/// The id of a column: its name in upper case, and one more `_` where that, less any `_` at its
/// end, is an id with a meaning of its own. `None` for a name that is not snake_case.
///
/// ```
/// use yearbook_sdmx_model::component_id;
///
/// assert_eq!(component_id("ref_area").as_deref(), Some("REF_AREA"));
/// assert_eq!(component_id("measure").as_deref(), Some("MEASURE_"));
/// assert_eq!(component_id("Ref area"), None);
/// ```
#[must_use]
pub fn component_id(column: &str) -> Option<String> {
    let is_name = column.bytes().next()?.is_ascii_lowercase()
        && column.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let mut id = is_name.then(|| column.to_ascii_uppercase())?;
    if is_reserved(&id) {
        id.push('_');
    }
    Some(id)
}

/// The name of the column that has an id. `None` for an id that no column has.
///
/// ```
/// use yearbook_sdmx_model::column_name;
///
/// assert_eq!(column_name("MEASURE_").as_deref(), Some("measure"));
/// assert_eq!(column_name("MEASURE"), None);
/// ```
#[must_use]
pub fn column_name(id: &str) -> Option<String> {
    let stem = if is_reserved(id) { id.strip_suffix('_')? } else { id };
    let name = stem.to_ascii_lowercase();
    (component_id(&name).as_deref() == Some(id)).then_some(name)
}

fn is_reserved(id: &str) -> bool {
    RESERVED.contains(&id.trim_end_matches('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_ids_that_turn_back_and_never_collide_contract_19() {
        for (name, id) in [
            ("region", "REGION"),
            ("action", "ACTION_"),
            ("action_", "ACTION__"),
            ("time_period", "TIME_PERIOD_"),
            ("measures", "MEASURES"),
            ("a_", "A_"),
        ] {
            assert_eq!(component_id(name).as_deref(), Some(id));
            assert_eq!(column_name(id).as_deref(), Some(name));
        }
        for id in ["ACTION", "region", "1A", "", "A-B", "_A"] {
            assert_eq!(column_name(id), None, "{id}");
        }
        for name in ["", "1a", "_row", "Region", "a b", "é"] {
            assert_eq!(component_id(name), None, "{name}");
        }
    }
}
