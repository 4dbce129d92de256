//! The SDK's manifest as it stands alone: what it inherits from the workspace is written out, so
//! that versions have one home.

use anyhow::Context as _;
use toml::{Table, Value};

const WORKSPACE: &str = include_str!("../../../../../../Cargo.toml");
const SDK: &str = include_str!("../../../../../../plugins/sdk/Cargo.toml");

/// The text of a manifest that needs no workspace.
pub(super) fn sdk_manifest() -> anyhow::Result<String> {
    let workspace: Table = WORKSPACE.parse().context("the workspace's manifest is unreadable")?;
    let workspace = workspace
        .get("workspace")
        .and_then(Value::as_table)
        .context("the workspace's manifest has no [workspace]")?;
    let mut manifest: Table = SDK.parse().context("the SDK's manifest is unreadable")?;
    inherit(&mut manifest, "package", workspace.get("package"));
    inherit_dependencies(&mut manifest, workspace.get("dependencies"));
    if let (Some(lints), Some(all)) = (manifest.get_mut("lints"), workspace.get("lints")) {
        *lints = all.clone();
    }
    toml::to_string(&manifest).context("the SDK's manifest cannot be written")
}

/// `key.workspace = true` becomes the workspace's value.
fn inherit(manifest: &mut Table, section: &str, from: Option<&Value>) {
    let Some(section) = manifest.get_mut(section).and_then(Value::as_table_mut) else { return };
    for (key, value) in section.iter_mut() {
        if is_inherited(value)
            && let Some(found) = from.and_then(|from| from.get(key))
        {
            *value = found.clone();
        }
    }
}

/// The same for dependencies, whose own features and `optional` stay.
fn inherit_dependencies(manifest: &mut Table, from: Option<&Value>) {
    let Some(dependencies) = manifest.get_mut("dependencies").and_then(Value::as_table_mut) else {
        return;
    };
    for (name, dependency) in
        dependencies.iter_mut().filter(|(_, dependency)| is_inherited(dependency))
    {
        let mut whole = match from.and_then(|from| from.get(name.as_str())) {
            Some(Value::Table(table)) => table.clone(),
            Some(version) => Table::from_iter([("version".to_owned(), version.clone())]),
            None => continue,
        };
        for (key, value) in
            dependency.as_table().into_iter().flatten().filter(|(key, _)| *key != "workspace")
        {
            match (whole.get_mut(key), value) {
                (Some(Value::Array(all)), Value::Array(more)) => all.extend(more.iter().cloned()),
                _ => drop(whole.insert(key.clone(), value.clone())),
            }
        }
        *dependency = Value::Table(whole);
    }
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn nothing_of_the_manifest_asks_for_a_workspace() {
        let text = sdk_manifest().unwrap();
        assert!(!text.contains("workspace"), "{text}");
        let manifest: Table = text.parse().unwrap();
        let arrow = &manifest["dependencies"]["arrow-array"];
        assert!(arrow["optional"].as_bool().unwrap() && arrow["version"].is_str(), "{text}");
        assert!(manifest["dependencies"]["wit-bindgen"]["version"].is_str(), "{text}");
        assert_eq!(manifest["lints"]["rust"]["missing_docs"].as_str(), Some("deny"));
    }
}
