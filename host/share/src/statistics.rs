//! Statistics of a file as clients read them, JSON text in the protocol's shape. Never reads a
//! file.

use serde_json::{Map, Value, json};
use yearbook_scan::{FileStatistics, StatisticValue};

/// Columns that statistics tell of at most: what bounds the line of a wide table.
const MAX_COLUMNS: usize = 256;

/// Returns the text.
pub(super) fn statistics_text(statistics: &FileStatistics) -> String {
    let (mut min, mut max, mut nulls) = (Map::new(), Map::new(), Map::new());
    for column in statistics.columns.iter().take(MAX_COLUMNS) {
        if let Some(value) = &column.min {
            min.insert(column.name.clone(), bound(value));
        }
        if let Some(value) = &column.max {
            max.insert(column.name.clone(), bound(value));
        }
        if let Some(count) = column.nulls {
            nulls.insert(column.name.clone(), json!(count));
        }
    }
    json!({
        "numRecords": statistics.rows,
        "minValues": min,
        "maxValues": max,
        "nullCount": nulls,
    })
    .to_string()
}

fn bound(value: &StatisticValue) -> Value {
    match value {
        StatisticValue::Boolean(value) => json!(value),
        StatisticValue::Integer(value) => json!(value),
        StatisticValue::Number(value) => json!(value),
        StatisticValue::Text(value) => json!(value),
    }
}
