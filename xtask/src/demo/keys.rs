//! The demo's two keys: issued once, kept beside the data so that a second run prints the same
//! ones. Only for the demo: the product itself stores no key, only its hash.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command;

/// Keys of the plans that the demo shows.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct DemoKeys {
    pub(crate) enterprise: DemoKey,
    pub(crate) free: DemoKey,
}

/// A key as `yearbook keys create --json` prints it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DemoKey {
    /// Id of the key, which commands take.
    pub id: String,
    /// The key itself, which clients send.
    pub key: String,
}

/// The keys of an earlier run while they are valid, else new ones.
pub(crate) fn ensure(binary: &Path, data_dir: &Path) -> Result<DemoKeys> {
    let file = data_dir.join("demo-keys.json");
    let valid = valid_ids(binary, data_dir)?;
    if let Some(keys) = read(&file)
        .filter(|keys| valid.contains(&keys.enterprise.id) && valid.contains(&keys.free.id))
    {
        return Ok(keys);
    }
    let issue = |plan| create(super::yearbook(binary, data_dir), plan);
    let keys = DemoKeys { enterprise: issue("enterprise")?, free: issue("free")? };
    let text = serde_json::to_string_pretty(&keys).context("cannot print the keys")?;
    // Readable by the owner alone.
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&file);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(keys)
}

/// Issues a key of `plan` with `yearbook`, a command with its data directory.
///
/// # Errors
/// Fails when the command fails, or prints something else than a key.
pub fn create(mut yearbook: Command, plan: &str) -> Result<DemoKey> {
    let text = command::output(
        yearbook.args(["keys", "create", "--plan", plan, "--label", "demo", "--json"]),
    )?;
    serde_json::from_str(&text)
        .with_context(|| format!("`yearbook keys create --json` printed {text:?}"))
}

fn valid_ids(binary: &Path, data_dir: &Path) -> Result<Vec<String>> {
    let text = command::output(super::yearbook(binary, data_dir).args(["keys", "list", "--json"]))?;
    let listed: Vec<Value> = serde_json::from_str(&text)
        .with_context(|| format!("`yearbook keys list --json` printed {text:?}"))?;
    let valid = listed.iter().filter(|key| key["revoked_at"].is_null());
    Ok(valid.filter_map(|key| key["id"].as_str().map(str::to_owned)).collect())
}

/// None when there is no such file, or none that can be used.
fn read(file: &Path) -> Option<DemoKeys> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}
