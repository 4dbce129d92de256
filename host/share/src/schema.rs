//! Columns in Spark's JSON (contract-12-dates): what a table looks like to clients. Dates are
//! strings, as stored, and say so.

use serde_json::{Value, json};
use yearbook_domain::{Column, ColumnType};

/// Returns the schema of `columns` as JSON text. Every column may be null: files of changes have
/// nulls where a column did not exist yet.
pub(super) fn schema_string(columns: &[Column]) -> String {
    let fields: Vec<Value> = columns.iter().map(field).collect();
    json!({"type": "struct", "fields": fields}).to_string()
}

fn field(column: &Column) -> Value {
    let mut metadata = json!({});
    if let Some(comment) = comment(column) {
        metadata["comment"] = json!(comment);
    }
    json!({
        "name": column.name,
        "type": spark_type(column.column_type),
        "nullable": true,
        "metadata": metadata,
    })
}

fn spark_type(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::String | ColumnType::Date => "string",
        ColumnType::Integer => "long",
        ColumnType::Number => "double",
        ColumnType::Boolean => "boolean",
    }
}

/// Description, unit, and for dates what their text is.
fn comment(column: &Column) -> Option<String> {
    let date = (column.column_type == ColumnType::Date)
        .then(|| "A date as text, YYYY-MM-DD; it sorts as dates do.".to_owned());
    let unit = column.unit.as_ref().map(|unit| format!("Unit: {unit}."));
    let parts: Vec<String> = [column.description.clone(), unit, date]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_domain::{ColumnRole, TextTraits};

    use super::*;

    #[test]
    fn a_date_is_a_string_that_says_so_contract_12() {
        let column = |name: &str, column_type, unit: Option<&str>| Column {
            name: name.to_owned(),
            column_type,
            nullable: false,
            role: ColumnRole::Attribute,
            unit: unit.map(str::to_owned),
            description: None,
            few_values: false,
            text_traits: TextTraits::empty(),
            meaning: None,
        };
        let text = schema_string(&[
            column("date", ColumnType::Date, None),
            column("value", ColumnType::Number, Some("NZD")),
            column("open", ColumnType::Boolean, None),
        ]);
        let schema: Value = serde_json::from_str(&text).unwrap();
        let fields = &schema["fields"];
        assert_eq!(fields[0]["type"], "string");
        assert!(fields[0]["metadata"]["comment"].as_str().unwrap().contains("YYYY-MM-DD"));
        assert_eq!((&fields[1]["type"], &fields[2]["type"]), (&json!("double"), &json!("boolean")));
        assert_eq!(fields[1]["metadata"]["comment"], "Unit: NZD.");
        assert_eq!(fields[2]["metadata"], json!({}));
    }
}
