//! Values of properties: as they are parsed, and as they stand in a column.

use yearbook_json_parser::JsonEvent;
use yearbook_sdk::reader::{ReadColumn, RequestedType, RowBuilder};

/// A value of a property.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PropertyValue {
    Text(String),
    /// As it is written.
    Number(String),
    Boolean(bool),
}

/// The value of a property; the error stands for an array or an object.
pub(super) fn property_value(event: JsonEvent<'_>) -> Result<Option<PropertyValue>, ()> {
    match event {
        JsonEvent::Text(text) => Ok(Some(PropertyValue::Text(text.to_owned()))),
        JsonEvent::Number(text) => Ok(Some(PropertyValue::Number(text.to_owned()))),
        JsonEvent::Boolean(value) => Ok(Some(PropertyValue::Boolean(value))),
        JsonEvent::Null => Ok(None),
        _ => Err(()),
    }
}

/// Checks that a value becomes one of the requested type.
pub(super) fn check_value(
    requested: RequestedType,
    value: Option<&PropertyValue>,
) -> Result<(), String> {
    let column = ReadColumn {
        name: String::new(),
        read_type: requested.into(),
        role: None,
        unit: None,
        description: None,
    };
    match (requested, value) {
        (RequestedType::Text, _) => Ok(()),
        _ => add_value(&mut RowBuilder::new(&[column]), 0, requested, value),
    }
}

pub(super) fn add_value(
    rows: &mut RowBuilder,
    at: usize,
    requested: RequestedType,
    value: Option<&PropertyValue>,
) -> Result<(), String> {
    match (requested, value) {
        (_, None) => rows.null(at),
        (RequestedType::Boolean, Some(PropertyValue::Boolean(value))) => rows.boolean(at, *value),
        (RequestedType::Text, Some(PropertyValue::Boolean(value))) => {
            rows.text(at, if *value { "true" } else { "false" });
        }
        (_, Some(PropertyValue::Boolean(value))) => {
            return Err(format!("{value} is a boolean; declare the column as boolean"));
        }
        (requested, Some(PropertyValue::Text(text) | PropertyValue::Number(text))) => {
            let short: String = text.chars().take(60).collect();
            rows.parse(at, requested, text, false).map_err(|why| format!("{short:?} {why}"))?;
        }
    }
    Ok(())
}
