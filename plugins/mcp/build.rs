//! Writes the list of tools as clients are told of it, out of `tools.json`, and the names of each
//! tool's arguments. In `tools.json` `"@NAME"` stands for a part, `"+"` for the members of one, and
//! an object that does not say what it requires requires all. A list of types becomes `anyOf`.

#![expect(clippy::disallowed_methods, reason = "cargo tells a build script by its environment")]

use std::path::PathBuf;
use std::{env, fs};

use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let read = |name: &str| -> Result<Value, Box<dyn std::error::Error>> {
        println!("cargo::rerun-if-changed=src/{name}");
        Ok(serde_json::from_str(&fs::read_to_string(format!("src/{name}"))?)?)
    };
    let source = read("tools.json")?;
    let own = source["tools"].as_array().ok_or("tools.json has no tools")?;
    let mut tools: Vec<Value> = own.iter().map(|tool| write(&source["parts"], tool)).collect();
    let mut arguments = "&[".to_owned();
    for tool in &mut tools {
        tool["annotations"] = json!({
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        });
        let schema = &tool["inputSchema"];
        let names = schema["properties"].as_object().ok_or("a tool has no arguments")?;
        let names: Vec<&String> = names.keys().collect();
        let required = schema["required"].as_array().ok_or("a tool requires nothing")?;
        let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
        let name = tool["name"].as_str().ok_or("a tool has no name")?;
        arguments += &format!("({name:?}, &{names:?}, &{required:?}),\n");
    }
    if env::var_os("CARGO_FEATURE_SUITE").is_some() {
        let suite = read("suite.json")?;
        tools.extend(suite.as_array().into_iter().flatten().map(|entry| entry["tool"].clone()));
    }
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(folder.join("tools.json"), Value::from(tools).to_string())?;
    fs::write(folder.join("arguments.rs"), arguments + "]")?;
    Ok(())
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
            if let Some(Value::Array(types)) = written.get("type") {
                let any = types.iter().map(|of| json!({ "type": of })).collect();
                written = split(written, any);
            }
            Value::Object(written)
        }
        other => other.clone(),
    }
}

/// A schema of several types with a branch for each: a client that knows one type a schema takes
/// a list of them for an error.
fn split(mut schema: Map<String, Value>, mut branches: Vec<Value>) -> Map<String, Value> {
    schema.remove("type");
    if let Some(items) = schema.remove("items") {
        for branch in branches.iter_mut().filter(|branch| branch["type"] == "array") {
            branch["items"] = items.clone();
        }
    }
    schema.insert("anyOf".to_owned(), branches.into());
    schema
}
