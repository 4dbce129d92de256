//! The list of tools with their schemas, out of `tools.json`. There `"@NAME"` stands for a part,
//! `"+"` for the members of one, and an object that does not say what it requires requires all.

use serde_json::{Map, Value, json};

const SOURCE: &str = include_str!("tools.json");

/// The tools as clients are told of them.
pub(crate) fn tools() -> Vec<Value> {
    let source = source();
    let tools = source["tools"].as_array().into_iter().flatten();
    let written = tools.map(|tool| {
        let mut tool = write(&source["parts"], tool);
        tool["annotations"] = json!({
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        });
        tool
    });
    #[cfg(feature = "suite")]
    let written = written.chain(crate::suite::tools());
    written.collect()
}

/// The schema of a tool's arguments. `None` where there is no such tool.
pub(crate) fn input_schema(name: &str) -> Option<Value> {
    let source = source();
    let tool = source["tools"].as_array()?.iter().find(|tool| tool["name"] == name)?;
    Some(write(&source["parts"], &tool["inputSchema"]))
}

fn source() -> Value {
    serde_json::from_str(SOURCE).unwrap_or_default()
}

/// A schema with its parts in place.
fn write(parts: &Value, value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('@') {
            Some(name) => write(parts, &parts[name]),
            None => value.clone(),
        },
        Value::Array(values) => values.iter().map(|value| write(parts, value)).collect(),
        Value::Object(members) => {
            let mut written = Map::new();
            for (name, member) in members {
                match write(parts, member) {
                    Value::String(part) if name == "+" => {
                        let part = write(parts, &parts[part]);
                        written.extend(part.as_object().cloned().into_iter().flatten());
                    }
                    member => {
                        written.insert(name.clone(), member);
                    }
                }
            }
            if let Some(properties) = written.get("properties").and_then(Value::as_object)
                && written.get("required").is_none_or(|required| !required.is_array())
            {
                let names = properties.keys().cloned().map(Value::from).collect();
                written.insert("required".to_owned(), names);
            }
            Value::Object(written)
        }
        other => other.clone(),
    }
}
