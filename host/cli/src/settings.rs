//! The settings of one run: defaults, then `yearbook.toml`, then variables, then flags
//! (contract-6-settings). Owns the sources of settings and the sentences for wrong ones. The
//! meaning of a setting belongs to the crate that declares it, which also gives its default and its
//! reason.

mod error;
mod file;
mod schema;
mod sections;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use yearbook_catalog::Retention;

pub use error::{InvalidSettings, SettingError, SettingOrigin};
pub use sections::{
    CollectorUrl, DatabaseSection, LogFormat, LogSection, PluginsSection, PublishSection,
    SandboxSection, SettingsDocument, StorageSection,
};

use schema::SettingsSchema;

/// Name of the settings file that is read when it lies in the working directory.
pub const FILE_NAME: &str = "yearbook.toml";

/// Data directory when neither `--data-dir` nor `YEARBOOK_DATA_DIR` names one.
pub const DATA_DIR: &str = "yearbook-data";

/// Value of a setting as written, not yet validated.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Path of the key, `limits.burst_size`.
    pub key: String,
    /// Value as written.
    pub value: RawSetting,
    /// Place where it was written.
    pub origin: SettingOrigin,
}

impl Assignment {
    /// Returns true where the value is a secret, or holds one.
    pub(crate) fn is_secret(&self) -> bool {
        let name = self.key.rsplit('.').next().unwrap_or_default();
        ["smtp_url", "secret_access_key", "session_token"].contains(&name)
    }
}

/// Value as written for a key.
#[derive(Clone, Debug, PartialEq)]
pub enum RawSetting {
    /// A typed value of the settings file.
    Typed(serde_json::Value),
    /// Text of a variable or a flag, which has no type of its own.
    Text(String),
}

/// Settings of one run of the binary.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// Absolute path of the folder for the embedded database, object store and caches.
    pub data_dir: PathBuf,
    /// Settings file that was read.
    pub file: Option<PathBuf>,
    /// Values of every key.
    pub values: SettingsDocument,
    /// Values as written, with their places; of several for one key the one that counts.
    pub written: Vec<Assignment>,
}

/// Settings as environment and arguments have them. Everything is passed in, so that a
/// test needs no environment of its own.
#[derive(Clone, Debug, Default)]
pub struct SettingSources {
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// Every variable of the environment.
    pub variables: Vec<(String, String)>,
    /// Keys that flags set, with the flag's name.
    pub flags: Vec<(&'static str, &'static str, String)>,
}

impl RunSettings {
    /// Reads and checks all sources.
    ///
    /// # Errors
    /// Fails when the file cannot be read, or with every [`SettingError`] of every source at once.
    pub fn load(sources: &SettingSources) -> anyhow::Result<Self> {
        let file = settings_file(sources.config.as_deref())?;
        let mut assignments = Vec::new();
        let mut problems = Vec::new();
        if let Some(path) = &file {
            let text = std::fs::read_to_string(path).with_context(|| {
                format!(
                    "cannot read the settings file {}; check that it exists and may be read",
                    path.display()
                )
            })?;
            match file::assignments(path, &text) {
                Ok(found) => assignments.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        let known = SettingsSchema::new();
        assignments.extend(variables::assignments(&sources.variables));
        assignments.extend(sources.flags.iter().map(|(key, flag, value)| Assignment {
            key: (*key).to_owned(),
            value: RawSetting::Text(value.clone()),
            origin: SettingOrigin::Flag(flag),
        }));
        let values = known.apply(&assignments, &mut problems);
        if problems.is_empty() {
            problems.extend(check_patience(&values));
        }
        if !problems.is_empty() {
            return Err(InvalidSettings(problems).into());
        }
        let named = sources
            .data_dir
            .clone()
            .or_else(|| variable(&sources.variables, "YEARBOOK_DATA_DIR").map(PathBuf::from));
        let data_dir = std::path::absolute(named.unwrap_or_else(|| PathBuf::from(DATA_DIR)))
            .context("the working directory is unknown")?;
        Ok(Self { data_dir, file, values, written: effective_assignments(assignments) })
    }

    /// Address of the catalog's database.
    #[must_use]
    pub fn database_url(&self) -> String {
        self.values
            .database
            .url
            .clone()
            .unwrap_or_else(|| yearbook_catalog::sqlite_url(&self.data_dir.join("yearbook.db")))
    }

    /// Address of the object store.
    #[must_use]
    pub fn storage_url(&self) -> String {
        self.values
            .storage
            .url
            .clone()
            .unwrap_or_else(|| format!("file:{}", self.data_dir.join("objects").display()))
    }

    /// Address at which clients reach the server, for examples that people copy.
    #[must_use]
    pub fn base_url(&self) -> String {
        let server = &self.values.server;
        server
            .public_url
            .as_ref()
            .map_or_else(|| format!("http://{}", server.listen), |url| url.as_str().to_owned())
    }

    /// Snapshots that a new one leaves in place.
    #[must_use]
    pub fn retention(&self) -> Retention {
        Retention {
            snapshots: self.values.storage.retain_snapshots,
            hours: self.values.storage.retain_hours,
            history: self.values.retention.history,
        }
    }

    /// Time for which unreferenced objects stay in the object store: as long as is set, and never
    /// shorter than a host may hold a snapshot for current and, after that, a response wait for its
    /// first bytes and for its client or an address of the share work.
    #[must_use]
    pub fn orphan_grace_period(&self) -> Duration {
        let SettingsDocument { server, sandbox, database, storage, share, .. } = &self.values;
        let waits = server.first_byte_ms.saturating_add(sandbox.limits.stalled_client_ms);
        let waits = Duration::from_millis(waits).max(Duration::from_secs(share.url_seconds));
        let least = waits.saturating_add(Duration::from_secs(database.bounds.stale_keys_s));
        least.max(Duration::from_secs(u64::from(storage.unnamed_hours) * 3600))
    }

    /// Folder of precompiled plugins.
    #[must_use]
    pub fn cache_dir(&self) -> PathBuf {
        self.values.sandbox.cache_dir.clone().unwrap_or_else(|| self.data_dir.join("cache"))
    }

    /// File of the secret that seals precompiled plugins.
    #[must_use]
    pub fn cache_key_file(&self) -> PathBuf {
        self.values
            .sandbox
            .cache_key_file
            .clone()
            .unwrap_or_else(|| self.data_dir.join("cache.key"))
    }
}

/// Checks that a guest waits for a client as long as the client may take nothing of a body.
fn check_patience(values: &SettingsDocument) -> Option<SettingError> {
    let idle = values.server.write_idle_ms;
    let stalled = values.sandbox.limits.stalled_client_ms;
    (stalled < idle).then(|| SettingError::Incompatible {
        message: format!(
            "`sandbox.stalled_client_ms` is {stalled} and `server.write_idle_ms` is {idle}; raise \
             the first or lower the second, or clients are cut that may still be slow"
        ),
    })
}

/// Last assignment of each key, by key; empty sections are left out.
fn effective_assignments(assignments: Vec<Assignment>) -> Vec<Assignment> {
    let mut by_key = BTreeMap::new();
    for assignment in assignments {
        if !matches!(assignment.value, RawSetting::Typed(serde_json::Value::Object(_))) {
            by_key.insert(assignment.key.clone(), assignment);
        }
    }
    by_key.into_values().collect()
}

/// Value of a variable; an empty one counts as not set.
#[must_use]
pub fn variable(variables: &[(String, String)], name: &str) -> Option<String> {
    variables::value(variables, name)
}

/// File to read: the one named, which must exist, or the one in the working directory, which
/// may.
fn settings_file(named: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    match named {
        Some(path) if path.is_file() => Ok(Some(path.to_owned())),
        Some(path) => anyhow::bail!(
            "there is no settings file {}; check the path after --config",
            path.display()
        ),
        None => Ok(Some(PathBuf::from(FILE_NAME)).filter(|path| path.is_file())),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_guest_waits_for_a_client_as_long_as_it_may_take_nothing_contract_6() {
        let load = |stalled: &str, idle: &str| {
            let variables =
                [("SANDBOX__STALLED_CLIENT_MS", stalled), ("SERVER__WRITE_IDLE_MS", idle)];
            let named =
                |(name, value): (&str, &str)| (format!("YEARBOOK_{name}"), value.to_owned());
            let variables = variables.into_iter().map(named).collect();
            RunSettings::load(&SettingSources { variables, ..SettingSources::default() })
        };
        assert!(load("5000", "5000").is_ok() && load("5001", "5000").is_ok());
        let refused = load("4999", "5000").unwrap_err().to_string();
        for named in ["`sandbox.stalled_client_ms` is 4999", "`server.write_idle_ms` is 5000"] {
            assert!(refused.contains(named), "{refused}");
        }
    }

    #[test]
    fn gc_keeps_a_file_until_the_last_address_to_it_has_ended_contract_12() {
        let variable = |name: &str, value: &str| (format!("YEARBOOK_{name}"), value.to_owned());
        let variables = vec![
            variable("SHARE__URL_SECONDS", "200000"),
            variable("STORAGE__UNNAMED_HOURS", "0"),
            variable("DATABASE__STALE_KEYS_S", "30"),
        ];
        let sources = SettingSources { variables, ..SettingSources::default() };
        let settings = RunSettings::load(&sources).unwrap();
        // A host whose view of the catalog is old still makes addresses.
        assert_eq!(settings.orphan_grace_period(), Duration::from_secs(200_030));
    }
}
